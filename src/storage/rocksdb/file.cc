#include "stator/storage/rocksdb/file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <system_error>

namespace stator::storage {

Error system_error(const std::string& what, const std::string& path, int code) {
  return {ErrorCode::Storage, fmt::format("{} {}: {}", what, path, std::generic_category().message(code))};
}

File::File(const std::string& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {}

File::~File() {
  if (fd_ >= 0) ::close(fd_);
}

std::uint64_t File::size() const {
  struct stat status{};
  return ::fstat(fd_, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

bool File::read_at(std::uint64_t offset, Bytes& bytes) const {
  for (std::size_t done = 0; done < bytes.size();) {
    const auto got = ::pread(fd_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

bool File::write_at(std::uint64_t offset, BytesView bytes) const {
  while (!bytes.empty()) {
    const auto written = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return true;
}

bool File::sync() const { return ::fdatasync(fd_) == 0; }

Result<void> replace_file(const std::string& path, BytesView bytes) {
  const auto temporary = path + ".new";
  {
    const File file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
    if (!file.is_open() || !file.write_at(0, bytes) || !file.sync()) {
      return system_error("cannot write", temporary, errno);
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) return system_error("cannot rename", temporary, errno);
  return {};
}

void sync_folder(const std::string& path) {
  const File folder(path, O_RDONLY | O_DIRECTORY);
  if (folder.is_open()) ::fsync(folder.get());
}

}  // namespace stator::storage
