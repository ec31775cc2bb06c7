#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "stator/base/mutex.h"
#include "stator/storage/store.h"

namespace stator::storage::testing {

// A store that fails when it is told to, and otherwise is the store it was given.  Thread-safe.
//
// It counts down one plan after the other, commit by commit: failures first, then failures after the fact, then
// failures found at recovery, then conflicts.
class FaultyStore final : public Store {
 public:
  explicit FaultyStore(std::unique_ptr<Store> store) : store_(std::move(store)) {}

  // The next `count` commits fail with Storage and change nothing.
  void fail_commits(std::size_t count);
  // The next `count` commits take effect and answer Storage all the same, as when a disk fails while it says that it is
  // done.
  void fail_commits_after_the_fact(std::size_t count);
  // The next `count` commits answer Storage and seem to have changed nothing, until recover() finds that they took
  // effect, as when a failing disk has kept its writes.
  void fail_commits_found_at_recovery(std::size_t count);
  // The next `count` commits answer Conflict and change nothing.
  void conflict_commits(std::size_t count);
  // Until told otherwise, every get, and every cursor opened from now on, fails with Storage, and health() tells it.
  void fail_reads(bool fail);
  // Until told otherwise, recover() fails, and so does every commit once one has failed.
  void fail_recover(bool fail);
  // Until told otherwise, commits, publish() and recover() fail as in this trouble, and health() tells it.  A full disk
  // takes batches that free space.
  void be_in_trouble(StoreTrouble trouble);
  // A recover() that fails in trouble finds that what was written and not published took effect, as when a store goes
  // on in a reserve.
  void keep_written_in_trouble();
  // A store that only reports to be shared has epochs, too, as one that others use.
  void report_shared(bool shared);
  // As when another process changes data that this one keeps in memory.
  void begin_epoch();
  void report_durable(bool durable);
  // Commits in two steps, unless it is shared.  Commits that are to fail after the fact, or to be found at recovery,
  // fail when they are published.
  void report_two_steps(bool two_steps);
  // Called with every batch before anything else happens to it, on the committing thread; it may block.
  void before_commit(std::function<void(const Batch&)> hook);
  // Called before a publish(), on the thread that publishes; it may block.
  void before_publish(std::function<void()> hook);

  std::size_t commits_tried() const;
  std::size_t recoveries_tried() const;
  Store& inner() { return *store_; }

  Result<std::optional<Bytes>> get(BytesView key) const override;
  Result<ValuesRead> get_all(const std::vector<BytesView>& keys) const override;
  std::unique_ptr<Snapshot> snapshot() const override;
  CommitSequence epoch() const override;
  void enter_epoch(CommitSequence epoch) override;
  Result<SnapshotOfEpoch> snapshot_of_epoch() const override;
  const Clock* clock() const override { return store_->clock(); }
  Result<CommitSequence> commit(Batch batch) override;
  Result<CommitSequence> write(Batch batch) override;
  Result<void> publish(CommitSequence sequence) override;
  Result<std::optional<Bytes>> get_written(BytesView key) const override;
  CommitSequence last_commit() const override { return store_->last_commit(); }
  CommitSequence last_commit_of(BytesView key) const override { return store_->last_commit_of(key); }
  ReadPoint read_point() const override { return store_->read_point(); }
  Result<void> sync() override { return store_->sync(); }
  Result<void> recover() override;
  StoreHealth health() const override;
  Capabilities capabilities() const override;
  StoreStatistics statistics() const override { return store_->statistics(); }

 private:
  enum class Fate : std::uint8_t { Succeed, Fail, FailAfterTheFact, FailUntilRecovery, Conflict };
  Fate next_fate();
  // Calls the hook.  Errors: those of a store in trouble, and of a batch of another epoch.
  Result<void> begin_commit(const Batch& batch);
  Error trouble_error() const REQUIRES(mutex_);
  Result<void> check_read() const;   // Errors: Storage, when reads are to fail
  Result<void> check_epoch() const;  // Errors: Outdated

  const std::unique_ptr<Store> store_;

  struct Unpublished {
    Batch batch;
    Fate fate;
  };

  mutable Mutex mutex_;
  bool two_steps_ GUARDED_BY(mutex_) = false;
  bool lost_written_ GUARDED_BY(mutex_) = false;  // something written was not published: nothing is until recover()
  std::deque<Unpublished> unpublished_ GUARDED_BY(mutex_);
  std::size_t failures_ GUARDED_BY(mutex_) = 0;
  std::size_t failures_after_the_fact_ GUARDED_BY(mutex_) = 0;
  std::size_t failures_found_at_recovery_ GUARDED_BY(mutex_) = 0;
  std::size_t conflicts_ GUARDED_BY(mutex_) = 0;
  std::vector<Batch> found_at_recovery_ GUARDED_BY(mutex_);
  std::size_t commits_tried_ GUARDED_BY(mutex_) = 0;
  std::size_t recoveries_tried_ GUARDED_BY(mutex_) = 0;
  bool fail_reads_ GUARDED_BY(mutex_) = false;
  bool fail_recover_ GUARDED_BY(mutex_) = false;
  bool failed_ GUARDED_BY(mutex_) = false;
  StoreTrouble trouble_ GUARDED_BY(mutex_) = StoreTrouble::None;
  bool keep_written_ GUARDED_BY(mutex_) = false;
  bool shared_ GUARDED_BY(mutex_) = false;
  CommitSequence newest_epoch_ GUARDED_BY(mutex_);
  CommitSequence entered_epoch_ GUARDED_BY(mutex_);
  bool durable_ GUARDED_BY(mutex_) = false;
  std::function<void()> publish_hook_ GUARDED_BY(mutex_);
  std::function<void(const Batch&)> hook_ GUARDED_BY(mutex_);
};

}  // namespace stator::storage::testing
