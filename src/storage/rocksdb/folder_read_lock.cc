#include "stator/storage/rocksdb/folder_read_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace stator::storage {

Result<FolderReadLock> FolderReadLock::take(const std::string& folder) {
  struct stat state{};
  if (::stat((folder + "/CURRENT").c_str(), &state) != 0) {
    return Error{ErrorCode::Usage, fmt::format("there is no database in {}", folder)};
  }
  // RocksDB's own lock is a POSIX record lock on the whole of this file.
  const auto path = folder + "/LOCK";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0 && errno == EROFS) return FolderReadLock(-1);  // nobody can write there
  if (fd < 0) {
    return Error{ErrorCode::Storage, fmt::format("cannot lock {}: {}", path, std::generic_category().message(errno))};
  }
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (::fcntl(fd, F_SETLK, &whole) != 0) {
    const int code = errno;
    ::close(fd);
    if (code == EACCES || code == EAGAIN) {
      return Error{ErrorCode::Usage, fmt::format("data folder {} is in use by another stator process", folder)};
    }
    return Error{ErrorCode::Storage, fmt::format("cannot lock {}: {}", path, std::generic_category().message(code))};
  }
  return FolderReadLock(fd);
}

FolderReadLock::~FolderReadLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace stator::storage
