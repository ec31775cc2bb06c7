#include "stator/storage/rocksdb/folder_read_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <rocksdb/env.h>
#include <unistd.h>

#include <filesystem>

namespace stator::storage {

Result<std::unique_ptr<FolderReadLock>> FolderReadLock::take(const std::string& folder) {
  std::error_code code;
  if (!std::filesystem::exists(folder + "/CURRENT", code)) {
    return Error{ErrorCode::Usage, fmt::format("there is no database in {}", folder)};
  }
  // RocksDB would make it readable by everybody.  Not opened where it is there: closing it would let go of a lock of this process.
  const auto path = folder + "/LOCK";
  if (!std::filesystem::exists(path, code)) {
    if (const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600); fd >= 0) ::close(fd);
  }
  rocksdb::FileLock* lock = nullptr;
  const auto status = rocksdb::Env::Default()->LockFile(path, &lock);
  const auto text = status.ToString();
  if (!status.ok() && text.find("Read-only file system") == std::string::npos) {
    if (text.find("ock hold by current process") != std::string::npos || text.find("lock file") != std::string::npos) {
      return Error{ErrorCode::Usage, fmt::format("data folder {} is in use by another stator process", folder)};
    }
    return Error{ErrorCode::Storage, fmt::format("cannot lock {}: {}", folder, text)};
  }
  return std::unique_ptr<FolderReadLock>(new FolderReadLock(status.ok() ? lock : nullptr));
}

FolderReadLock::~FolderReadLock() {
  if (lock_ != nullptr) rocksdb::Env::Default()->UnlockFile(lock_);
}

}  // namespace stator::storage
