#pragma once

#include <string>
#include <utility>

#include "stator/base/result.h"

namespace stator::storage {

// Keeps other processes from opening a data folder, as RocksDB does for a store that it writes to.  For who does not write:
// RocksDB locks nothing then, and a server could start meanwhile.
class FolderReadLock {
 public:
  // Errors: Usage (there is no store in the folder, or a process has it open), Storage.
  static Result<FolderReadLock> take(const std::string& folder);
  ~FolderReadLock();
  FolderReadLock(FolderReadLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FolderReadLock& operator=(FolderReadLock&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

 private:
  explicit FolderReadLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace stator::storage
