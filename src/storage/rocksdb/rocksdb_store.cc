#include "stator/storage/rocksdb/rocksdb_store.h"

#include <fmt/format.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/listener.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <thread>
#include <utility>
#include <vector>

#include "stator/base/log.h"
#include "stator/base/mutex.h"
#include "stator/storage/rocksdb/data_folder.h"
#include "stator/storage/rocksdb/disk_room.h"
#include "stator/storage/rocksdb/file.h"
#include "stator/storage/rocksdb/folder_check.h"
#include "stator/storage/rocksdb/mark_file.h"
#include "stator/storage/rocksdb/rocksdb_options.h"
#include "stator/storage/rocksdb/rocksdb_status.h"
#include "stator/storage/rocksdb/table_files.h"

namespace stator::storage {
namespace {

constexpr BytesView kFirstUserKey("\x01", 1);

// What deletes want at least, where nothing was set aside for them.
constexpr std::uint64_t kLeastReserve = 128ULL << 10;

// What going back to normal wants for the first compaction: all of its input, but at most this, and at most this part
// of the data.  A store that is full again so soon after wants twice as much.
constexpr std::uint64_t kMostCompactionRoom = 64ULL << 20;
constexpr std::uint64_t kCompactionShare = 4;
constexpr std::chrono::seconds kFullAgainSoon{60};
constexpr unsigned kMostDoublings = 10;

constexpr std::chrono::milliseconds kStallPause{1};
// How long recover() keeps new readers waiting for those that have a snapshot.
constexpr std::chrono::milliseconds kSnapshotPatience{100};

rocksdb::Slice slice(BytesView bytes) { return {bytes.data(), bytes.size()}; }
BytesView view(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

Error closed_error() { return {ErrorCode::Storage, "the store is closed after a failure and has not recovered yet"}; }

// Hears when a flush or a compaction fails, and when a read finds damage.  RocksDB would go on taking writes until too
// many files wait for compaction, and then let them hang; we stop at once.  Also hears when the files of the database
// change. Thread-safe.
class FailureListener final : public rocksdb::EventListener {
 public:
  // Before the database is opened.
  void on_new_files(std::function<void(rocksdb::DB&)> call) { new_files_ = std::move(call); }

  void OnFlushCompleted(rocksdb::DB* db, const rocksdb::FlushJobInfo& /*info*/) override { new_files_(*db); }
  void OnCompactionCompleted(rocksdb::DB* db, const rocksdb::CompactionJobInfo& /*info*/) override { new_files_(*db); }

  void OnBackgroundError(rocksdb::BackgroundErrorReason /*reason*/, rocksdb::Status* status) override { note(*status); }

  // A read that fails because a file is damaged tells it here.  Sums over what is no counter are a matter of their own.
  void note_read(const rocksdb::Status& status) {
    if (trouble_of(status) == StoreTrouble::Damaged && !table_in(status.ToString()).empty()) note(status);
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
  void note(const rocksdb::Status& status) {
    MutexLock lock(mutex_);
    // Damage is not forgotten over a disk that was full before.
    if (failed_.load(std::memory_order_relaxed) && !status.IsCorruption()) return;
    status_ = status;
    failed_.store(true, std::memory_order_release);
  }

  std::function<void(rocksdb::DB&)> new_files_;
  mutable Mutex mutex_;
  std::atomic<bool> failed_{false};
  rocksdb::Status status_ GUARDED_BY(mutex_);
};

class RocksDbCursor final : public Cursor {
 public:
  // `db` may be null: the store could not be reopened after a failure.
  RocksDbCursor(rocksdb::DB* db, const rocksdb::Snapshot* snapshot, const KeyRange& range, Direction direction,
                FailureListener& listener)
      : listener_(listener),
        begin_(is_reserved_key(range.begin) ? Bytes(kFirstUserKey) : range.begin),
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
    listener_.note_read(iterator_->status());
    return storage_error("cannot read", iterator_->status());
  }

 private:
  FailureListener& listener_;
  // RocksDB keeps pointers to the bounds.
  const Bytes begin_, end_;
  const rocksdb::Slice begin_slice_, end_slice_;
  const Direction direction_;
  bool failed_ = false;
  std::unique_ptr<rocksdb::Iterator> iterator_;
};

Result<std::optional<Bytes>> read(rocksdb::DB* db, const rocksdb::Snapshot* snapshot, BytesView key,
                                  FailureListener& listener) {
  if (db == nullptr) return closed_error();
  if (is_reserved_key(key)) return std::optional<Bytes>();
  rocksdb::ReadOptions options;
  options.snapshot = snapshot;
  rocksdb::PinnableSlice value;
  const auto status = db->Get(options, db->DefaultColumnFamily(), slice(key), &value);
  if (status.IsNotFound()) return std::optional<Bytes>();
  if (!status.ok()) {
    listener.note_read(status);
    return storage_error("cannot read", status);
  }
  return std::optional<Bytes>(view(value));
}

class RocksDbSnapshot final : public Snapshot {
 public:
  // `db` may be null.  Counts itself in `open_snapshots`, already raised by the caller, until it is destroyed.
  RocksDbSnapshot(rocksdb::DB* db, std::atomic<std::size_t>& open_snapshots, FailureListener& listener)
      : db_(db),
        snapshot_(db == nullptr ? nullptr : db->GetSnapshot()),
        open_snapshots_(open_snapshots),
        listener_(listener) {}
  ~RocksDbSnapshot() override {
    if (db_ != nullptr) db_->ReleaseSnapshot(snapshot_);
    open_snapshots_.fetch_sub(1, std::memory_order_release);
  }
  RocksDbSnapshot(const RocksDbSnapshot&) = delete;
  RocksDbSnapshot& operator=(const RocksDbSnapshot&) = delete;

  Result<std::optional<Bytes>> get(BytesView key) const override { return read(db_, snapshot_, key, listener_); }
  std::unique_ptr<Cursor> cursor(const KeyRange& range, Direction direction) const override {
    return std::make_unique<RocksDbCursor>(db_, snapshot_, range, direction, listener_);
  }

 private:
  rocksdb::DB* db_;
  const rocksdb::Snapshot* snapshot_;
  std::atomic<std::size_t>& open_snapshots_;
  FailureListener& listener_;
};

class RocksDbStore final : public Store, private StoreFiles {
 public:
  explicit RocksDbStore(RocksDbOptions options)
      : options_(std::move(options)),
        owner_(options_.path),
        log_(std::make_shared<LogBridge>()),
        rocks_(rocksdb_options(options_, log_)) {
    listener_->on_new_files([this](rocksdb::DB& db) { note_files(db); });
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
    if (db_ != nullptr && mode_ != Mode::ReadOnly) note_files(*db_);
  }

  // Once, before anything else.
  Result<void> open() {
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

  Result<std::optional<Bytes>> get(BytesView key) const override {
    std::shared_lock lock(db_mutex_);
    return read(db_.get(), nullptr, key, *listener_);
  }

  std::unique_ptr<Snapshot> snapshot() const override {
    std::shared_lock lock(db_mutex_);
    open_snapshots_.fetch_add(1, std::memory_order_relaxed);
    return std::make_unique<RocksDbSnapshot>(db_.get(), open_snapshots_, *listener_);
  }

  Result<CommitSequence> commit(Batch batch) override {
    // The lock is what puts commits in an order, so it is held while the log is written.
    MutexLock lock(commit_mutex_);
    std::shared_lock open(db_mutex_);
    const bool on_reserve = failed_ && mode_ == Mode::OnReserve && batch.is_freeing_space() && !listener_->failed();
    if (failed_ && !on_reserve) return failed_error();
    const CommitSequence sequence{last_commit_.load(std::memory_order_relaxed) + 1};
    rocksdb::WriteBatch changes(batch_size(batch));
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < batch.operations().size(); ++i) {
      bytes += size_of(batch.operations()[i]);
      TRY(translate(batch, i, sequence, changes));
    }
    put_sequence(changes, sequence);

    const bool synced = options_.durability == Durability::Sync || on_reserve;
    const auto status = write(changes, synced);
    if (!status.ok()) return fail("cannot commit", status);
    last_commit_.store(sequence.value, std::memory_order_release);
    commits_.fetch_add(1, std::memory_order_relaxed);
    bytes_written_.fetch_add(bytes, std::memory_order_relaxed);
    if (synced) {
      syncs_.fetch_add(1, std::memory_order_relaxed);
      if (mark_ != nullptr) mark_->acknowledge(sequence);
    } else {
      unsynced_.store(true, std::memory_order_release);
    }
    if (on_reserve) {
      note_erased(batch);
      drop_erased_files(batch);
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
    if (mark_ != nullptr) mark_->acknowledge(last_commit());
    return {};
  }

  // RocksDB's own Resume() can go on behind a half-written record of the log, which would hide everything after it from
  // the next start.  Opening again reads the log up to that record and starts a new one.
  Result<void> recover() override {
    MutexLock lock(commit_mutex_);
    std::unique_lock open(db_mutex_);
    if (options_.read_only) return failed_error();
    if (!failed_ && !listener_->failed()) return {};
    if (!failed_) ignore_error(Result<void>(fail("cannot write", listener_->status())), "noted");
    // Opening again would find the same, and in between take writes that wait for a compaction that cannot be.
    const auto trouble = health_without_keys().trouble;
    if (mode_ == Mode::Normal && trouble == StoreTrouble::DiskFull) note_full();
    if (trouble == StoreTrouble::Damaged) return Error{ErrorCode::Corruption, failure_};
    if (mode_ == Mode::OnReserve) {
      // Readers need not wait for it, and nobody replaces the database meanwhile.
      open.unlock();
      compact_erased();
      open.lock();
    }
    if (db_ != nullptr) {
      const auto in_log = log_bytes();
      const auto for_compaction = trouble == StoreTrouble::DiskFull ? compaction_room() : 0;
      const auto room =
          probe_disk(options_.path, in_log + room_.recovery_headroom + reserve_released_ + for_compaction);
      // What was left of the reserve is of use again when a flush or a compaction has taken too much of it.
      if (!room && trouble == StoreTrouble::DiskFull && mode_ != Mode::OnReserve &&
          (reserve_bytes(options_.path) > 0 || probe_disk(options_.path, kLeastReserve))) {
        return enter_reserve();
      }
      TRY(Result(room));
      TRY(close_database());
    }
    const auto opened = open_database(Mode::Normal);
    if (!opened && disk_is_full_ && db_ == nullptr) {
      // It could be read, so it still can.
      ignore_error(open_database(Mode::ReadOnly), "readers are told that it is closed");
    }
    TRY(Result(opened));
    recovered_at_ = std::chrono::steady_clock::now();
    noted_full_ = false;
    failed_ = false;
    failure_.clear();
    reserve_released_ = 0;
    set_health({});
    unsynced_.store(false, std::memory_order_release);
    return {};
  }

  StoreHealth health() const override {
    auto health = health_without_keys();
    if (!health.file.empty()) health.keys = keys_of(health.file);
    return health;
  }

  Capabilities capabilities() const override { return {.shared = false, .durable = true}; }

  StoreStatistics statistics() const override {
    std::shared_lock open(db_mutex_);
    return {.commits = commits_.load(std::memory_order_relaxed),
            .syncs = syncs_.load(std::memory_order_relaxed),
            .bytes_written = bytes_written_.load(std::memory_order_relaxed),
            .size_bytes = property("rocksdb.total-sst-files-size") + property("rocksdb.cur-size-all-mem-tables"),
            .memory_bytes = property("rocksdb.block-cache-usage") + property("rocksdb.cur-size-all-mem-tables")};
  }

  StoreFiles* files() override { return this; }

 private:
  enum class Mode : std::uint8_t {
    Normal,
    OnReserve,  // the disk is full; what was set aside lets deletes through
    ReadOnly,   // not even those
  };

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
    if (!holds_database(options_.path)) {
      return Error{ErrorCode::Usage, fmt::format("there is no database in {}", options_.path)};
    }
    TRY(prepare_data_folder(options_.path));
    lock_ = TRY(FolderLock::take(options_.path));
    const auto found = TRY(check_folder(options_.path));
    if (!found.damage.empty() && !options_.despite_damage) return damage_error(options_.path, found);
    if (options_.despite_damage) rocks_.paranoid_checks = false;
    rocksdb::DB* db = nullptr;
    const auto status = rocksdb::DB::OpenForReadOnly(rocks_, options_.path, &db);
    if (!status.ok()) return opening_error(status);
    db_.reset(db);
    last_commit_.store(TRY(read_sequence()).value, std::memory_order_release);
    MutexLock lock(commit_mutex_);
    failed_ = true;
    failure_ = "it was opened to be read only";
    return {};
  }

  Error opening_error(const rocksdb::Status& status) const {
    auto error = storage_error("cannot open data folder " + options_.path, status);
    if (status.ToString().find("Permission denied") != std::string::npos) {
      if (const auto owner = foreign_owner(options_.path); !owner.empty()) error.message += "; " + owner;
    }
    return error;
  }

  // Leaves the database closed in case of an error.
  Result<void> open_database(Mode mode) REQUIRES(commit_mutex_) {
    disk_is_full_ = false;
    TRY(prepare_data_folder(options_.path));
    {
      // Not by RocksDB's way of opening it: that deletes the files it has lost track of.
      const auto lock = TRY(FolderLock::take(options_.path));
      const auto found = TRY(check_folder(options_.path));
      if (!found.damage.empty()) return damage_error(options_.path, found);
      if (found.mark_lost) {
        log::warning("no_mark",
                     {{"message", fmt::format("{}/{} is missing or cannot be read: whether the log has lost its end "
                                              "cannot be told; a new one is made",
                                              options_.path, kMarkName)}});
      }
      if (found.is_new && !read_format(options_.path)) TRY(write_format(options_.path));
    }
    fit_disk();
    auto options = rocks_;
    if (mode == Mode::OnReserve) {
      // As little as possible is written: no table from the log, however long that is, and no compaction.
      options.avoid_flush_during_recovery = true;
      options.write_buffer_size += 2 * log_bytes();
      options.disable_auto_compactions = true;
      TRY(sync_logs());
    }
    rocksdb::DB* db = nullptr;
    listener_->forget();
    log_->hold();
    const auto status = mode == Mode::ReadOnly ? rocksdb::DB::OpenForReadOnly(options, options_.path, &db)
                                               : rocksdb::DB::Open(options, options_.path, &db);
    log_->let_go(status.ok());
    if (!status.ok()) {
      if (is_in_use(status)) {
        return Error{ErrorCode::Usage,
                     fmt::format("data folder {} is in use by another stator process", options_.path)};
      }
      disk_is_full_ = trouble_of(status) == StoreTrouble::DiskFull;
      return opening_error(status);
    }
    db_.reset(db);
    auto sequence = read_sequence();
    if (!sequence) {
      db_.reset();
      return std::move(sequence).error();
    }
    last_commit_.store(sequence->value, std::memory_order_release);
    mode_ = mode;
    if (mode == Mode::ReadOnly) return {};
    if (mode == Mode::Normal) make_reserve(options_.path, room_.reserve);
    keep_mark(*sequence);
    note_files(*db_);
    return {};
  }

  // Once the folder is there.
  void fit_disk() REQUIRES(commit_mutex_) {
    room_ = DiskRoom::in(options_.path, options_.write_buffer_bytes);
    rocks_.write_buffer_size = room_.write_buffer;
    rocks_.arena_block_size = arena_block_bytes(room_.write_buffer);
    rocks_.target_file_size_base = room_.table_file;
    if (room_.bytes >= DiskRoom::kLeast || std::exchange(told_small_, true)) return;
    log::warning("small_disk",
                 {{"message",
                   fmt::format("the disk has {:.1f} MB for {}, and with less than {} MB deletes may be refused "
                               "once it is full: give it more room",
                               static_cast<double>(room_.bytes) / (1 << 20), options_.path, DiskRoom::kLeast >> 20)}});
  }

  std::uint64_t log_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto number : FolderListing::of(options_.path).logs) {
      bytes += File(options_.path + "/" + log_name(number), O_RDONLY).size();
    }
    return bytes;
  }

  // Everything that was in the logs is on disk by now.
  void keep_mark(CommitSequence sequence) REQUIRES(commit_mutex_) {
    auto mark = MarkFile::open(options_.path);
    MutexLock lock(mark_mutex_);
    if (!mark) {
      mark_.reset();
      return log::warning("no mark is kept, and a log that loses its end will not be noticed",
                          {{"cause", mark.error().message}});
    }
    mark_ = std::move(*mark);
    mark_->acknowledge(sequence);
  }

  void note_files(rocksdb::DB& db) {
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

  // A disk that was full when the store was opened: deletes from the reserve, or else reading.
  Result<void> open_on_full_disk(const Error& cause) REQUIRES(commit_mutex_) {
    auto opened = Result<void>(cause);
    // A start before this one may have given the reserve up, and left some of it.
    if (take_reserve() || probe_disk(options_.path, kLeastReserve)) opened = open_database(Mode::OnReserve);
    if (!opened) opened = open_database(Mode::ReadOnly);
    TRY(std::move(opened));
    failed_ = true;
    failure_ = cause.message;
    set_health({.trouble = StoreTrouble::DiskFull, .cause = cause.message});
    log::error("the disk is full; the database is read-only", {{"cause", cause.message}});
    return {};
  }

  // The disk is full, and what was set aside for it is free now.  Still read-only for all but deletes.
  Result<void> enter_reserve() REQUIRES(commit_mutex_) {
    const Error full{ErrorCode::Storage, failure_};
    TRY(close_database());
    take_reserve();
    if (!open_database(Mode::OnReserve)) TRY(open_database(Mode::ReadOnly));
    return full;
  }

  bool take_reserve() REQUIRES(commit_mutex_) {
    const auto bytes = reserve_bytes(options_.path);
    if (bytes == 0 || !release_reserve(options_.path)) return false;
    reserve_released_ += bytes;
    return true;
  }

  void note_erased(const Batch& batch) REQUIRES(commit_mutex_) {
    for (const auto& operation : batch.operations()) {
      const bool range = operation.kind == Batch::Kind::EraseRange;
      if (!range && operation.kind != Batch::Kind::Erase) continue;
      const auto end = range ? operation.value : operation.key + Bytes(1, '\0');
      erased_.begin = erased_.begin.empty() ? operation.key : std::min(erased_.begin, operation.key);
      erased_.end = std::max(erased_.end, end);
    }
  }

  // Gives back the room of what was erased on the reserve, as far as what is left of it allows: a compaction writes the
  // files that remain before it deletes those it has read.
  void compact_erased() REQUIRES(commit_mutex_) {
    const auto erased = std::exchange(erased_, {});
    if (db_ == nullptr || erased.end.empty() || listener_->failed()) return;
    const auto fits = [&](std::uint64_t bytes) {
      return bytes + room_.compaction_headroom < free_bytes(options_.path);
    };
    if (!fits(property("rocksdb.cur-size-all-mem-tables")) || !db_->Flush({}).ok()) return;
    std::vector<rocksdb::LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    for (const auto& file : files) {
      if (file.largestkey < erased.begin || file.smallestkey >= erased.end) continue;
      if (!fits(bytes_compacted_with(file, files))) continue;
      rocksdb::CompactRangeOptions compact;
      compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
      const rocksdb::Slice begin(file.smallestkey);
      const rocksdb::Slice end(file.largestkey);
      if (!db_->CompactRange(compact, &begin, &end).ok()) return;
    }
  }

  // A file of level 0 may span all of the keys, and takes everything that it meets along.
  static std::uint64_t bytes_compacted_with(const rocksdb::LiveFileMetaData& file,
                                            const std::vector<rocksdb::LiveFileMetaData>& files) {
    auto first = file.smallestkey;
    auto last = file.largestkey;
    for (std::uint64_t bytes = 0;;) {
      std::uint64_t found = 0;
      for (const auto& other : files) {
        if (other.largestkey < first || other.smallestkey > last) continue;
        found += other.size;
        first = std::min(first, other.smallestkey);
        last = std::max(last, other.largestkey);
      }
      if (found == bytes) return bytes;
      bytes = found;
    }
  }

  // Once for every time that the disk gets full.
  void note_full() REQUIRES(commit_mutex_) {
    if (std::exchange(noted_full_, true)) return;
    const bool soon = recovered_at_ && std::chrono::steady_clock::now() - *recovered_at_ < kFullAgainSoon;
    full_again_ = soon ? std::min(full_again_ + 1, kMostDoublings) : 0;
  }

  // Otherwise the first compaction would fill the disk again, and the store would fail and recover again and again.
  std::uint64_t compaction_room() const REQUIRES(commit_mutex_) {
    std::vector<rocksdb::LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    std::uint64_t data = 0;
    std::uint64_t input = 0;  // of level 0, and what it is merged with
    for (const auto& file : files) {
      data += file.size;
      const bool merged =
          file.level == 0 || std::any_of(files.begin(), files.end(), [&](const auto& other) {
            return other.level == 0 && other.largestkey >= file.smallestkey && other.smallestkey <= file.largestkey;
          });
      if (merged) input += file.size;
    }
    return std::min(input, std::min(kMostCompactionRoom, data / kCompactionShare) << full_again_);
  }

  // Nobody can take another snapshot while we hold the lock, and requests are done with theirs soon.
  Result<void> close_database() {
    const auto deadline = std::chrono::steady_clock::now() + kSnapshotPatience;
    while (open_snapshots_.load(std::memory_order_acquire) > 0) {
      if (std::chrono::steady_clock::now() > deadline) {
        return Error{ErrorCode::Storage, "cannot recover while a snapshot is open"};
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    db_.reset();
    return {};
  }

  // What is read from a log that is not replayed into a table must be on disk before anything builds on it.
  Result<void> sync_logs() const {
    for (const auto number : FolderListing::of(options_.path).logs) {
      const auto path = options_.path + "/" + log_name(number);
      const File file(path, O_RDWR);
      if (!file.is_open() || !file.sync()) return system_error("cannot sync", path, errno);
    }
    return {};
  }

  // Files that hold nothing but what a batch has erased need no compaction to go.  Readers with a snapshot may still
  // need them.
  void drop_erased_files(const Batch& batch) REQUIRES(commit_mutex_) {
    if (open_snapshots_.load(std::memory_order_acquire) > 0) return;
    for (const auto& operation : batch.operations()) {
      if (operation.kind != Batch::Kind::EraseRange || operation.value.empty()) continue;
      const auto first = is_reserved_key(operation.key) ? kFirstUserKey : BytesView(operation.key);
      if (operation.value <= first) continue;
      const auto begin = slice(first);
      const auto end = slice(operation.value);
      rocksdb::DeleteFilesInRange(db_.get(), db_->DefaultColumnFamily(), &begin, &end, false).PermitUncheckedError();
    }
  }

  // Between the first and the last key of a table file.
  KeyRange keys_of(const std::string& file) const {
    std::shared_lock open(db_mutex_);
    if (db_ == nullptr) return {};
    std::vector<rocksdb::LiveFileMetaData> tables;
    db_->GetLiveFilesMetaData(&tables);
    for (const auto& table : tables) {
      if (table.name.ends_with(file)) return {table.smallestkey, table.largestkey + Bytes(1, '\0')};
    }
    return {};
  }

  void set_health(StoreHealth health) {
    MutexLock lock(health_mutex_);
    health_ = std::move(health);
  }

  StoreHealth health_without_keys() const {
    if (listener_->failed()) {
      const auto status = listener_->status();
      return {.trouble = trouble_of(status), .cause = status.ToString(), .file = table_in(status.ToString())};
    }
    MutexLock lock(health_mutex_);
    return health_;
  }

  Result<CommitSequence> read_sequence() const {
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
      const auto end = operation.value.empty() ? TRY(end_of_everything(batch, index)) : operation.value;
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
    if (!status.ok()) return storage_error("cannot commit", status);
    return {};
  }

  // RocksDB wants an end for the range it deletes: the first key above all that are in the store or in `batch` before
  // `index`.
  Result<Bytes> end_of_everything(const Batch& batch, std::size_t index) const {
    Bytes last;
    const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator({}));
    iterator->SeekToLast();
    if (iterator->Valid()) last = view(iterator->key());
    if (!iterator->status().ok()) return storage_error("cannot read", iterator->status());
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
    auto error = storage_error(what, status);
    failed_ = true;
    failure_ = error.message;
    if (mode_ == Mode::OnReserve) mode_ = Mode::ReadOnly;  // and that was the reserve
    set_health({.trouble = trouble_of(status), .cause = error.message, .file = table_in(error.message)});
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
  const OwnerGuard owner_;  // before db_: what that writes while it is closed counts
  const std::shared_ptr<LogBridge> log_;
  const std::shared_ptr<FailureListener> listener_ = std::make_shared<FailureListener>();
  rocksdb::Options rocks_;
  std::unique_ptr<FolderLock> lock_;  // read-only; otherwise RocksDB itself locks the folder

  mutable Mutex health_mutex_;
  StoreHealth health_ GUARDED_BY(health_mutex_);

  // Before db_, whose background threads use it until they have ended.  Replaced under commit_mutex_ as well, which is
  // enough to acknowledge a commit.  May be null.
  Mutex mark_mutex_;
  std::unique_ptr<MarkFile> mark_;

  // Held shared by all who use the database, alone by recover(), which replaces it.
  mutable std::shared_mutex db_mutex_;
  std::unique_ptr<rocksdb::DB> db_;  // null only when recover() could not open it again; failed_ is true then
  mutable std::atomic<std::size_t> open_snapshots_{0};

  Mutex commit_mutex_;  // before db_mutex_
  bool failed_ GUARDED_BY(commit_mutex_) = false;
  std::string failure_ GUARDED_BY(commit_mutex_);
  Mode mode_ GUARDED_BY(commit_mutex_) = Mode::Normal;
  DiskRoom room_ GUARDED_BY(commit_mutex_);
  bool told_small_ GUARDED_BY(commit_mutex_) = false;
  bool disk_is_full_ GUARDED_BY(commit_mutex_) = false;           // why open_database() has failed
  std::uint64_t reserve_released_ GUARDED_BY(commit_mutex_) = 0;  // bytes to be set aside again before all is well
  bool noted_full_ GUARDED_BY(commit_mutex_) = false;             // since it last recovered
  unsigned full_again_ GUARDED_BY(commit_mutex_) = 0;             // how often it was full soon after it had recovered
  std::optional<std::chrono::steady_clock::time_point> recovered_at_ GUARDED_BY(commit_mutex_);
  KeyRange erased_ GUARDED_BY(commit_mutex_);  // on the reserve, and not compacted since; empty: nothing

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
