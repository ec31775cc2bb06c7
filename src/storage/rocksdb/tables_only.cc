#include "stator/storage/rocksdb/tables_only.h"

#include <fmt/format.h>
#include <rocksdb/file_system.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "stator/storage/rocksdb/folder_check.h"
#include "stator/storage/rocksdb/rocksdb_options.h"

namespace stator::storage {
namespace {

constexpr std::size_t kMostBadLogs = 1000;

bool is_log(std::string_view name) { return name.ends_with(".log"); }

class EmptyFile final : public rocksdb::FSSequentialFile {
 public:
  rocksdb::IOStatus Read(size_t /*bytes*/, const rocksdb::IOOptions& /*options*/, rocksdb::Slice* result,
                         char* /*scratch*/, rocksdb::IODebugContext* /*debug*/) override {
    *result = {};
    return rocksdb::IOStatus::OK();
  }
  rocksdb::IOStatus Skip(uint64_t /*bytes*/) override { return rocksdb::IOStatus::OK(); }
};

// The number behind `words` in what RocksDB says; 0 when it does not say that.
std::uint64_t number_after(const std::string& text, std::string_view words) {
  const auto at = text.find(words);
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at + words.size(), nullptr, 10);
}

}  // namespace

// Every log is there, large enough, and has nothing in it.  They are not hidden: RocksDB compares them with its
// manifest, and when it is told not to, version 7.8 wants to note that in the manifest, which it cannot do when it only
// reads.
class TablesOnly::EmptyLogs final : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "EmptyLogs"; }

  void pretend(std::uint64_t number) { pretended_.push_back(log_name(number)); }
  bool enlarge = false;

  rocksdb::IOStatus GetChildren(const std::string& folder, const rocksdb::IOOptions& options,
                                std::vector<std::string>* names, rocksdb::IODebugContext* debug) override {
    auto status = target()->GetChildren(folder, options, names, debug);
    names->insert(names->end(), pretended_.begin(), pretended_.end());
    return status;
  }
  rocksdb::IOStatus GetFileSize(const std::string& name, const rocksdb::IOOptions& options, uint64_t* bytes,
                                rocksdb::IODebugContext* debug) override {
    auto status = target()->GetFileSize(name, options, bytes, debug);
    if (!is_log(name) || (status.ok() && !enlarge)) return status;
    *bytes = std::numeric_limits<std::int64_t>::max();
    return rocksdb::IOStatus::OK();
  }
  rocksdb::IOStatus NewSequentialFile(const std::string& name, const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSSequentialFile>* file,
                                      rocksdb::IODebugContext* debug) override {
    if (!is_log(name)) return target()->NewSequentialFile(name, options, file, debug);
    *file = std::make_unique<EmptyFile>();
    return rocksdb::IOStatus::OK();
  }

 private:
  std::vector<std::string> pretended_;
};

TablesOnly::TablesOnly(std::string folder, Damage damage)
    : folder_(std::move(folder)),
      damage_(damage),
      files_(std::make_shared<EmptyLogs>(rocksdb::Env::Default()->GetFileSystem())),
      env_(rocksdb::NewCompositeEnv(files_)) {}

TablesOnly::~TablesOnly() = default;

rocksdb::Status TablesOnly::open() {
  auto log = std::make_shared<LogBridge>();
  log->hold();  // what it has to say is in its status
  auto options = rocksdb_options({.path = folder_, .block_cache_bytes = 8 << 20}, log);
  options.env = env_.get();
  options.paranoid_checks = damage_ == Damage::FoundAtOnce;
  for (;;) {
    rocksdb::DB* opened = nullptr;
    const auto status = rocksdb::DB::OpenForReadOnly(options, folder_, &opened);
    db_.reset(opened);
    if (status.ok() || bad_logs_.size() >= kMostBadLogs) return status;
    const auto text = status.ToString();
    if (const auto missing = number_after(text, "Missing WAL with log number: "); missing != 0) {
      bad_logs_.emplace_back(missing, "is missing");
      files_->pretend(missing);
    } else if (const auto cut = number_after(text, "Size mismatch: WAL (log number: "); cut != 0 && !files_->enlarge) {
      bad_logs_.emplace_back(cut, "is shorter than it was");
      files_->enlarge = true;
    } else {
      return status;
    }
  }
}

std::optional<std::vector<rocksdb::LiveFileMetaData>> named_tables(const std::string& folder) {
  TablesOnly tables(folder, TablesOnly::Damage::FoundWhenRead);
  if (!tables.open().ok()) return std::nullopt;
  std::vector<rocksdb::LiveFileMetaData> files;
  tables.db().GetLiveFilesMetaData(&files);
  return files;
}

}  // namespace stator::storage
