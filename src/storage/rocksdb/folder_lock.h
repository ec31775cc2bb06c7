#pragma once

#include <string>
#include <utility>

#include "stator/base/result.h"

namespace stator::storage {

// Keeps other processes from opening a data folder, as RocksDB does for a store that it writes to.  For who does not write:
// RocksDB locks nothing then, and a server could start meanwhile.
class FolderLock {
 public:
  // Errors: Usage (there is no store in the folder, or a process has it open), Storage.
  static Result<FolderLock> take(const std::string& folder);
  ~FolderLock();
  FolderLock(FolderLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FolderLock& operator=(FolderLock&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

 private:
  explicit FolderLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace stator::storage
