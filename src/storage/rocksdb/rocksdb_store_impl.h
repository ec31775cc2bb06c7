#pragma once

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "stator/base/mutex.h"
#include "stator/storage/rocksdb/cache/range_cache.h"
#include "stator/storage/rocksdb/data_folder.h"
#include "stator/storage/rocksdb/disk_room.h"
#include "stator/storage/rocksdb/failure_listener.h"
#include "stator/storage/rocksdb/folder_check.h"
#include "stator/storage/rocksdb/log_sync.h"
#include "stator/storage/rocksdb/mark_file.h"
#include "stator/storage/rocksdb/replay_filter.h"
#include "stator/storage/rocksdb/rocksdb_options.h"
#include "stator/storage/rocksdb/rocksdb_store.h"
#include "stator/storage/rocksdb/table_files.h"

namespace stator::storage {

// The store behind open_rocksdb_store().  rocksdb_store.cc has the daily work, rocksdb_opening.cc opens and closes it,
// rocksdb_full_disk.cc handles a full disk.
class RocksDbStore final : public Store, private StoreFiles {
 public:
  explicit RocksDbStore(RocksDbOptions options);
  ~RocksDbStore() override;
  // Once, before anything else.
  Result<void> open();
  Result<std::optional<Bytes>> get(BytesView key) const override;
  std::unique_ptr<Snapshot> snapshot() const override;
  Result<CommitSequence> commit(Batch batch) override;
  Result<CommitSequence> write(Batch batch) override;
  Result<void> publish(CommitSequence sequence) override;
  Result<std::optional<Bytes>> get_written(BytesView key) const override;
  CommitSequence last_commit() const override { return {last_commit_.load(std::memory_order_acquire)}; }
  // A snapshot sees a commit a moment before last_commit_ counts it, so this waits for the count.
  CommitSequence last_commit_of(BytesView /*key*/) const override {
    MutexLock lock(showing_mutex_);
    return last_commit();
  }
  Result<void> advance_to(CommitSequence least) override;
  Result<void> sync() override;
  // RocksDB's own Resume() can go on behind a half-written record of the log, which would hide everything after it from
  // the next start.  Opening again reads the log up to that record and starts a new one.
  Result<void> recover() override;
  StoreHealth health() const override;
  Capabilities capabilities() const override {
    return {
        .shared = false, .durable = true, .two_steps = options_.durability == Durability::Sync && !options_.read_only};
  }
  StoreStatistics statistics() const override;
  StoreFiles* files() override { return this; }

 private:
  enum class Mode : std::uint8_t {
    Normal,
    OnReserve,  // the disk is full; the reserve lets deletes through
    ReadOnly,   // no commits at all
  };

  // -- StoreFiles

  Result<std::vector<DamagedFile>> verify(const Progress& progress) const override;
  Result<std::unique_ptr<FrozenFiles>> freeze() override;
  Result<std::unique_ptr<Checkpoint>> freeze_between_commits();
  static void ignore_error_of_flush(const rocksdb::Status& /*status*/) {}  // the second flush answers it

  // -- opening and closing

  Result<void> open_to_read();
  // Leaves the database closed in case of an error.
  Result<void> open_database(Mode mode) REQUIRES(commit_mutex_);
  Error opening_error(const rocksdb::Status& status) const;
  // Once the folder is there.
  void fit_disk() REQUIRES(commit_mutex_);
  // For an opening of the database.
  rocksdb::WalFilter* replay_from(const FolderCheck& found, std::uint64_t reachable);
  // Records that are read from a log and not replayed into a table must be on disk before anything depends on them.
  Result<void> sync_logs(const FolderCheck& found) const;
  std::uint64_t log_bytes() const;  // without their filling
  Result<CommitSequence> read_sequence() const;
  // After a replay of the logs.  Errors: Corruption, when it has not led to that commit.
  Result<CommitSequence> read_sequence_after(std::uint64_t reachable) const;
  // Everything that was in the logs is on disk by now.
  void keep_mark(CommitSequence sequence) REQUIRES(commit_mutex_);
  void note_files(rocksdb::DB& db);
  // When nothing is below a file, and the last snapshot that is as old as its contents goes, RocksDB writes the file
  // once more. A snapshot goes with each commit, so while there are few new files, one is held from the start:
  // otherwise a small database would be written again, and be copied again by the next backup.
  void hold_floor() REQUIRES(commit_mutex_);
  void release_floor(rocksdb::DB& db);
  static bool has_few_new_files(rocksdb::DB& db);
  // No new snapshot can be taken while we hold the lock, and requests are done with theirs soon.
  Result<void> close_database();
  // An opening that fails can leave the tables that it made of the logs, and an empty log, once for each attempt.  Only
  // files go that came after the database was closed, and tables only if the manifest does not name them.  With lock_.
  void remove_files_of_failed_openings() const REQUIRES(commit_mutex_);

  // -- reads

  // Waits while recover() replaces the database.  Closed when there is none.
  RangeCache::View open_view() const;
  // Of the database as it is now.
  std::shared_ptr<const Snapshot> new_base();
  // Whether a reader may have a snapshot older than the newest commit.
  bool older_snapshots() const { return open_snapshots_.load(std::memory_order_acquire) > 1; }

  // -- a full disk

  // A disk that was full when the store was opened: deletes from the reserve, or else reading.
  Result<void> open_on_full_disk(const Error& cause) REQUIRES(commit_mutex_);
  // The disk is full, and the reserve for it is free now.  Still read-only for all but deletes.
  Result<void> enter_reserve() REQUIRES(commit_mutex_);
  bool take_reserve() REQUIRES(commit_mutex_);
  // Files with nothing but erased keys of a batch can be deleted without a compaction.  Readers with a snapshot may
  // still need them.
  void drop_erased_files(const Batch& batch) REQUIRES(commit_mutex_);
  // Gives back the room of deleted keys, on the reserve and before, as far as the rest of the reserve allows: a
  // compaction writes its new files before it deletes the old ones.  Does nothing if there was no commit since the last
  // time and no more room.
  void compact_deleted() REQUIRES(commit_mutex_);
  // The files that a compaction reads together.  A file of level 0 may span all of the keys, and takes everything that
  // it meets along.
  struct CompactionInput {
    std::string first, last;  // keys
    std::vector<std::string> files;
    std::uint64_t bytes = 0;
  };
  static CompactionInput compacted_with(const rocksdb::LiveFileMetaData& file,
                                        const std::vector<rocksdb::LiveFileMetaData>& files);
  std::set<std::string> files_with_deletions() const;
  // The smallest among the inputs with one of these files; nothing if none of the files is left.
  std::optional<CompactionInput> smallest_to_compact(const std::set<std::string>& names) const;
  // An upper bound of the bytes that the compaction writes.
  std::uint64_t bytes_left_in(const CompactionInput& input) const;
  // Once for every time that the disk gets full.
  void note_full() REQUIRES(commit_mutex_);
  // Otherwise the first compaction would fill the disk again, and the store would fail and recover again and again.
  std::uint64_t compaction_room() const REQUIRES(commit_mutex_);

  // -- commits

  // A commit that RocksDB has and readers do not see yet.
  struct Unpublished {
    CommitSequence sequence;
    Batch batch;
    std::shared_ptr<const Snapshot> base;  // the first snapshot that sees it
  };
  // Writes a batch, `synced` by RocksDB itself or not at all.
  Result<CommitSequence> write_next(Batch batch, bool synced) REQUIRES(commit_mutex_);
  // Syncs the written commits, unless relaxed, and shows them to readers.
  rocksdb::Status publish_written() REQUIRES(publish_mutex_);
  // And gives the snapshots of unpublished commits back.
  void forget_unpublished();
  rocksdb::Status translate(Batch& batch, std::size_t index, CommitSequence sequence,
                            rocksdb::WriteBatch& changes) const;
  // RocksDB wants an end for the range it deletes: the first key above all that are in the store or in `batch` before
  // `index`.
  rocksdb::Status find_end_of_everything(const Batch& batch, std::size_t index, Bytes& end) const;
  static void put_sequence(rocksdb::WriteBatch& changes, CommitSequence sequence);
  static void note_synced(rocksdb::WriteBatch& changes, CommitSequence synced);
  static std::size_t batch_size(const Batch& batch);
  // Waits while RocksDB asks for time to catch up with its files, but not when it has failed to.
  rocksdb::Status write_changes(rocksdb::WriteBatch& changes, bool synced);
  void run_background_sync();

  // -- failures

  Error fail(BytesView what, const rocksdb::Status& status) REQUIRES(commit_mutex_);
  // The same after publish_written().
  Error fail_published(const rocksdb::Status& status) REQUIRES(commit_mutex_);
  Error failed_error() const REQUIRES(commit_mutex_);
  // Opens the database to be read, as it could be before, after `cause` has kept it closed.  Answers why it is not open
  // for writes.
  Error go_on_reading(Error cause) REQUIRES(commit_mutex_);
  // The folder cannot be locked: another process may write to it, so it is neither read nor changed.
  Error give_up_folder(Error cause) REQUIRES(commit_mutex_);
  void set_health(StoreHealth health);
  StoreHealth health_without_keys() const;
  // Between the first and the last key of a table file.
  KeyRange keys_of(const std::string& file) const;
  std::uint64_t property(const char* name) const;

  // Constant after construction.
  const RocksDbOptions options_;
  const OwnerGuard owner_;  // before db_: writes of db_ while it is closed count
  const std::shared_ptr<LogBridge> log_;
  const std::shared_ptr<FailureListener> listener_ = std::make_shared<FailureListener>();
  // Set while the store is opened, before others see it; its sizes again whenever the database is opened again, under
  // commit_mutex_, by fit_disk().
  rocksdb::Options rocks_;
  const std::shared_ptr<LogSync> logs_ = std::make_shared<LogSync>(options_.path, options_.sync_file);
  const std::unique_ptr<rocksdb::Env> env_ = rocksdb::NewCompositeEnv(logs_);
  std::unique_ptr<FolderLock> lock_;      // held whenever RocksDB itself does not lock the folder
  std::unique_ptr<ReplayFilter> replay_;  // of the last opening

  mutable Mutex health_mutex_;
  StoreHealth health_ GUARDED_BY(health_mutex_);

  // Before db_: the background threads of db_ use it until they end.  Replaced under publish_mutex_ as well, which is
  // enough to acknowledge a commit.  May be null.
  Mutex mark_mutex_;
  std::unique_ptr<MarkFile> mark_;

  // Before db_ as well.
  Mutex floor_mutex_;
  const rocksdb::Snapshot* floor_ GUARDED_BY(floor_mutex_) = nullptr;  // of db_

  // Held shared to use the database, except by readers, who have a view of cache_; alone by recover(), which replaces
  // it.
  mutable std::shared_mutex db_mutex_;
  std::set<std::string> files_when_closed_;  // names of files; for recover(), under publish_mutex_
  std::unique_ptr<rocksdb::DB> db_;          // null only when recover() could not open it again; failed_ is true then
  std::atomic<std::size_t> open_snapshots_{0};  // of db_: those held by cache_ and its views
  mutable RangeCache cache_;                    // closed while db_ is null or replaced
  std::atomic<bool> readable_{true};            // false: recover() has left db_ null

  // Held to publish.  Before commit_mutex_.
  Mutex publish_mutex_;
  bool lost_written_ GUARDED_BY(publish_mutex_) = false;  // a sync has failed: nothing is published until recover()
  mutable Mutex showing_mutex_;      // held while readers begin to see commits and last_commit_ counts them
  mutable Mutex unpublished_mutex_;  // after all others
  std::vector<Unpublished> unpublished_ GUARDED_BY(unpublished_mutex_);
  std::shared_ptr<const Snapshot> newest_base_ GUARDED_BY(unpublished_mutex_);  // of the newest commit that was written

  Mutex commit_mutex_;  // held to write; before db_mutex_
  CommitSequence last_written_ GUARDED_BY(commit_mutex_);
  bool failed_ GUARDED_BY(commit_mutex_) = false;
  std::string failure_ GUARDED_BY(commit_mutex_);
  Mode mode_ GUARDED_BY(commit_mutex_) = Mode::Normal;
  DiskRoom room_ GUARDED_BY(commit_mutex_);
  bool told_small_ GUARDED_BY(commit_mutex_) = false;
  bool disk_is_full_ GUARDED_BY(commit_mutex_) = false;           // why open_database() has failed
  std::uint64_t reserve_released_ GUARDED_BY(commit_mutex_) = 0;  // bytes to be set aside again before all is well
  // Free bytes with which opening on the reserve has failed: with no more than that it would fail again.
  std::uint64_t too_little_for_reserve_ GUARDED_BY(commit_mutex_) = 0;
  bool noted_full_ GUARDED_BY(commit_mutex_) = false;  // since it last recovered
  unsigned full_again_ GUARDED_BY(commit_mutex_) = 0;  // how often it was full soon after it had recovered
  std::optional<std::chrono::steady_clock::time_point> recovered_at_ GUARDED_BY(commit_mutex_);
  // How things stood after the last compact_deleted().
  struct Compacted {
    CommitSequence commit{};
    std::uint64_t free = 0;
  };
  Compacted compacted_ GUARDED_BY(commit_mutex_);

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

}  // namespace stator::storage
