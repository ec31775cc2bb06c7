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
      values_(options_.value_cache_bytes) {
  listener_->on_new_files([this](rocksdb::DB& db) { note_files(db); });
  rocks_.listeners.push_back(listener_);
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
  STATOR_ASSERT(open_snapshots_ == 0, "snapshots are destroyed before their store");
  if (db_ != nullptr && mode_ != Mode::ReadOnly) note_files(*db_);
}

Result<std::optional<Bytes>> RocksDbStore::get(BytesView key) const {
  ValueCache::Miss miss;
  if (auto value = values_.find(key, miss)) return value;
  std::shared_lock lock(db_mutex_);
  auto value = TRY(read(db_.get(), nullptr, key, *listener_));
  if (value) values_.fill(key, *value, miss);
  return value;
}

std::unique_ptr<Snapshot> RocksDbStore::snapshot() const {
  std::shared_lock lock(db_mutex_);
  open_snapshots_.fetch_add(1, std::memory_order_relaxed);
  return take_snapshot(db_.get(), open_snapshots_, *listener_);
}

Result<CommitSequence> RocksDbStore::commit(Batch batch) {
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
  ValueCache::Change change(values_, batch);
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
  if (on_reserve) drop_erased_files(batch);
  change.done(batch);
  return sequence;
}

Result<void> RocksDbStore::advance_to(CommitSequence least) {
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
  last_commit_.store(least.value, std::memory_order_release);
  if (mark_ != nullptr) mark_->acknowledge(least);
  return {};
}

Result<void> RocksDbStore::sync() {
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

Result<void> RocksDbStore::recover() {
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
    compact_deleted();
    open.lock();
  }
  if (db_ != nullptr) {
    const auto in_log = log_bytes();
    const auto for_compaction = trouble == StoreTrouble::DiskFull ? compaction_room() : 0;
    const auto room = probe_disk(options_.path, in_log + room_.recovery_headroom + reserve_released_ + for_compaction);
    // What was left of the reserve is of use again when a flush or a compaction has taken too much of it.
    if (!room && trouble == StoreTrouble::DiskFull && mode_ != Mode::OnReserve &&
        (reserve_bytes(options_.path) > 0 || (free_bytes(options_.path).value_or(0) > too_little_for_reserve_ &&
                                              probe_disk(options_.path, DiskRoom::kLeastReserve)))) {
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
  too_little_for_reserve_ = 0;
  set_health({});
  unsynced_.store(false, std::memory_order_release);
  return {};
}

StoreHealth RocksDbStore::health() const {
  auto health = health_without_keys();
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
                          values_.size_bytes()};
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
  MutexLock lock(commit_mutex_);
  std::shared_lock open(db_mutex_);
  if (failed_) return failed_error();
  if (listener_->failed()) return fail("cannot freeze the files", listener_->status());
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

std::size_t RocksDbStore::batch_size(const Batch& batch) {
  std::size_t size = 64;
  for (const auto& operation : batch.operations()) size += size_of(operation) + 32;
  return size;
}

Result<void> RocksDbStore::translate(Batch& batch, std::size_t index, CommitSequence sequence,
                                     rocksdb::WriteBatch& changes) const {
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
    case Batch::Kind::Add: status = changes.Merge(slice(operation.key), slice(encode_counter(operation.delta))); break;
    case Batch::Kind::EraseRange: break;
  }
  if (!status.ok()) return storage_error("cannot commit", status);
  return {};
}

Result<Bytes> RocksDbStore::end_of_everything(const Batch& batch, std::size_t index) const {
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

rocksdb::Status RocksDbStore::write(rocksdb::WriteBatch& changes, bool synced) {
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
