#include "stator/server/secret_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "stator/app/crypto.h"

namespace stator::server {
namespace {

constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kTextBytes = 43;  // of those in base64url

Error failure(std::string_view what, const std::string& path, int code) {
  return {ErrorCode::Storage, fmt::format("cannot {} {}: {}", what, path, std::generic_category().message(code))};
}

// Writes it under another name and links it to its own, so that nobody ever reads half of it.
Result<void> make(const std::string& path) {
  const auto temporary = fmt::format("{}.{}", path, ::getpid());
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return failure("write", temporary, errno);
  const auto text = app::base64url(app::random_bytes(kSecretBytes)) + "\n";
  const bool written =
      ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(file) == 0;
  const int write_error = errno;
  ::close(file);
  const bool linked = written && (::link(temporary.c_str(), path.c_str()) == 0 || errno == EEXIST);
  const int link_error = errno;
  ::unlink(temporary.c_str());
  if (!written) return failure("write", temporary, write_error);
  if (!linked) return failure("write", path, link_error);
  return {};
}

}  // namespace

Result<std::string> load_or_make_secret(const std::string& data_folder) {
  std::error_code code;
  std::filesystem::create_directories(data_folder, code);
  if (code) {
    return Error{ErrorCode::Usage, fmt::format("cannot create data folder {}: {}", data_folder, code.message())};
  }
  const auto path = fmt::format("{}/app_secret", data_folder);
  if (!std::filesystem::exists(path, code)) TRY(make(path));
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return failure("open", path, errno);
  struct stat status{};
  std::string text(kTextBytes, '\0');
  const bool known = ::fstat(file, &status) == 0;
  const auto count = ::read(file, text.data(), text.size());
  ::close(file);
  if (!known || count < 0) return failure("read", path, errno);
  if ((status.st_mode & 077U) != 0) {
    return Error{ErrorCode::Usage,
                 fmt::format("{} can be read by other users of this machine: chmod 600 {}", path, path)};
  }
  if (static_cast<std::size_t>(count) != kTextBytes || !app::decode_base64url(text)) {
    return Error{ErrorCode::Usage, fmt::format("{} does not hold a secret; remove it and a new one is made", path)};
  }
  return text;
}

}  // namespace stator::server
