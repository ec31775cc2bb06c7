#include "stator/storage/rocksdb/file.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace stator::storage {

namespace {

std::string user_name(uid_t user) {
  passwd entry{};
  passwd* found = nullptr;
  char buffer[4096];
  if (::getpwuid_r(user, &entry, buffer, sizeof buffer, &found) == 0 && found != nullptr) return found->pw_name;
  return fmt::format("user {}", user);
}

}  // namespace

std::string foreign_owner(const std::string& folder) {
  const auto user = ::geteuid();
  std::error_code code;
  std::vector<std::string> paths{folder};
  for (std::filesystem::directory_iterator file(folder, code), end; !code && file != end; file.increment(code)) {
    paths.push_back(file->path().string());
  }
  for (const auto& path : paths) {
    struct stat status{};
    if (::lstat(path.c_str(), &status) != 0 || status.st_uid == user) continue;
    const auto me = user_name(user);
    return fmt::format("{} belongs to {}, and this process runs as {}: chown -R {} {}", path, user_name(status.st_uid),
                       me, me.starts_with("user ") ? me.substr(5) : me, folder);
  }
  return {};
}

Error system_error(const std::string& what, const std::string& path, int code) {
  auto text = fmt::format("{} {}: {}", what, path, std::generic_category().message(code));
  if (code == ELOOP) text += "; it is a link, and those are not followed in a data folder: remove it";
  if (code == EACCES || code == EPERM) {
    if (const auto owner = foreign_owner(path.substr(0, path.rfind('/'))); !owner.empty()) text += "; " + owner;
  }
  return {ErrorCode::Storage, std::move(text)};
}

DataFile::DataFile(const std::string& path, int flags)
    : file_(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600)) {}

std::uint64_t DataFile::size() const {
  struct stat status{};
  return ::fstat(get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

bool DataFile::read_at(std::uint64_t offset, Bytes& bytes) const {
  for (std::size_t done = 0; done < bytes.size();) {
    const auto got = ::pread(get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

bool DataFile::write_at(std::uint64_t offset, BytesView bytes) const {
  while (!bytes.empty()) {
    const auto written = ::pwrite(get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return true;
}

bool DataFile::sync() const { return ::fdatasync(get()) == 0; }

Result<void> replace_file(const std::string& path, BytesView bytes) {
  const auto temporary = path + ".new";
  ::unlink(temporary.c_str());  // of a run that was stopped; or somebody has put it there
  {
    const DataFile file(temporary, O_WRONLY | O_CREAT | O_EXCL);
    if (!file.is_open() || !file.write_at(0, bytes) || !file.sync()) {
      return system_error("cannot write", temporary, errno);
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) return system_error("cannot rename", temporary, errno);
  return {};
}

}  // namespace stator::storage
