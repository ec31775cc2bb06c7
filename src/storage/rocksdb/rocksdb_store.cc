#include "stator/storage/rocksdb/rocksdb_store.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "stator/base/log.h"
#include "stator/storage/rocksdb/rocksdb_reads.h"
#include "stator/storage/rocksdb/rocksdb_status.h"
#include "stator/storage/rocksdb/rocksdb_store_impl.h"

namespace stator::storage {
namespace {

constexpr std::chrono::milliseconds kStallPause{1};

}  // namespace

RocksDbStore::RocksDbStore(RocksDbOptions options)
    : options_(std::move(options)),
      owner_(options_.path),
      log_(std::make_shared<LogBridge>()),
      rocks_(rocksdb_options(options_, log_)),
      cache_(options_.read_only ? 0 : options_.range_cache_bytes) {
  listener_->on_new_files([this](rocksdb::DB& db) {
    note_files(db);
    if (!has_few_new_files(db)) release_floor(db);
  });
  rocks_.listeners.push_back(listener_);
  rocks_.env = env_.get();
}

RocksDbStore::~RocksDbStore() {
  {
    MutexLock lock(sync_mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
  if (options_.durability == Durability::Relaxed)
    ignore_error(sync(), "closing; the log has what the disk did not take");
  cache_.close().reset();
  forget_unpublished();
  STATOR_ASSERT(open_snapshots_ == 0, "snapshots are destroyed before their store");
  if (db_ == nullptr) return;
  if (mode_ != Mode::ReadOnly) note_files(*db_);
  release_floor(*db_);
}

Result<std::optional<Bytes>> RocksDbStore::get(BytesView key) const { return open_view().get(key); }

std::unique_ptr<Snapshot> RocksDbStore::snapshot() const { return RangeCache::View::snapshot(open_view()); }

RangeCache::View RocksDbStore::open_view() const {
  if (auto view = cache_.view(); view.is_open()) return view;
  std::shared_lock lock(db_mutex_);
  return cache_.view();
}

std::shared_ptr<const Snapshot> RocksDbStore::new_base() { return take_snapshot(*db_, open_snapshots_, *listener_); }

Result<std::optional<Bytes>> RocksDbStore::get_written(BytesView key) const {
  std::shared_ptr<const Snapshot> written;
  {
    MutexLock lock(unpublished_mutex_);
    written = newest_base_;
  }
  return written != nullptr ? written->get(key) : get(key);
}

Result<CommitSequence> RocksDbStore::commit(Batch batch) {
  MutexLock publishing(publish_mutex_);
  MutexLock lock(commit_mutex_);
  std::shared_lock open(db_mutex_);
  const bool on_reserve = failed_ && mode_ == Mode::OnReserve && batch.is_freeing_space() && !listener_->failed();
  if (failed_ && !on_reserve) return failed_error();
  Batch erased;
  if (on_reserve) erased = batch;
  const auto sequence = TRY(write_next(std::move(batch), on_reserve));
  if (const auto status = publish_written(); !status.ok()) return fail_published(status);
  if (on_reserve) drop_erased_files(erased);
  return sequence;
}

Result<CommitSequence> RocksDbStore::write(Batch batch) {
  if (!capabilities().two_steps) return commit(std::move(batch));
  MutexLock lock(commit_mutex_);
  std::shared_lock open(db_mutex_);
  if (failed_) return failed_error();
  return write_next(std::move(batch), /*synced=*/false);
}

Result<void> RocksDbStore::publish(CommitSequence sequence) {
  MutexLock publishing(publish_mutex_);
  if (last_commit() >= sequence) return {};
  std::shared_lock open(db_mutex_);
  const auto status = lost_written_ ? rocksdb::Status::OK() : publish_written();
  if (status.ok() && last_commit() >= sequence) return {};
  MutexLock lock(commit_mutex_);
  return status.ok() ? failed_error() : fail_published(status);
}

Result<CommitSequence> RocksDbStore::write_next(Batch batch, bool synced) {
  const CommitSequence sequence{last_written_.value + 1};
  rocksdb::WriteBatch changes(batch_size(batch));
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < batch.operations().size(); ++i) {
    bytes += size_of(batch.operations()[i]);
    // Commits that were written before and are not published fail with it, as after a write that fails.
    if (const auto status = translate(batch, i, sequence, changes); !status.ok()) return fail("cannot commit", status);
  }
  if (options_.durability == Durability::Sync) note_synced(changes, last_commit());
  put_sequence(changes, sequence);
  const auto status = write_changes(changes, synced);
  if (!status.ok()) return fail("cannot commit", status);
  last_written_ = sequence;
  bytes_written_.fetch_add(bytes, std::memory_order_relaxed);
  auto base = new_base();
  MutexLock lock(unpublished_mutex_);
  newest_base_ = base;
  unpublished_.push_back({sequence, std::move(batch), std::move(base)});
  return sequence;
}

rocksdb::Status RocksDbStore::publish_written() {
  std::vector<Unpublished> written;
  {
    MutexLock lock(unpublished_mutex_);
    written.swap(unpublished_);
  }
  if (written.empty()) return rocksdb::Status::OK();
  const auto last = written.back().sequence;
  if (options_.durability == Durability::Sync) {
    if (auto status = logs_->sync(); !status.ok()) {
      // Later commits that were written behind it depend on it.
      lost_written_ = true;
      return status;
    }
    syncs_.fetch_add(1, std::memory_order_relaxed);
    if (mark_ != nullptr) mark_->acknowledge(last);
  } else {
    unsynced_.store(true, std::memory_order_release);
  }
  {
    MutexLock lock(showing_mutex_);
    for (auto& commit : written) cache_.commit(commit.batch, std::move(commit.base));
    last_commit_.store(last.value, std::memory_order_release);
  }
  commits_.fetch_add(written.size(), std::memory_order_relaxed);
  return rocksdb::Status::OK();
}

void RocksDbStore::forget_unpublished() {
  MutexLock lock(unpublished_mutex_);
  unpublished_.clear();
  newest_base_.reset();
}

Result<void> RocksDbStore::advance_to(CommitSequence least) {
  MutexLock publishing(publish_mutex_);
  MutexLock lock(commit_mutex_);
  std::shared_lock open(db_mutex_);
  if (failed_) return failed_error();
  if (last_commit() >= least) return {};
  rocksdb::WriteBatch changes;
  put_sequence(changes, least);
  // Not in the log, where the numbers of commits have no gaps: a missing one is damage.  A table may begin anywhere.
  rocksdb::WriteOptions unlogged;
  unlogged.disableWAL = true;
  auto status = db_->Write(unlogged, &changes);
  if (status.ok()) status = db_->Flush({});
  if (!status.ok()) return fail("cannot commit", status);
  last_written_ = least;
  last_commit_.store(least.value, std::memory_order_release);
  if (mark_ != nullptr) mark_->acknowledge(least);
  return {};
}

Result<void> RocksDbStore::sync() {
  MutexLock publishing(publish_mutex_);
  MutexLock lock(commit_mutex_);
  std::shared_lock open(db_mutex_);
  if (failed_) return failed_error();
  if (listener_->failed()) return fail("cannot sync", listener_->status());
  if (!unsynced_.exchange(false, std::memory_order_acq_rel)) return {};
  const auto status = logs_->sync();
  if (!status.ok()) return fail("cannot sync", status);
  syncs_.fetch_add(1, std::memory_order_relaxed);
  if (mark_ != nullptr) mark_->acknowledge(last_commit());
  return {};
}

Result<void> RocksDbStore::recover() {
  MutexLock publishing(publish_mutex_);
  MutexLock lock(commit_mutex_);
  std::unique_lock open(db_mutex_);
  if (options_.read_only) return failed_error();
  if (!failed_ && !listener_->failed()) return {};
  if (!failed_) ignore_error(Result<void>(fail("cannot write", listener_->status())), "noted");
  // Opening again would find the same, and in between take writes that wait for a compaction that cannot be.
  const auto trouble = health_without_keys().trouble;
  if (mode_ == Mode::Normal && trouble == StoreTrouble::DiskFull) note_full();
  if (trouble == StoreTrouble::Damaged) return Error{ErrorCode::Corruption, failure_};
  if (trouble == StoreTrouble::TakenOver) return Error{ErrorCode::Storage, failure_};
  forget_unpublished();  // whether the disk has it, opening again tells
  lost_written_ = false;
  if (mode_ == Mode::OnReserve) {
    // Readers need not wait for it, and nobody replaces the database meanwhile.
    open.unlock();
    compact_deleted();
    open.lock();
  }
  if (db_ != nullptr) {
    const auto in_log = log_bytes();
    const auto for_compaction = trouble == StoreTrouble::DiskFull ? compaction_room() : 0;
    const auto room = probe_disk(options_.path, in_log + room_.recovery_headroom + reserve_released_ + for_compaction);
    // The rest of the reserve is useful again when a flush or a compaction has taken too much of it.
    if (!room && trouble == StoreTrouble::DiskFull && mode_ != Mode::OnReserve &&
        (reserve_bytes(options_.path) > 0 || (free_bytes(options_.path).value_or(0) > too_little_for_reserve_ &&
                                              probe_disk(options_.path, DiskRoom::kLeastReserve)))) {
      return enter_reserve();
    }
    TRY(Result(room));
    TRY(close_database());
  }
  if (auto opened = open_database(Mode::Normal); !opened) return go_on_reading(std::move(opened).error());
  readable_ = true;
  recovered_at_ = std::chrono::steady_clock::now();
  noted_full_ = false;
  failed_ = false;
  failure_.clear();
  reserve_released_ = 0;
  too_little_for_reserve_ = 0;
  set_health({});
  unsynced_.store(false, std::memory_order_release);
  return {};
}

Error RocksDbStore::go_on_reading(Error cause) {
  if (lock_ == nullptr) {
    auto lock = FolderLock::take(options_.path);
    if (!lock) return give_up_folder(std::move(lock).error());
    lock_ = std::move(*lock);
  }
  remove_files_of_failed_openings();
  // Opening a damaged folder to read it would fail as well, and that is good: acknowledged commits are missing, and a
  // reader would get the values before them as if they were the newest.
  auto opened = cause.code == ErrorCode::Corruption ? Result<void>(cause) : open_database(Mode::ReadOnly);
  readable_ = opened.ok();
  if (opened) return cause;
  mode_ = Mode::ReadOnly;
  if (opened.error().code != ErrorCode::Corruption) return cause;
  failure_ = opened.error().message;
  listener_->forget();
  set_health({.trouble = StoreTrouble::Damaged, .cause = failure_, .file = table_in(failure_)});
  return std::move(opened).error();
}

Error RocksDbStore::give_up_folder(Error cause) {
  readable_ = false;
  mode_ = Mode::ReadOnly;
  if (cause.code != ErrorCode::Usage) return cause;
  failure_ = cause.message;
  listener_->forget();
  set_health({.trouble = StoreTrouble::TakenOver, .cause = failure_});
  return {ErrorCode::Storage, failure_};
}

StoreHealth RocksDbStore::health() const {
  auto health = health_without_keys();
  health.readable = readable_;
  if (!health.file.empty()) health.keys = keys_of(health.file);
  return health;
}

StoreStatistics RocksDbStore::statistics() const {
  std::shared_lock open(db_mutex_);
  return {.commits = commits_.load(std::memory_order_relaxed),
          .syncs = syncs_.load(std::memory_order_relaxed),
          .bytes_written = bytes_written_.load(std::memory_order_relaxed),
          .size_bytes = property("rocksdb.total-sst-files-size") + property("rocksdb.cur-size-all-mem-tables"),
          .memory_bytes = property("rocksdb.block-cache-usage") + property("rocksdb.cur-size-all-mem-tables") +
                          cache_.size_bytes()};
}

Result<std::vector<DamagedFile>> RocksDbStore::verify(const Progress& progress) const {
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

Result<std::unique_ptr<FrozenFiles>> RocksDbStore::freeze() {
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

Result<std::unique_ptr<Checkpoint>> RocksDbStore::freeze_between_commits() {
  MutexLock publishing(publish_mutex_);
  MutexLock lock(commit_mutex_);
  std::shared_lock open(db_mutex_);
  if (failed_) return failed_error();
  if (listener_->failed()) return fail("cannot freeze the files", listener_->status());
  if (const auto status = publish_written(); !status.ok()) return fail_published(status);
  return Checkpoint::create(*db_, options_.path, last_commit());
}

KeyRange RocksDbStore::keys_of(const std::string& file) const {
  std::shared_lock open(db_mutex_);
  if (db_ == nullptr) return {};
  std::vector<rocksdb::LiveFileMetaData> tables;
  db_->GetLiveFilesMetaData(&tables);
  for (const auto& table : tables) {
    if (table.name.ends_with(file)) return {table.smallestkey, table.largestkey + Bytes(1, '\0')};
  }
  return {};
}

void RocksDbStore::set_health(StoreHealth health) {
  MutexLock lock(health_mutex_);
  health_ = std::move(health);
}

StoreHealth RocksDbStore::health_without_keys() const {
  if (listener_->failed()) {
    const auto status = listener_->status();
    return {.trouble = trouble_of(status), .cause = status.ToString(), .file = table_in(status.ToString())};
  }
  MutexLock lock(health_mutex_);
  return health_;
}

void RocksDbStore::put_sequence(rocksdb::WriteBatch& changes, CommitSequence sequence) {
  Bytes value(1, kSequenceVersion);
  append_u64be(value, sequence.value);
  changes.Put(slice(kSequenceKey), slice(value));
}

void RocksDbStore::note_synced(rocksdb::WriteBatch& changes, CommitSequence synced) {
  Bytes note(kSyncedNote);
  append_u64be(note, synced.value);
  changes.PutLogData(slice(note));
}

std::size_t RocksDbStore::batch_size(const Batch& batch) {
  std::size_t size = 64;
  for (const auto& operation : batch.operations()) size += size_of(operation) + 32;
  return size;
}

rocksdb::Status RocksDbStore::translate(Batch& batch, std::size_t index, CommitSequence sequence,
                                        rocksdb::WriteBatch& changes) const {
  auto& operation = batch.operations()[index];
  STATOR_ASSERT(operation.kind == Batch::Kind::EraseRange || !is_reserved_key(operation.key),
                "reserved keys belong to the backends");
  switch (operation.kind) {
    case Batch::Kind::PutSequenced: write_sequence(operation.key, operation.sequence_at, sequence); [[fallthrough]];
    case Batch::Kind::Put: return changes.Put(slice(operation.key), slice(operation.value));
    case Batch::Kind::Erase: return changes.Delete(slice(operation.key));
    case Batch::Kind::Add: return changes.Merge(slice(operation.key), slice(encode_counter(operation.delta)));
    case Batch::Kind::EraseRange: break;
  }
  const auto begin = is_reserved_key(operation.key) ? kFirstUserKey : BytesView(operation.key);
  auto end = operation.value;
  if (end.empty()) {
    if (auto status = find_end_of_everything(batch, index, end); !status.ok()) return status;
  }
  return end > begin ? changes.DeleteRange(slice(begin), slice(end)) : rocksdb::Status::OK();
}

rocksdb::Status RocksDbStore::find_end_of_everything(const Batch& batch, std::size_t index, Bytes& end) const {
  const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator({}));
  iterator->SeekToLast();
  if (iterator->Valid()) end = view(iterator->key());
  if (!iterator->status().ok()) return iterator->status();
  for (std::size_t i = 0; i < index; ++i) {
    const auto& operation = batch.operations()[i];
    if (operation.kind != Batch::Kind::EraseRange) end = std::max(end, operation.key);
  }
  end.push_back('\0');
  return rocksdb::Status::OK();
}

rocksdb::Status RocksDbStore::write_changes(rocksdb::WriteBatch& changes, bool synced) {
  rocksdb::WriteOptions write;
  write.sync = synced;
  write.no_slowdown = true;
  for (;;) {
    if (listener_->failed()) return listener_->status();
    const auto status = db_->Write(write, &changes);
    if (!status.IsIncomplete()) return status;
    options_.clock->wait(kStallPause);
  }
}

Error RocksDbStore::failed_error() const {
  return {ErrorCode::Storage, "the store failed and has not recovered yet: " + failure_};
}

Error RocksDbStore::fail(BytesView what, const rocksdb::Status& status) {
  auto error = storage_error(what, status);
  failed_ = true;
  failure_ = error.message;
  if (mode_ == Mode::OnReserve) mode_ = Mode::ReadOnly;  // and that was the reserve
  set_health({.trouble = trouble_of(status), .cause = error.message, .file = table_in(error.message)});
  return error;
}

Error RocksDbStore::fail_published(const rocksdb::Status& status) {
  auto error = fail("cannot commit", status);
  // Not before: until writes are refused, they read what was written before them.
  forget_unpublished();
  return error;
}

std::uint64_t RocksDbStore::property(const char* name) const {
  std::uint64_t value = 0;
  if (db_ != nullptr) db_->GetIntProperty(name, &value);
  return value;
}

void RocksDbStore::run_background_sync() {
  MutexLock lock(sync_mutex_);
  while (!stopping_) {
    options_.clock->wait_for(wake_, sync_mutex_, options_.sync_interval);
    if (unsynced_.load(std::memory_order_acquire)) {
      sync_mutex_.unlock();
      ignore_error(sync(), "the next commit answers it");
      sync_mutex_.lock();
    }
  }
}

Result<std::unique_ptr<Store>> open_rocksdb_store(const RocksDbOptions& options) {
  auto store = std::make_unique<RocksDbStore>(options);
  TRY(store->open());
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace stator::storage
