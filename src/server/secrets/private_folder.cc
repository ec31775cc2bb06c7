#include "stator/server/secrets/private_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace stator::server {
namespace {

constexpr int kAttempts = 10;

Error failure(std::string_view what, const std::string& path, int code) {
  return {ErrorCode::Storage, fmt::format("cannot {} {}: {}", what, path, std::generic_category().message(code))};
}

}  // namespace

Result<std::optional<PrivateFolder>> PrivateFolder::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0 && (errno == ENOENT || errno == ENOTDIR)) return std::optional<PrivateFolder>();
  if (descriptor < 0) return failure("open", path, errno);
  return std::optional(PrivateFolder(path, descriptor));
}

Result<PrivateFolder> PrivateFolder::open_or_make(const std::string& path) {
  if (auto existing = TRY(open(path))) return std::move(*existing);
  std::filesystem::path place(path);
  if (!place.has_filename()) place = place.parent_path();  // of a name that ends in a slash
  std::error_code code;
  if (place.has_parent_path()) std::filesystem::create_directories(place.parent_path(), code);
  if (code) return usage_error(fmt::format("cannot create data folder {}: {}", path, code.message()));
  const bool made = ::mkdir(place.c_str(), 0700) == 0;
  if (!made && errno != EEXIST) {
    return usage_error(fmt::format("cannot create data folder {}: {}", path, std::generic_category().message(errno)));
  }
  // A folder was made here.  If something else is here now, another user has put it there.
  const int follow = made ? O_NOFOLLOW : 0;
  const int descriptor = ::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | follow);
  if (descriptor < 0 && (errno == ENOTDIR || errno == ENOENT || errno == ELOOP)) {
    return usage_error(fmt::format("data folder {} is not a folder", path));
  }
  if (descriptor < 0) return failure("open", path, errno);
  PrivateFolder folder(path, descriptor);
  if (made && ::fchmod(descriptor, 0700) != 0) return failure("close to others", path, errno);  // whatever the umask
  return folder;
}

Result<void> PrivateFolder::lock() {
  while (::flock(descriptor_.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return failure("lock", path_, errno);
  }
  return {};
}

Result<std::optional<std::string>> PrivateFolder::read(const std::string& name, std::size_t max_bytes) const {
  const auto path = path_of(name);
  // Links are followed: only the owner of the file counts.  Non-blocking, because opening a pipe would wait for a
  // writer.
  const Descriptor file(::openat(descriptor_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.is_open() && errno == ENOENT) return std::optional<std::string>();
  if (!file.is_open()) return failure("open", path, errno);
  struct stat status{};
  struct stat folder{};
  if (::fstat(file.get(), &status) != 0) return failure("look at", path, errno);
  if (::fstat(descriptor_.get(), &folder) != 0) return failure("look at", path_, errno);
  if (!S_ISREG(status.st_mode)) return usage_error(fmt::format("{} is not a file", path));
  if (status.st_uid != 0 && status.st_uid != ::geteuid() && status.st_uid != folder.st_uid) {
    return usage_error(fmt::format("{} belongs to another user: chown {} {}", path, folder.st_uid, path));
  }
  if ((status.st_mode & 077U) != 0) {
    return usage_error(fmt::format("{} can be read by other users of this machine: chmod 600 {}", path, path));
  }
  std::string text(max_bytes + 1, '\0');
  std::size_t size = 0;
  for (;;) {
    const auto count = ::read(file.get(), text.data() + size, text.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure("read", path, errno);
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
    if (size > max_bytes) return usage_error(fmt::format("{} is longer than {} bytes", path, max_bytes));
  }
  text.resize(size);
  return std::optional(std::move(text));
}

Result<void> PrivateFolder::replace(const std::string& name, std::string_view text) {
  const auto temporary = name + ".new";
  int descriptor = -1;
  // An existing file is left from an interrupted command, or is a link that another user has put there.  Removing it
  // follows no link, and creating it fails if anything exists.
  for (int attempt = 0; descriptor < 0 && attempt < kAttempts; ++attempt) {
    if (::unlinkat(descriptor_.get(), temporary.c_str(), 0) != 0 && errno != ENOENT) {
      return failure("remove", path_of(temporary), errno);
    }
    descriptor =
        ::openat(descriptor_.get(), temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (descriptor < 0 && errno != EEXIST) break;
  }
  const Descriptor file(descriptor);
  if (!file.is_open()) return failure("write", path_of(temporary), errno);
  auto done = write_new(file, text, path_of(temporary));
  if (done && ::renameat(descriptor_.get(), temporary.c_str(), descriptor_.get(), name.c_str()) != 0) {
    done = failure("rename", path_of(temporary), errno);
  }
  if (!done) {
    ::unlinkat(descriptor_.get(), temporary.c_str(), 0);
    return done;
  }
  if (::fsync(descriptor_.get()) != 0) return failure("sync", path_, errno);
  return {};
}

Result<void> PrivateFolder::write_new(const Descriptor& file, std::string_view text, const std::string& path) const {
  if (::fchmod(file.get(), 0600) != 0) return failure("write", path, errno);
  if (::geteuid() == 0) {
    struct stat folder{};
    if (::fstat(descriptor_.get(), &folder) != 0) return failure("look at", path_, errno);
    if (::fchown(file.get(), folder.st_uid, folder.st_gid) != 0) return failure("give away", path, errno);
  }
  if (!write_all(file, text) || ::fsync(file.get()) != 0) return failure("write", path, errno);
  return {};
}

}  // namespace stator::server
