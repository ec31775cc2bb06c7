#pragma once

#include <memory>
#include <string>

#include "stator/base/result.h"

namespace rocksdb {
class FileLock;
}

namespace stator::storage {

// Keeps others from opening a data folder, as RocksDB does for a store that it writes to.  For who does not write: RocksDB locks
// nothing then, and a server could start meanwhile.
class FolderReadLock {
 public:
  // Errors: Usage (there is no store in the folder, or a process has it open), Storage.
  static Result<std::unique_ptr<FolderReadLock>> take(const std::string& folder);
  ~FolderReadLock();
  FolderReadLock(const FolderReadLock&) = delete;
  FolderReadLock& operator=(const FolderReadLock&) = delete;

 private:
  explicit FolderReadLock(rocksdb::FileLock* lock) : lock_(lock) {}
  rocksdb::FileLock* const lock_;  // null on a file system that nobody can write to
};

}  // namespace stator::storage
