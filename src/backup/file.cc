#include "stator/backup/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <vector>

namespace stator::backup {
namespace {

namespace fs = std::filesystem;

Error system_error(std::string_view what, const std::string& path, int code) {
  return {ErrorCode::Storage, fmt::format("cannot {} {}: {}", what, path, std::generic_category().message(code))};
}

}  // namespace

Result<File> File::create(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return system_error("create", path, errno);
  return File(path, fd);
}

Result<File> File::open(const std::string& path) {
  // Not through a link, and without waiting where it is no file at all: a folder of backups may come from somebody
  // else.
  const int fd = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return system_error("open", path, errno);
  File file(path, fd);
  struct stat state{};
  if (::fstat(fd, &state) != 0) return system_error("look at", path, errno);
  if (!S_ISREG(state.st_mode)) return Error{ErrorCode::Storage, fmt::format("{} is not a file", path)};
  return file;
}

Result<void> File::write(BytesView bytes) {
  if (!write_all(file_, bytes)) return system_error("write", path_, errno);
  return {};
}

Result<Bytes> File::read(std::size_t limit) {
  Bytes bytes(limit, '\0');
  std::size_t done = 0;
  while (done < limit) {
    const auto got = ::read(file_.get(), bytes.data() + done, limit - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read", path_, errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

Result<void> File::sync() {
  if (::fsync(file_.get()) != 0) return system_error("write", path_, errno);
  ::posix_fadvise(file_.get(), 0, 0, POSIX_FADV_DONTNEED);
  return {};
}

Result<bool> File::lock() {
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) == 0) return true;
  if (errno == EWOULDBLOCK) return false;
  return system_error("lock", path_, errno);
}

Result<void> make_folder(const std::string& path) {
  std::error_code code;
  const auto parent = fs::path(path).parent_path();
  if (!parent.empty()) fs::create_directories(parent, code);
  if (code) return system_error("create", parent.string(), code.value());
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return system_error("create", path, errno);
  if (!fs::is_directory(path, code)) return system_error("use", path, ENOTDIR);
  return {};
}

Result<void> sync_folder(const std::string& path) {
  if (!stator::sync_folder(path)) return system_error("write", path, errno);
  return {};
}

Result<void> rename_file(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return system_error("rename", from, errno);
  return {};
}

Result<Bytes> read_file(const std::string& path, std::size_t limit) {
  auto file = TRY(File::open(path));
  auto bytes = TRY(file.read(limit + 1));
  if (bytes.size() > limit) return Error{ErrorCode::LimitExceeded, fmt::format("{} is too large", path)};
  return bytes;
}

Result<std::uint64_t> size_of_file(const std::string& path) {
  struct stat state{};
  if (::lstat(path.c_str(), &state) != 0) return system_error("find", path, errno);
  return static_cast<std::uint64_t>(state.st_size);
}

Result<std::vector<std::string>> list_folder(const std::string& path) {
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator entry(path, code), end; !code && entry != end; entry.increment(code)) {
    names.push_back(entry->path().filename().string());
  }
  if (code) return system_error("list", path, code.value());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace stator::backup
