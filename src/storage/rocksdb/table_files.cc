#include "stator/storage/rocksdb/table_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/metadata.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/table.h>
#include <rocksdb/table_properties.h>
#include <rocksdb/unique_id.h>
#include <rocksdb/utilities/checkpoint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "stator/base/log.h"
#include "stator/storage/rocksdb/counter_merge.h"
#include "stator/storage/rocksdb/file.h"

namespace stator::storage {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTableSuffix = ".sst";
constexpr std::string_view kLogSuffix = ".log";
constexpr std::string_view kFormatFile = "FORMAT";
constexpr std::size_t kReadAheadBytes = std::size_t{2} << 20;

Error to_error(const std::string& path, const rocksdb::Status& status) {
  const auto code = status.IsCorruption() ? ErrorCode::Corruption : ErrorCode::Storage;
  return {code, fmt::format("{}: {}", path, status.ToString())};
}

// A reader of single table files, which keeps none of their blocks.
rocksdb::Options reader_options() {
  rocksdb::BlockBasedTableOptions table;
  table.no_block_cache = true;
  rocksdb::Options options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.merge_operator = new_counter_merge();
  return options;
}

Result<std::string> content_id(const std::string& path) {
  rocksdb::SstFileReader reader(reader_options());
  if (const auto status = reader.Open(path); !status.ok()) return to_error(path, status);
  std::string id;
  const auto status = rocksdb::GetExtendedUniqueIdFromTableProperties(*reader.GetTableProperties(), &id);
  if (!status.ok()) return std::string();  // then it is copied every time
  std::string text;
  for (const char byte : id) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

Result<StoreFile> identify_file(const std::string& folder, std::string name) {
  const auto path = folder + "/" + name;
  struct stat state{};
  if (::stat(path.c_str(), &state) != 0) return system_error("cannot find", path, errno);
  StoreFile file{.name = std::move(name), .size_bytes = static_cast<std::uint64_t>(state.st_size)};
  if (file.name.ends_with(kTableSuffix)) file.content_id = TRY(content_id(path));
  return file;
}

Result<Bytes> read_part(const std::string& path, std::uint64_t offset, std::size_t limit) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return system_error("cannot open", path, errno);
  Bytes bytes(limit, '\0');
  std::size_t done = 0;
  int code = 0;
  while (done < limit) {
    const auto got = ::pread(fd, bytes.data() + done, limit - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) code = errno;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  ::close(fd);
  if (code != 0) return system_error("cannot read", path, code);
  bytes.resize(done);
  return bytes;
}

// Files where they are: nobody writes to the folder.
class FilesInPlace final : public FrozenFiles {
 public:
  FilesInPlace(std::string folder, std::vector<StoreFile> files, CommitSequence last_commit)
      : folder_(std::move(folder)), files_(std::move(files)), last_commit_(last_commit) {}

  CommitSequence last_commit() const override { return last_commit_; }
  const std::vector<StoreFile>& files() const override { return files_; }
  Result<Bytes> read(std::size_t file, std::uint64_t offset, std::size_t limit) const override {
    return read_part(folder_ + "/" + files_.at(file).name, offset, limit);
  }

 private:
  const std::string folder_;
  const std::vector<StoreFile> files_;
  const CommitSequence last_commit_;
};

std::string file_name(const rocksdb::LiveFileMetaData& file) {
  return file.name.substr(file.name.starts_with('/') ? 1 : 0);
}

}  // namespace

TableCheck check_table_file(const std::string& path, Blocks blocks) {
  rocksdb::SstFileReader reader(reader_options());
  TableCheck check{.opened = false, .status = reader.Open(path)};
  check.opened = check.status.ok();
  if (!check.opened || blocks == Blocks::Skipped) return check;
  rocksdb::ReadOptions read;
  read.readahead_size = kReadAheadBytes;
  read.fill_cache = false;
  check.status = reader.VerifyChecksum(read);
  return check;
}

Result<void> verify_table_file(const std::string& path) {
  const auto [opened, status] = check_table_file(path, Blocks::Read);
  if (!status.ok()) return to_error(path, status);
  return {};
}

Result<std::vector<DamagedFile>> verify_table_files(const std::vector<rocksdb::LiveFileMetaData>& files,
                                                    const std::function<bool(const std::string& name)>& still_live,
                                                    const StoreFiles::Progress& progress) {
  std::uint64_t total = 0;
  std::uint64_t done = 0;
  for (const auto& file : files) total += file.size;
  std::vector<DamagedFile> damaged;
  for (const auto& file : files) {
    if (progress && !progress(done, total)) return damaged;
    const auto verified = verify_table_file(file.db_path + file.name);
    done += file.size;
    if (verified || !still_live(file.name)) continue;
    damaged.push_back({.name = file_name(file),
                       .problem = verified.error().message,
                       .first_key = file.smallestkey,
                       .last_key = file.largestkey});
  }
  if (progress) progress(total, total);
  return damaged;
}

Checkpoint::Checkpoint(std::string folder, CommitSequence last_commit)
    : folder_(std::move(folder)), last_commit_(last_commit) {}

Result<std::unique_ptr<Checkpoint>> Checkpoint::create(rocksdb::DB& db, const std::string& data_folder,
                                                       CommitSequence last_commit) {
  static std::atomic<unsigned> next{0};
  const auto parent = fmt::format("{}/{}", data_folder, kFrozenFolder);
  std::error_code code;
  fs::create_directories(parent, code);
  if (code) return system_error("cannot create", parent, code.value());
  ::chmod(parent.c_str(), 0700);  // it holds all the data
  auto folder = fmt::format("{}/{}-{}", fs::absolute(parent, code).string(), ::getpid(), ++next);
  std::unique_ptr<Checkpoint> files(new Checkpoint(folder, last_commit));
  rocksdb::Checkpoint* raw = nullptr;
  auto status = rocksdb::Checkpoint::Create(&db, &raw);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(raw);
  if (status.ok()) status = checkpoint->CreateCheckpoint(folder);
  if (!status.ok()) return Error{ErrorCode::Storage, fmt::format("cannot freeze the files: {}", status.ToString())};
  fs::copy_file(data_folder + "/" + std::string(kFormatFile), folder + "/" + std::string(kFormatFile), code);
  if (code) return system_error("cannot copy", data_folder + "/" + std::string(kFormatFile), code.value());
  return files;
}

Checkpoint::~Checkpoint() {
  std::error_code code;
  fs::remove_all(folder_, code);
  fs::remove(fs::path(folder_).parent_path(), code);  // fails while there are others, as it shall
}

Result<void> Checkpoint::identify() {
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator entry(folder_, code), end; !code && entry != end; entry.increment(code)) {
    names.push_back(entry->path().filename().string());
  }
  if (code) return system_error("cannot list", folder_, code.value());
  std::sort(names.begin(), names.end());
  for (auto& name : names) files_.push_back(TRY(identify_file(folder_, std::move(name))));
  return {};
}

Result<Bytes> Checkpoint::read(std::size_t file, std::uint64_t offset, std::size_t limit) const {
  return read_part(folder_ + "/" + files_.at(file).name, offset, limit);
}

Result<std::unique_ptr<FrozenFiles>> freeze_in_place(rocksdb::DB& db, const std::string& data_folder,
                                                     CommitSequence last_commit) {
  const auto current = TRY(read_part(data_folder + "/CURRENT", 0, 1024));
  const auto manifest = current.substr(0, current.find('\n'));
  std::vector<std::string> names = {"CURRENT", "IDENTITY", std::string(kFormatFile), manifest};
  std::vector<rocksdb::LiveFileMetaData> live;
  db.GetLiveFilesMetaData(&live);
  for (const auto& file : live) names.push_back(file_name(file));
  std::string options;
  std::error_code code;
  for (fs::directory_iterator entry(data_folder, code), end; !code && entry != end; entry.increment(code)) {
    auto name = entry->path().filename().string();
    if (name.ends_with(kLogSuffix)) names.push_back(name);
    if (name.starts_with("OPTIONS-") && !name.ends_with(".dbtmp")) options = std::max(options, name);
  }
  if (code) return system_error("cannot list", data_folder, code.value());
  if (!options.empty()) names.push_back(options);
  std::sort(names.begin(), names.end());
  std::vector<StoreFile> files;
  for (auto& name : names) {
    if (name == "IDENTITY" && !fs::exists(data_folder + "/IDENTITY", code)) continue;  // RocksDB makes another
    files.push_back(TRY(identify_file(data_folder, std::move(name))));
  }
  return std::unique_ptr<FrozenFiles>(std::make_unique<FilesInPlace>(data_folder, std::move(files), last_commit));
}

void remove_frozen_files(const std::string& data_folder) {
  std::error_code code;
  const auto folder = fmt::format("{}/{}", data_folder, kFrozenFolder);
  if (fs::remove_all(folder, code) > 0 && !code) {
    log::info("interrupted_backup_removed", {{"folder", folder}});
  }
}

}  // namespace stator::storage
