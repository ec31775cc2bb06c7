#include "stator/storage/rocksdb/data_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "stator/base/bytes.h"
#include "stator/base/log.h"

namespace stator::storage {
namespace {

namespace fs = std::filesystem;

// On disk: the first line of the FORMAT file is this and a number.
constexpr BytesView kFormatName = "stator-rocksdb ";

Error system_error(const std::string& what, const std::string& path, int code) {
  return {ErrorCode::Storage, fmt::format("{} {}: {}", what, path, std::generic_category().message(code))};
}

class File {
 public:
  File(const std::string& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return fd_ >= 0; }
  int get() const { return fd_; }

 private:
  int fd_;
};

bool write_and_sync(const File& file, BytesView bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fdatasync(file.get()) == 0;
}

Result<void> write_format(const std::string& path) {
  // Renamed when complete, so that a crash leaves the whole file or none.  RocksDB syncs the folder when it creates its own
  // files there, and without those a missing FORMAT is harmless.
  const auto temporary = path + "/FORMAT.new";
  {
    const File file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
    if (!file.is_open() || !write_and_sync(file, fmt::format("{}{}\n", kFormatName, kDataFolderFormat))) {
      return system_error("cannot write", temporary, errno);
    }
  }
  if (::rename(temporary.c_str(), (path + "/FORMAT").c_str()) != 0)
    return system_error("cannot rename", temporary, errno);
  return {};
}

Result<void> check_format(const std::string& path, const File& file) {
  char buffer[64];
  const auto size = ::read(file.get(), buffer, sizeof buffer);
  if (size < 0) return system_error("cannot read", path + "/FORMAT", errno);
  BytesView text(buffer, static_cast<std::size_t>(size));
  unsigned format = 0;
  if (text.starts_with(kFormatName)) {
    text.remove_prefix(kFormatName.size());
    std::from_chars(text.data(), text.data() + text.size(), format);
  }
  if (format == 0)
    return Error{ErrorCode::Usage, fmt::format("data folder {} has a FORMAT file that stator did not write", path)};
  if (format > kDataFolderFormat) {
    return Error{ErrorCode::Usage,
                 fmt::format("data folder {} has format {}, and this stator reads formats up to {}: use a newer stator",
                             path, format, kDataFolderFormat)};
  }
  return {};
}

}  // namespace

Result<void> prepare_data_folder(const std::string& path) {
  std::error_code code;
  // For its owner alone, which also keeps others from files inside that the umask leaves open.
  if (fs::create_directories(path, code)) {
    fs::permissions(path, fs::perms::owner_all, code);
  } else if (const auto mode = fs::status(path, code).permissions();
             !code && (mode & (fs::perms::group_all | fs::perms::others_all)) != fs::perms::none) {
    log::warning(
        "data_folder_open_to_others",
        {{"message", fmt::format("other users of this machine may read the data in {0}: chmod 700 {0}", path)}});
  }
  if (code) return Error{ErrorCode::Usage, fmt::format("cannot create data folder {}: {}", path, code.message())};
  const File file(path + "/FORMAT", O_RDONLY);
  if (file.is_open()) return check_format(path, file);
  if (errno != ENOENT) return system_error("cannot open", path + "/FORMAT", errno);
  if (fs::exists(path + "/CURRENT", code)) {
    return Error{
        ErrorCode::Usage,
        fmt::format("data folder {} holds a RocksDB database that is not stator's: it has no FORMAT file", path)};
  }
  return write_format(path);
}

Result<void> probe_disk(const std::string& path, std::uint64_t bytes) {
  const auto name = path + "/PROBE";
  const File file(name, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file.is_open()) return system_error("cannot write", name, errno);
  int code = ::fallocate(file.get(), 0, 0, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  if (code == EOPNOTSUPP) code = 0;  // then the write below has to do
  if (code == 0 && !write_and_sync(file, Bytes(64 * 1024, '\0'))) code = errno;
  ::unlink(name.c_str());
  if (code != 0) return system_error("no room in", path, code);
  return {};
}

}  // namespace stator::storage
