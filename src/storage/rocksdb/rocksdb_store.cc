#include "stator/storage/rocksdb/rocksdb_store.h"

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <utility>
#include <vector>

#include "stator/base/log.h"
#include "stator/base/mutex.h"
#include "stator/storage/rocksdb/counter_merge.h"
#include "stator/storage/rocksdb/data_folder.h"
#include "stator/storage/rocksdb/folder_read_lock.h"
#include "stator/storage/rocksdb/table_files.h"

namespace stator::storage {
namespace {

// On disk: keys that start with 0x00 are ours, everything behind them is the engine's.
//   00 's' 'e' 'q'  ->  01 sequence:u64be     the newest commit, written in the same batch as its changes
constexpr BytesView kSequenceKey("\0seq", 4);
constexpr char kSequenceVersion = 1;
constexpr BytesView kFirstUserKey("\x01", 1);

// Room that recover() wants on the disk beyond what the log holds, before it lets go of a store that can still be read.
constexpr std::uint64_t kRecoveryHeadroom = 8ULL << 20;

constexpr std::chrono::milliseconds kStallPause{1};
// How long recover() keeps new readers waiting for those that have a snapshot.
constexpr std::chrono::milliseconds kSnapshotPatience{100};

rocksdb::Slice slice(BytesView bytes) { return {bytes.data(), bytes.size()}; }
BytesView view(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

Error to_error(BytesView what, const rocksdb::Status& status) {
  const auto code = status.IsCorruption() ? ErrorCode::Corruption : ErrorCode::Storage;
  return {code, fmt::format("{}: {}", what, status.ToString())};
}

Error closed_error() { return {ErrorCode::Storage, "the store is closed after a failure and has not recovered yet"}; }

// RocksDB's warnings and errors go to our log, each kind at most once a minute, and its chatter nowhere: there are no LOG
// files in the data folder.  Thread-safe.
class LogBridge final : public rocksdb::Logger {
 public:
  LogBridge() : Logger(rocksdb::WARN_LEVEL) {}
  using Logger::Logv;
  void Logv(const char* format, va_list arguments) override { Logv(rocksdb::WARN_LEVEL, format, arguments); }
  void Logv(rocksdb::InfoLogLevel level, const char* format, va_list arguments) override {
    if (level < rocksdb::WARN_LEVEL || level == rocksdb::HEADER_LEVEL) return;
    if (BytesView(format).find("File Deletions") != BytesView::npos)
      return;  // said by every checkpoint; nothing is wrong
    char buffer[512];
    std::vsnprintf(buffer, sizeof buffer, format, arguments);
    std::string text(buffer);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    MutexLock lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    const auto [said, first] = said_.try_emplace(format, now);
    if (!first && now - said->second < std::chrono::minutes(1)) return;
    said->second = now;
    if (holding_) {
      held_.emplace_back(level, text);
    } else {
      write(level, text);
    }
  }

  // Between the two, lines are kept back: when opening fails, its error says it all in one.
  void hold() {
    MutexLock lock(mutex_);
    holding_ = true;
  }
  void let_go(bool print) {
    MutexLock lock(mutex_);
    holding_ = false;
    for (const auto& [level, text] : std::exchange(held_, {})) {
      if (print) write(level, text);
    }
  }

 private:
  static void write(rocksdb::InfoLogLevel level, BytesView text) {
    if (level >= rocksdb::ERROR_LEVEL) {
      log::error("rocksdb", {{"message", text}});
    } else {
      log::warning("rocksdb", {{"message", text}});
    }
  }

  Mutex mutex_;
  bool holding_ GUARDED_BY(mutex_) = false;
  std::vector<std::pair<rocksdb::InfoLogLevel, std::string>> held_ GUARDED_BY(mutex_);
  // By format string; RocksDB has a few hundred, all literals.
  std::map<const void*, std::chrono::steady_clock::time_point> said_ GUARDED_BY(mutex_);
};

// Hears when a flush or a compaction fails.  RocksDB would go on taking writes until too many files wait for compaction, and
// then let them hang; we stop at once.  Thread-safe.
class FailureListener final : public rocksdb::EventListener {
 public:
  void OnBackgroundError(rocksdb::BackgroundErrorReason /*reason*/, rocksdb::Status* status) override {
    MutexLock lock(mutex_);
    if (failed_.load(std::memory_order_relaxed)) return;
    status_ = *status;
    failed_.store(true, std::memory_order_release);
  }

  bool failed() const { return failed_.load(std::memory_order_acquire); }
  rocksdb::Status status() const {
    MutexLock lock(mutex_);
    return status_;
  }
  void forget() {
    MutexLock lock(mutex_);
    failed_.store(false, std::memory_order_release);
  }

 private:
  mutable Mutex mutex_;
  std::atomic<bool> failed_{false};
  rocksdb::Status status_ GUARDED_BY(mutex_);
};

rocksdb::Options rocksdb_options(const RocksDbOptions& options, std::shared_ptr<rocksdb::Logger> log) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(options.block_cache_bytes, /*num_shard_bits=*/2);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.format_version = 5;
  table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
  // Index and filter blocks live in the cache, so that its size bounds the memory of a large store.  They are cut into pieces: one
  // index of a whole file is megabytes large, falls out of the cache, and is then read and unpacked again for every item.
  table.cache_index_and_filter_blocks = true;
  table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.partition_filters = true;
  table.enable_index_compression = false;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.pin_top_level_index_and_filter = true;

  rocksdb::Options rocks;
  rocks.create_if_missing = true;
  rocks.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  rocks.merge_operator = new_counter_merge();
  // A hot counter would otherwise pile up one operand per commit until the next flush, and reading it would add them all.
  rocks.max_successive_merges = 16;
  rocks.compression = rocksdb::kLZ4Compression;
  rocks.bottommost_compression = rocksdb::kZSTD;
  rocks.level_compaction_dynamic_level_bytes = true;

  rocks.write_buffer_size = options.write_buffer_bytes;
  rocks.max_write_buffer_number = 3;
  rocks.arena_block_size = std::min<std::uint64_t>(1 << 20, options.write_buffer_bytes / 8);

  // One commit at a time, so nothing to run in parallel or to order.
  rocks.allow_concurrent_memtable_write = false;
  rocks.enable_write_thread_adaptive_yield = false;

  // Reserving the log ahead makes a sync no cheaper (measured), and an empty store 70 MB large.  Overwriting old logs would,
  // but recycling does not go with point-in-time recovery, and in this version risks holes in what is recovered.
  rocks.allow_fallocate = false;
  rocks.recycle_log_file_num = 0;
  rocks.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;

  rocks.max_bgerror_resume_count = 0;  // see recover()

  rocks.max_background_jobs = 2;
  rocks.max_open_files = 512;
  rocks.max_file_opening_threads = 1;
  rocks.stats_dump_period_sec = 0;
  rocks.stats_persist_period_sec = 0;
  rocks.info_log = std::move(log);
  rocks.avoid_unnecessary_blocking_io = true;
  rocks.bytes_per_sync = 1 << 20;
  rocks.skip_stats_update_on_db_open = true;
  return rocks;
}

class RocksDbCursor final : public Cursor {
 public:
  // `db` may be null: the store could not be reopened after a failure.
  RocksDbCursor(rocksdb::DB* db, const rocksdb::Snapshot* snapshot, const KeyRange& range, Direction direction)
      : begin_(is_reserved_key(range.begin) ? Bytes(kFirstUserKey) : range.begin),
        end_(range.end),
        begin_slice_(begin_),
        end_slice_(end_),
        direction_(direction) {
    if (db == nullptr || (!end_.empty() && end_ <= begin_)) {
      failed_ = db == nullptr;
      return;
    }
    rocksdb::ReadOptions read;
    read.snapshot = snapshot;
    read.iterate_lower_bound = &begin_slice_;
    if (!end_.empty()) read.iterate_upper_bound = &end_slice_;
    iterator_.reset(db->NewIterator(read));
    if (direction == Direction::Forward) {
      iterator_->Seek(begin_slice_);
    } else {
      iterator_->SeekToLast();  // the last one before the upper bound
    }
  }

  bool valid() const override { return iterator_ != nullptr && iterator_->Valid(); }
  void next() override {
    if (direction_ == Direction::Forward) {
      iterator_->Next();
    } else {
      iterator_->Prev();
    }
  }
  BytesView key() const override { return view(iterator_->key()); }
  BytesView value() const override { return view(iterator_->value()); }
  Result<void> status() const override {
    if (failed_) return closed_error();
    if (iterator_ == nullptr || iterator_->status().ok()) return {};
    return to_error("cannot read", iterator_->status());
  }

 private:
  // RocksDB keeps pointers to the bounds.
  const Bytes begin_, end_;
  const rocksdb::Slice begin_slice_, end_slice_;
  const Direction direction_;
  bool failed_ = false;
  std::unique_ptr<rocksdb::Iterator> iterator_;
};

Result<std::optional<Bytes>> read(rocksdb::DB* db, const rocksdb::Snapshot* snapshot, BytesView key) {
  if (db == nullptr) return closed_error();
  if (is_reserved_key(key)) return std::optional<Bytes>();
  rocksdb::ReadOptions options;
  options.snapshot = snapshot;
  rocksdb::PinnableSlice value;
  const auto status = db->Get(options, db->DefaultColumnFamily(), slice(key), &value);
  if (status.IsNotFound()) return std::optional<Bytes>();
  if (!status.ok()) return to_error("cannot read", status);
  return std::optional<Bytes>(view(value));
}

class RocksDbSnapshot final : public Snapshot {
 public:
  // `db` may be null.  Counts itself in `open_snapshots`, already raised by the caller, until it is destroyed.
  RocksDbSnapshot(rocksdb::DB* db, std::atomic<std::size_t>& open_snapshots)
      : db_(db), snapshot_(db == nullptr ? nullptr : db->GetSnapshot()), open_snapshots_(open_snapshots) {}
  ~RocksDbSnapshot() override {
    if (db_ != nullptr) db_->ReleaseSnapshot(snapshot_);
    open_snapshots_.fetch_sub(1, std::memory_order_release);
  }
  RocksDbSnapshot(const RocksDbSnapshot&) = delete;
  RocksDbSnapshot& operator=(const RocksDbSnapshot&) = delete;

  Result<std::optional<Bytes>> get(BytesView key) const override { return read(db_, snapshot_, key); }
  std::unique_ptr<Cursor> cursor(const KeyRange& range, Direction direction) const override {
    return std::make_unique<RocksDbCursor>(db_, snapshot_, range, direction);
  }

 private:
  rocksdb::DB* db_;
  const rocksdb::Snapshot* snapshot_;
  std::atomic<std::size_t>& open_snapshots_;
};

class RocksDbStore final : public Store, private StoreFiles {
 public:
  explicit RocksDbStore(RocksDbOptions options)
      : options_(std::move(options)), log_(std::make_shared<LogBridge>()), rocks_(rocksdb_options(options_, log_)) {
    rocks_.listeners.push_back(listener_);
  }

  ~RocksDbStore() override {
    {
      MutexLock lock(sync_mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
    if (thread_.joinable()) thread_.join();
    if (options_.durability == Durability::Relaxed)
      ignore_error(sync(), "closing; the log has what the disk did not take");
    STATOR_ASSERT(open_snapshots_ == 0, "snapshots are destroyed before their store");
  }

  // Once, before anything else.
  Result<void> open() {
    if (options_.read_only) return open_to_read();
    TRY(open_database());
    remove_frozen_files(options_.path);
    if (options_.durability == Durability::Relaxed) thread_ = std::jthread([this] { run_background_sync(); });
    return {};
  }

  Result<std::optional<Bytes>> get(BytesView key) const override {
    std::shared_lock lock(db_mutex_);
    return read(db_.get(), nullptr, key);
  }

  std::unique_ptr<Snapshot> snapshot() const override {
    std::shared_lock lock(db_mutex_);
    open_snapshots_.fetch_add(1, std::memory_order_relaxed);
    return std::make_unique<RocksDbSnapshot>(db_.get(), open_snapshots_);
  }

  Result<CommitSequence> commit(Batch batch) override {
    // The lock is what puts commits in an order, so it is held while the log is written.
    MutexLock lock(commit_mutex_);
    std::shared_lock open(db_mutex_);
    if (failed_) return failed_error();
    const CommitSequence sequence{last_commit_.load(std::memory_order_relaxed) + 1};
    rocksdb::WriteBatch changes(batch_size(batch));
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < batch.operations().size(); ++i) {
      bytes += size_of(batch.operations()[i]);
      TRY(translate(batch, i, sequence, changes));
    }
    put_sequence(changes, sequence);

    const bool synced = options_.durability == Durability::Sync;
    const auto status = write(changes, synced);
    if (!status.ok()) return fail("cannot commit", status);
    last_commit_.store(sequence.value, std::memory_order_release);
    commits_.fetch_add(1, std::memory_order_relaxed);
    bytes_written_.fetch_add(bytes, std::memory_order_relaxed);
    if (synced) {
      syncs_.fetch_add(1, std::memory_order_relaxed);
    } else {
      unsynced_.store(true, std::memory_order_release);
    }
    return sequence;
  }

  CommitSequence last_commit() const override { return {last_commit_.load(std::memory_order_acquire)}; }

  // Under the commit lock: RocksDB stops the process when a log is synced whose last write has failed.
  Result<void> sync() override {
    MutexLock lock(commit_mutex_);
    std::shared_lock open(db_mutex_);
    if (failed_) return failed_error();
    if (listener_->failed()) return fail("cannot sync", listener_->status());
    if (!unsynced_.exchange(false, std::memory_order_acq_rel)) return {};
    const auto status = db_->SyncWAL();
    if (!status.ok()) return fail("cannot sync", status);
    syncs_.fetch_add(1, std::memory_order_relaxed);
    return {};
  }

  // RocksDB's own Resume() can go on behind a half-written record of the log, which would hide everything after it from the
  // next start.  Opening again reads the log up to that record and starts a new one.
  Result<void> recover() override {
    MutexLock lock(commit_mutex_);
    std::unique_lock open(db_mutex_);
    if (options_.read_only) return failed_error();
    if (!failed_ && !listener_->failed()) return {};
    if (db_ != nullptr) {
      std::uint64_t in_log = 0;
      rocksdb::VectorLogPtr logs;
      if (db_->GetSortedWalFiles(logs).ok()) {
        for (const auto& log : logs) in_log += log->SizeFileBytes();
      }
      TRY(probe_disk(options_.path, in_log + kRecoveryHeadroom));
      // Nobody can take another one while we hold the lock, and requests are done with theirs soon.
      const auto deadline = std::chrono::steady_clock::now() + kSnapshotPatience;
      while (open_snapshots_.load(std::memory_order_acquire) > 0) {
        if (std::chrono::steady_clock::now() > deadline) {
          return Error{ErrorCode::Storage, "cannot recover while a snapshot is open"};
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      db_.reset();
    }
    TRY(open_database());
    failed_ = false;
    failure_.clear();
    unsynced_.store(false, std::memory_order_release);
    return {};
  }

  Capabilities capabilities() const override { return {.shared = false, .durable = true}; }

  StoreStatistics statistics() const override {
    std::shared_lock open(db_mutex_);
    return {.commits = commits_.load(std::memory_order_relaxed),
            .syncs = syncs_.load(std::memory_order_relaxed),
            .bytes_written = bytes_written_.load(std::memory_order_relaxed),
            .size_bytes = property("rocksdb.total-sst-files-size") + property("rocksdb.cur-size-all-mem-tables")};
  }

  StoreFiles* files() override { return this; }

 private:
  // -- StoreFiles

  Result<std::vector<DamagedFile>> verify(const Progress& progress) const override {
    const auto live = [this] {
      std::shared_lock open(db_mutex_);
      std::vector<rocksdb::LiveFileMetaData> files;
      if (db_ != nullptr) db_->GetLiveFilesMetaData(&files);
      return files;
    };
    return verify_table_files(
        live(),
        [&](const std::string& name) {
          const auto files = live();
          return std::any_of(files.begin(), files.end(), [&](const auto& file) { return file.name == name; });
        },
        progress);
  }

  Result<std::unique_ptr<FrozenFiles>> freeze() override {
    if (options_.read_only) {
      std::shared_lock open(db_mutex_);
      return freeze_in_place(*db_, options_.path, last_commit());
    }
    {
      // Most of what is in memory goes to disk while commits go on.
      std::shared_lock open(db_mutex_);
      if (db_ != nullptr && !listener_->failed()) ignore_error_of_flush(db_->Flush({}));
    }
    auto files = TRY(freeze_between_commits());
    TRY(files->identify());
    return std::unique_ptr<FrozenFiles>(std::move(files));
  }

  Result<std::unique_ptr<Checkpoint>> freeze_between_commits() {
    MutexLock lock(commit_mutex_);
    std::shared_lock open(db_mutex_);
    if (failed_) return failed_error();
    if (listener_->failed()) return fail("cannot freeze the files", listener_->status());
    return Checkpoint::create(*db_, options_.path, last_commit());
  }

  static void ignore_error_of_flush(const rocksdb::Status& /*status*/) {}  // the second flush answers it

  // -- opening

  Result<void> open_to_read() {
    lock_ = TRY(FolderReadLock::take(options_.path));
    TRY(prepare_data_folder(options_.path));
    rocksdb::DB* db = nullptr;
    const auto status = rocksdb::DB::OpenForReadOnly(rocks_, options_.path, &db);
    if (!status.ok()) return to_error("cannot open data folder " + options_.path, status);
    db_.reset(db);
    last_commit_.store(TRY(read_sequence()).value, std::memory_order_release);
    MutexLock lock(commit_mutex_);
    failed_ = true;
    failure_ = "it was opened to be read only";
    return {};
  }

  Result<void> open_database() {
    TRY(prepare_data_folder(options_.path));
    rocksdb::DB* db = nullptr;
    listener_->forget();
    log_->hold();
    const auto status = rocksdb::DB::Open(rocks_, options_.path, &db);
    log_->let_go(status.ok());
    if (!status.ok()) {
      const auto text = status.ToString();
      if (text.find("lock file") != std::string::npos ||
          text.find("lock hold by current process") != std::string::npos) {
        return Error{ErrorCode::Usage,
                     fmt::format("data folder {} is in use by another stator process", options_.path)};
      }
      return to_error("cannot open data folder " + options_.path, status);
    }
    db_.reset(db);
    auto sequence = read_sequence();
    if (!sequence) {
      db_.reset();
      return std::move(sequence).error();
    }
    last_commit_.store(sequence->value, std::memory_order_release);
    return {};
  }

  Result<CommitSequence> read_sequence() const {
    std::string value;
    const auto status = db_->Get({}, slice(kSequenceKey), &value);
    if (status.IsNotFound()) return CommitSequence{};
    if (!status.ok()) return to_error("cannot read the commit sequence", status);
    if (value.size() != 9 || value[0] != kSequenceVersion) {
      return Error{ErrorCode::Corruption,
                   fmt::format("data folder {}: the commit sequence reads {}", options_.path, hex(value))};
    }
    return CommitSequence{read_u64be(value.data() + 1)};
  }

  static void put_sequence(rocksdb::WriteBatch& changes, CommitSequence sequence) {
    Bytes value(1, kSequenceVersion);
    append_u64be(value, sequence.value);
    changes.Put(slice(kSequenceKey), slice(value));
  }

  static std::size_t batch_size(const Batch& batch) {
    std::size_t size = 64;
    for (const auto& operation : batch.operations()) size += size_of(operation) + 32;
    return size;
  }

  Result<void> translate(Batch& batch, std::size_t index, CommitSequence sequence, rocksdb::WriteBatch& changes) const {
    auto& operation = batch.operations()[index];
    rocksdb::Status status;
    if (operation.kind == Batch::Kind::EraseRange) {
      const auto begin = is_reserved_key(operation.key) ? kFirstUserKey : BytesView(operation.key);
      const auto end = operation.value.empty() ? TRY(end_of_everything(batch, index)) : std::move(operation.value);
      if (end > begin) status = changes.DeleteRange(slice(begin), slice(end));
    } else {
      STATOR_ASSERT(!is_reserved_key(operation.key), "reserved keys belong to the backends");
    }
    switch (operation.kind) {
      case Batch::Kind::PutSequenced: write_sequence(operation.key, operation.sequence_at, sequence); [[fallthrough]];
      case Batch::Kind::Put: status = changes.Put(slice(operation.key), slice(operation.value)); break;
      case Batch::Kind::Erase: status = changes.Delete(slice(operation.key)); break;
      case Batch::Kind::Add:
        status = changes.Merge(slice(operation.key), slice(encode_counter(operation.delta)));
        break;
      case Batch::Kind::EraseRange: break;
    }
    if (!status.ok()) return to_error("cannot commit", status);
    return {};
  }

  // RocksDB wants an end for the range it deletes: the first key above all that are in the store or in `batch` before
  // `index`.
  Result<Bytes> end_of_everything(const Batch& batch, std::size_t index) const {
    Bytes last;
    const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator({}));
    iterator->SeekToLast();
    if (iterator->Valid()) last = view(iterator->key());
    if (!iterator->status().ok()) return to_error("cannot read", iterator->status());
    for (std::size_t i = 0; i < index; ++i) {
      const auto& operation = batch.operations()[i];
      if (operation.kind != Batch::Kind::EraseRange) last = std::max(last, operation.key);
    }
    last.push_back('\0');
    return last;
  }

  // Waits while RocksDB asks for time to catch up with its files, but not when it has failed to.
  rocksdb::Status write(rocksdb::WriteBatch& changes, bool synced) {
    rocksdb::WriteOptions write;
    write.sync = synced;
    write.no_slowdown = true;
    for (;;) {
      if (listener_->failed()) return listener_->status();
      const auto status = db_->Write(write, &changes);
      if (!status.IsIncomplete()) return status;
      std::this_thread::sleep_for(kStallPause);
    }
  }

  Error failed_error() const REQUIRES(commit_mutex_) {
    return {ErrorCode::Storage, "the store failed and has not recovered yet: " + failure_};
  }

  Error fail(BytesView what, const rocksdb::Status& status) REQUIRES(commit_mutex_) {
    auto error = to_error(what, status);
    error.code = ErrorCode::Storage;
    failed_ = true;
    failure_ = error.message;
    return error;
  }

  std::uint64_t property(const char* name) const {
    std::uint64_t value = 0;
    if (db_ != nullptr) db_->GetIntProperty(name, &value);
    return value;
  }

  void run_background_sync() {
    MutexLock lock(sync_mutex_);
    while (!stopping_) {
      wake_.wait_for(sync_mutex_, options_.sync_interval);
      if (unsynced_.load(std::memory_order_acquire)) {
        sync_mutex_.unlock();
        ignore_error(sync(), "the next commit answers it");
        sync_mutex_.lock();
      }
    }
  }

  // Constant after construction.
  const RocksDbOptions options_;
  const std::shared_ptr<LogBridge> log_;
  const std::shared_ptr<FailureListener> listener_ = std::make_shared<FailureListener>();
  rocksdb::Options rocks_;
  std::unique_ptr<FolderReadLock> lock_;  // read-only; otherwise RocksDB itself locks the folder

  // Held shared by all who use the database, alone by recover(), which replaces it.
  mutable std::shared_mutex db_mutex_;
  std::unique_ptr<rocksdb::DB> db_;  // null only when recover() could not open it again; failed_ is true then
  mutable std::atomic<std::size_t> open_snapshots_{0};

  Mutex commit_mutex_;  // before db_mutex_
  bool failed_ GUARDED_BY(commit_mutex_) = false;
  std::string failure_ GUARDED_BY(commit_mutex_);

  std::atomic<std::uint64_t> last_commit_{0};
  std::atomic<std::uint64_t> commits_{0};
  std::atomic<std::uint64_t> syncs_{0};
  std::atomic<std::uint64_t> bytes_written_{0};
  std::atomic<bool> unsynced_{false};

  Mutex sync_mutex_;
  CondVar wake_;
  bool stopping_ GUARDED_BY(sync_mutex_) = false;
  std::jthread thread_;  // last: joined before anything it reads is destroyed
};

}  // namespace

Result<std::unique_ptr<Store>> open_rocksdb_store(const RocksDbOptions& options) {
  auto store = std::make_unique<RocksDbStore>(options);
  TRY(store->open());
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace stator::storage
