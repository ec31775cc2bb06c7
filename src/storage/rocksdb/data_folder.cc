#include "stator/storage/rocksdb/data_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "stator/base/bytes.h"
#include "stator/base/log.h"
#include "stator/storage/rocksdb/file.h"
#include "stator/storage/rocksdb/mark_file.h"

namespace stator::storage {
namespace {

namespace fs = std::filesystem;

// On disk: the first line of the FORMAT file is this and a number.
constexpr BytesView kFormatName = "stator-rocksdb ";

// The number in a FORMAT file; 0 when it is not one of ours.
unsigned parse_format(BytesView text) {
  unsigned format = 0;
  if (text.starts_with(kFormatName)) {
    text.remove_prefix(kFormatName.size());
    std::from_chars(text.data(), text.data() + text.size(), format);
  }
  return format;
}

Result<void> check_format(const std::string& path, const DataFile& file) {
  char buffer[64];
  const auto size = ::read(file.get(), buffer, sizeof buffer);
  if (size < 0) return system_error("cannot read", path + "/FORMAT", errno);
  const auto format = parse_format({buffer, static_cast<std::size_t>(size)});
  // A folder with a MARK is ours; what became of its FORMAT, check_folder() tells.
  std::error_code code;
  if (format == 0 && fs::exists(path + "/" + kMarkName, code)) return {};
  if (format == 0)
    return Error{ErrorCode::Usage, fmt::format("data folder {} has a FORMAT file that stator did not write", path)};
  if (format > kDataFolderFormat) {
    return Error{ErrorCode::Usage,
                 fmt::format("data folder {} has format {}, and this stator reads formats up to {}: use a newer stator",
                             path, format, kDataFolderFormat)};
  }
  return {};
}

// Names that RocksDB or this layer opens to write.
bool is_written(const std::string& name) {
  static constexpr std::string_view kNames[] = {"CURRENT",    "IDENTITY",    "LOCK",    "FORMAT",
                                                "FORMAT.new", "CURRENT.new", kMarkName, "RESERVE",
                                                "PROBE",      "repair.tmp",  "FROZEN"};
  static constexpr std::string_view kBeginnings[] = {"MANIFEST-", "OPTIONS-", "damaged-"};
  static constexpr std::string_view kEndings[] = {".sst", ".log", ".dbtmp"};
  return std::any_of(std::begin(kNames), std::end(kNames), [&](auto one) { return name == one; }) ||
         std::any_of(std::begin(kBeginnings), std::end(kBeginnings), [&](auto one) { return name.starts_with(one); }) ||
         std::any_of(std::begin(kEndings), std::end(kEndings), [&](auto one) { return name.ends_with(one); });
}

// Gives our files inside `folder` to the user. The caller has opened `folder`; it is closed here.
void give_content(int folder, uid_t user, gid_t group, int depth) {
  static constexpr int kMostDepth = 16;
  DIR* entries = ::fdopendir(folder);
  if (entries == nullptr) {
    ::close(folder);
    return;
  }
  while (const auto* entry = ::readdir(entries)) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == ".." || (depth == 0 && !is_written(std::string(name)))) continue;
    const int file = ::openat(folder, entry->d_name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0) continue;
    struct stat status{};
    if (::fstat(file, &status) == 0) {
      const bool is_folder = S_ISDIR(status.st_mode);
      if (status.st_uid == 0 && (is_folder || (S_ISREG(status.st_mode) && status.st_nlink == 1))) {
        [[maybe_unused]] const int ignored = ::fchownat(file, "", user, group, AT_EMPTY_PATH);
      }
      if (is_folder && depth < kMostDepth) {
        const int inner = ::openat(file, ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (inner >= 0) give_content(inner, user, group, depth + 1);
      }
    }
    ::close(file);
  }
  ::closedir(entries);
}

}  // namespace

Result<void> refuse_links(const std::string& path) {
  std::error_code code;
  for (fs::directory_iterator file(path, code), end; !code && file != end; file.increment(code)) {
    std::error_code ignored;
    if (file->is_symlink(ignored) && is_written(file->path().filename().string())) {
      return Error{ErrorCode::Usage, fmt::format("{} is a link, and those are not followed in a data folder: remove it",
                                                 file->path().string())};
    }
  }
  return {};
}

void give_to_owner(const std::string& path) {
  if (::geteuid() != 0) return;
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  struct stat status{};
  if (::fstat(folder, &status) != 0 || status.st_uid == 0) {
    ::close(folder);
    return;
  }
  give_content(folder, status.st_uid, status.st_gid, 0);
}

bool holds_database(const std::string& path) {
  std::error_code code;
  const auto has = [&](const std::string& name) { return fs::exists(path + "/" + name, code); };
  return has("CURRENT") || has("FORMAT") || has(kMarkName);
}

Result<void> prepare_data_folder(const std::string& path) {
  std::error_code code;
  // For its owner alone, which also keeps others from files inside that the umask leaves open.
  const bool made = fs::create_directories(path, code);
  if (code) return Error{ErrorCode::Usage, fmt::format("cannot create data folder {}: {}", path, code.message())};
  if (made) {
    fs::permissions(path, fs::perms::owner_all, code);
  } else if (const auto mode = fs::status(path, code).permissions();
             !code && (mode & (fs::perms::group_all | fs::perms::others_all)) != fs::perms::none) {
    log::warning(
        "data_folder_open_to_others",
        {{"message", fmt::format("other users of this machine may read the data in {0}: chmod 700 {0}", path)}});
  }
  if (code) return Error{ErrorCode::Usage, fmt::format("cannot use data folder {}: {}", path, code.message())};
  TRY(refuse_links(path));
  const DataFile file(path + "/FORMAT", O_RDONLY);
  if (file.is_open()) return check_format(path, file);
  if (errno != ENOENT) return system_error("cannot open", path + "/FORMAT", errno);
  if (fs::exists(path + "/" + kMarkName, code)) return {};  // likewise
  if (fs::exists(path + "/CURRENT", code)) {
    return Error{
        ErrorCode::Usage,
        fmt::format("data folder {} holds a RocksDB database that is not stator's: it has no FORMAT file", path)};
  }
  return write_format(path);
}

// Renamed when complete, so that a crash leaves the whole file or none.  RocksDB syncs the folder when it creates its
// own files there, and without those a missing FORMAT is harmless.
Result<void> write_format(const std::string& path) {
  return replace_file(path + "/FORMAT", fmt::format("{}{}\n", kFormatName, kDataFolderFormat));
}

std::optional<unsigned> read_format(const std::string& path) {
  const DataFile file(path + "/FORMAT", O_RDONLY);
  if (!file.is_open()) return std::nullopt;
  Bytes text(std::min<std::uint64_t>(file.size(), 64), '\0');
  if (!file.read_at(0, text)) return std::nullopt;
  const auto format = parse_format(text);
  return format == 0 ? std::nullopt : std::optional(format);
}

std::optional<std::uint64_t> free_bytes(const std::string& path) {
  struct statvfs status{};
  if (::statvfs(path.c_str(), &status) != 0) return std::nullopt;
  return std::uint64_t{status.f_bavail} * status.f_frsize;
}

Result<void> probe_disk(const std::string& path, std::uint64_t bytes) {
  const auto name = path + "/PROBE";
  ::unlink(name.c_str());
  const DataFile file(name, O_WRONLY | O_CREAT | O_EXCL);
  if (!file.is_open()) return system_error("cannot write", name, errno);
  int code = ::fallocate(file.get(), 0, 0, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  if (code == EOPNOTSUPP) code = 0;  // then the write below has to do
  if (code == 0 && !(file.write_at(0, Bytes(64 * 1024, '\0')) && file.sync())) code = errno;
  ::unlink(name.c_str());
  if (code != 0) return system_error("no room in", path, code);
  return {};
}

void make_reserve(const std::string& path, std::uint64_t bytes) {
  const auto name = path + "/RESERVE";
  const auto room = free_bytes(path);
  if (!room) return;
  // Not the last of the room: that is for data.
  const auto wanted = std::min(bytes, *room / 4);
  const DataFile file(name, O_WRONLY | O_CREAT);
  if (!file.is_open() || file.size() >= wanted) return;
  if (::fallocate(file.get(), 0, 0, static_cast<off_t>(wanted)) != 0) ::unlink(name.c_str());
}

std::uint64_t reserve_bytes(const std::string& path) {
  std::error_code code;
  const fs::path name = path + "/RESERVE";
  if (!fs::is_regular_file(fs::symlink_status(name, code))) return 0;
  const auto size = fs::file_size(name, code);
  return code ? 0 : size;
}

bool release_reserve(const std::string& path) { return ::unlink((path + "/RESERVE").c_str()) == 0; }

}  // namespace stator::storage
