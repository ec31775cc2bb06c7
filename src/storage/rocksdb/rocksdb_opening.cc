#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "stator/base/descriptor.h"
#include "stator/base/log.h"
#include "stator/storage/rocksdb/file.h"
#include "stator/storage/rocksdb/log_file.h"
#include "stator/storage/rocksdb/rocksdb_reads.h"
#include "stator/storage/rocksdb/rocksdb_status.h"
#include "stator/storage/rocksdb/rocksdb_store_impl.h"
#include "stator/storage/rocksdb/tables_only.h"

namespace stator::storage {
namespace {

// Tables, and logs without a record.
std::set<std::string> tables_and_empty_logs(const std::string& folder) {
  std::set<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator file(folder, error), end; !error && file != end; file.increment(error)) {
    const auto kind = file->path().extension();
    std::error_code unknown;
    if (kind == ".sst" || (kind == ".log" && file->file_size(unknown) == 0)) names.insert(file->path().filename());
  }
  return names;
}

// Fewer files of level 0 than RocksDB merges, which is four.
constexpr int kFewNewFiles = 2;

// How long recover() keeps new readers waiting for those that have a snapshot.
constexpr std::chrono::milliseconds kSnapshotPatience{100};

}  // namespace

Result<void> RocksDbStore::open() {
  if (options_.read_only) return open_to_read();
  {
    MutexLock lock(commit_mutex_);
    auto opened = open_database(Mode::Normal);
    if (!opened && opened.error().code == ErrorCode::Storage && disk_is_full_)
      opened = open_on_full_disk(opened.error());
    TRY(std::move(opened));
  }
  remove_frozen_files(options_.path);
  if (options_.durability == Durability::Relaxed) thread_ = std::jthread([this] { run_background_sync(); });
  return {};
}

Result<void> RocksDbStore::open_to_read() {
  if (!holds_database(options_.path)) {
    return Error{ErrorCode::Usage, fmt::format("there is no database in {}", options_.path)};
  }
  TRY(prepare_data_folder(options_.path));
  lock_ = TRY(FolderLock::take(options_.path));
  const auto found = TRY(check_folder(options_.path));
  if (!found.damage.empty() && !options_.despite_damage) return damage_error(options_.path, found);
  if (options_.despite_damage) rocks_.paranoid_checks = false;
  auto options = rocks_;
  // The last commit in the logs of a damaged folder is unknown.
  if (found.damage.empty()) options.wal_filter = replay_from(found, found.reachable);
  rocksdb::DB* db = nullptr;
  const auto status = rocksdb::DB::OpenForReadOnly(options, options_.path, &db);
  if (!status.ok()) return opening_error(status);
  db_.reset(db);
  const auto sequence = found.damage.empty() ? TRY(read_sequence_after(found.reachable)) : TRY(read_sequence());
  last_commit_.store(sequence.value, std::memory_order_release);
  cache_.open(new_base());
  MutexLock lock(commit_mutex_);
  failed_ = true;
  failure_ = "it was opened to be read only";
  return {};
}

Error RocksDbStore::opening_error(const rocksdb::Status& status) const {
  auto error = storage_error("cannot open data folder " + options_.path, status);
  if (status.ToString().find("Permission denied") != std::string::npos) {
    if (const auto owner = foreign_owner(options_.path); !owner.empty()) error.message += "; " + owner;
  }
  return error;
}

Result<void> RocksDbStore::open_database(Mode mode) {
  disk_is_full_ = false;
  TRY(prepare_data_folder(options_.path));
  if (lock_ == nullptr) lock_ = TRY(FolderLock::take(options_.path));
  // Before RocksDB opens it, which deletes the files it has lost track of.
  const auto found = TRY(check_folder(options_.path));
  if (!found.damage.empty()) return damage_error(options_.path, found);
  if (found.mark_lost) {
    log::warning("no_mark",
                 {{"message", fmt::format("{}/{} is missing or cannot be read: whether the log has lost its end "
                                          "cannot be told; a new one is made",
                                          options_.path, kMarkName)}});
  }
  if (found.is_new && !read_format(options_.path)) TRY(write_format(options_.path));
  fit_disk();
  auto options = rocks_;
  if (mode == Mode::OnReserve) {
    // As little as possible is written: no table from the log, however long that is, and no compaction.
    options.avoid_flush_during_recovery = true;
    options.write_buffer_size += 2 * log_bytes();
    options.disable_auto_compactions = true;
    compacted_ = {};
    TRY(sync_logs(found));
  }
  auto reachable = found.reachable;
  // Commits that may be only in the system's cache were not acknowledged, and readers do not see them.  What readers
  // have seen was synced, also if the mark could not be written.
  if (mode == Mode::ReadOnly && found.is_synced() && !sync_logs(found)) {
    reachable = std::max(found.synced(), last_commit().value);
  }
  options.wal_filter = replay_from(found, reachable);
  rocksdb::DB* db = nullptr;
  listener_->forget();
  log_->hold();
  if (mode != Mode::ReadOnly) lock_.reset();  // RocksDB takes it itself
  const auto status = mode == Mode::ReadOnly ? rocksdb::DB::OpenForReadOnly(options, options_.path, &db)
                                             : rocksdb::DB::Open(options, options_.path, &db);
  log_->let_go(status.ok());
  if (!status.ok()) {
    if (is_in_use(status)) {
      return Error{ErrorCode::Usage, fmt::format("data folder {} is in use by another stator process", options_.path)};
    }
    disk_is_full_ = trouble_of(status) == StoreTrouble::DiskFull;
    return opening_error(status);
  }
  db_.reset(db);
  auto sequence = read_sequence_after(reachable);
  if (!sequence) {
    db_.reset();
    return std::move(sequence).error();
  }
  last_commit_.store(sequence->value, std::memory_order_release);  // before readers can see it
  cache_.open(new_base());
  last_written_ = *sequence;
  mode_ = mode;
  if (mode == Mode::ReadOnly) return {};
  if (mode == Mode::Normal) {
    make_reserve(options_.path, room_.reserve);
    hold_floor();
  }
  keep_mark(*sequence);
  note_files(*db_);
  return {};
}

void RocksDbStore::fit_disk() {
  room_ = DiskRoom::in(options_.path, options_.write_buffer_bytes);
  rocks_.write_buffer_size = room_.write_buffer;
  rocks_.arena_block_size = arena_block_bytes(room_.write_buffer);
  rocks_.target_file_size_base = room_.table_file;
  if (room_.bytes >= DiskRoom::kLeast || std::exchange(told_small_, true)) return;
  log::warning(
      "small_disk",
      {{"message", fmt::format("the disk has {:.1f} MB for {}, and with less than {} MB deletes may be refused "
                               "once it is full: give it more room",
                               static_cast<double>(room_.bytes) / (1 << 20), options_.path, DiskRoom::kLeast >> 20)}});
}

std::uint64_t RocksDbStore::log_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto number : FolderListing::of(options_.path).logs) {
    const auto size = size_before_filling(options_.path + "/" + log_name(number));
    if (size) bytes += *size;
  }
  return bytes;
}

void RocksDbStore::keep_mark(CommitSequence sequence) {
  auto mark = MarkFile::open(options_.path);
  MutexLock lock(mark_mutex_);
  if (!mark) {
    mark_.reset();
    return log::warning("mark_not_kept",
                        {{"cause", mark.error().message}, {"message", "a log that loses its end will not be noticed"}});
  }
  mark_ = std::move(*mark);
  mark_->acknowledge(sequence);
}

void RocksDbStore::note_files(rocksdb::DB& db) {
  LiveFiles files{.relaxed = options_.durability == Durability::Relaxed};
  MutexLock lock(mark_mutex_);
  if (mark_ == nullptr) return;
  std::vector<std::string> names;
  if (!db.GetLiveFiles(names, &files.manifest_bytes, /*flush_memtable=*/false).ok()) return;
  for (const auto& name : names) {
    const auto at = name.find("MANIFEST-");
    if (at != std::string::npos) files.manifest = std::strtoull(name.c_str() + at + 9, nullptr, 10);
  }
  std::vector<rocksdb::LiveFileMetaData> tables;
  db.GetLiveFilesMetaData(&tables);
  for (const auto& table : tables) files.tables.push_back({table.file_number, table.size});
  files.logs = FolderListing::of(options_.path).logs;
  ignore_error(mark_->set_files(files), "the list before tells less, and nothing wrong");
}

Result<void> RocksDbStore::close_database() {
  auto base = cache_.close();
  const auto deadline = options_.clock->steady_now() + kSnapshotPatience;
  // Our hold on it, so that readers can go on with it when the database cannot be closed.
  const long kept = base == nullptr ? 0 : 1;
  while (open_snapshots_.load(std::memory_order_acquire) > static_cast<std::size_t>(kept) || base.use_count() > kept) {
    if (options_.clock->steady_now() > deadline) {
      cache_.open(std::move(base));
      return Error{ErrorCode::Storage, "cannot recover while a snapshot is open"};
    }
    options_.clock->wait(std::chrono::milliseconds(1));
  }
  base.reset();
  if (db_ != nullptr) {
    release_floor(*db_);
    db_.reset();
    files_when_closed_ = tables_and_empty_logs(options_.path);
  }
  logs_->drop_closed();
  return {};
}

void RocksDbStore::remove_files_of_failed_openings() const {
  const auto named = named_tables(options_.path);
  if (!named) return;
  auto kept = files_when_closed_;
  for (const auto& table : *named) kept.insert(table.relative_filename);
  for (const auto& file : tables_and_empty_logs(options_.path)) {
    std::error_code ignored;
    if (!kept.contains(file)) std::filesystem::remove(options_.path + "/" + file, ignored);
  }
}

void RocksDbStore::hold_floor() {
  if (!has_few_new_files(*db_)) return;
  MutexLock lock(floor_mutex_);
  floor_ = db_->GetSnapshot();
}

void RocksDbStore::release_floor(rocksdb::DB& db) {
  MutexLock lock(floor_mutex_);
  if (floor_ != nullptr) db.ReleaseSnapshot(std::exchange(floor_, nullptr));
}

bool RocksDbStore::has_few_new_files(rocksdb::DB& db) {
  std::string count;
  return db.GetProperty("rocksdb.num-files-at-level0", &count) && std::atoi(count.c_str()) <= kFewNewFiles;
}

rocksdb::WalFilter* RocksDbStore::replay_from(const FolderCheck& found, std::uint64_t reachable) {
  replay_ = std::make_unique<ReplayFilter>(found.flushed, reachable);
  return replay_.get();
}

Result<void> RocksDbStore::sync_logs(const FolderCheck& found) const {
  for (const auto number : FolderListing::of(options_.path).logs) {
    const auto path = options_.path + "/" + log_name(number);
    TRY(write_log_again(path, found.synced()));
    const DataFile file(path, O_RDWR);
    if (!file.is_open() || options_.sync_file(file.get()) != 0) return system_error("cannot sync", path, errno);
  }
  if (!sync_folder(options_.path)) return system_error("cannot sync", options_.path, errno);
  return {};
}

Result<CommitSequence> RocksDbStore::read_sequence_after(std::uint64_t reachable) const {
  const auto sequence = TRY(read_sequence());
  if (sequence.value == reachable) return sequence;
  return Error{ErrorCode::Corruption,
               fmt::format("data folder {}: the logs hold the commits up to {}, and RocksDB has read them up to {}",
                           options_.path, reachable, sequence.value)};
}

Result<CommitSequence> RocksDbStore::read_sequence() const {
  std::string value;
  const auto status = db_->Get({}, slice(kSequenceKey), &value);
  if (status.IsNotFound()) return CommitSequence{};
  if (!status.ok()) return storage_error("cannot read the commit sequence", status);
  if (value.size() != 9 || value[0] != kSequenceVersion) {
    return Error{ErrorCode::Corruption,
                 fmt::format("data folder {}: the commit sequence reads {}", options_.path, hex(value))};
  }
  return CommitSequence{read_u64be(value.data() + 1)};
}

}  // namespace stator::storage
