#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "stator/base/clock.h"
#include "stator/base/mutex.h"
#include "stator/base/result.h"
#include "stator/engine/keyspace.h"
#include "stator/engine/write/freshness_map.h"
#include "stator/engine/write/pending_commit.h"
#include "stator/engine/write/work.h"
#include "stator/storage/store.h"

namespace stator::engine {

struct CommitterStatistics {
  std::uint64_t commits = 0;
  std::uint64_t works = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t failures = 0;
  bool read_only = false;
};

// Serialises all writes: takes everything that is waiting, lets each work add to one commit, commits it, answers them
// all.
//
// Serialisable by construction, and the more clients wait, the more share one fsync.  Works are planned before they are
// queued, on the thread their request came in on (see ItemWrites), so while one group is in its fsync the next is being
// prepared, and the committer itself does little more than append.
//
// If the store commits in two steps (Capabilities::two_steps), two threads take turns: one executes and writes the next
// works while the other waits for the disk, and then publishes and answers its own works.
//
// If a commit does not wait for a disk, there is no thread: a thread that submits while no other commits does the
// commit, also for works that others submit meanwhile.  After a few rounds of that it hands over to the next thread
// that submits.
//
// When the store fails, the committer refuses writes with ReadOnly, in words for clients, and tries to recover once a
// second; not when the store is damaged, which lasts until it is opened again.  On a full disk, works that free space
// are still tried, in commits of their own.  When more works wait than kMaxWaiting, further ones are finished with Busy
// at once.
//
// On a shared store, a work that has waited longer than kMaxWait is finished with Busy and not executed: the process
// may have been paused, the client may have asked another one meanwhile, and the token of its request may be forgotten
// there by now.  Thread-safe.
//
// docs/internals/commit-pipeline.md tells the whole story.
class Committer {
 public:
  enum class Mode : std::uint8_t { OwnThread, Inline };

  static constexpr std::size_t kMaxWaiting = std::size_t{1} << 16;
  static constexpr std::chrono::seconds kCommitTimeInterval{1};  // how often the time of a commit is noted
  static constexpr std::chrono::seconds kMaxWait{60};            // much shorter than kRequestTokenLifetime

  // `recovered` runs, on the thread that commits, after the store has recovered and before anything else executes: a
  // commit that failed may have taken effect after all, so all data derived from the store must be derived again.
  // While it fails, the committer stays read-only.  It also runs when a shared store is in another epoch.  `failed`
  // runs, on the same thread, when it turns read-only, or for another reason than before.
  Committer(storage::Store& store, const Clock& clock, Mode mode, std::function<Result<void>()> recovered = {},
            std::function<void()> failed = {});
  ~Committer();  // stops

  // Finishes the submitted works, on the thread that commits.  Works that are submitted later are finished with Busy.
  void stop();

  // May finish the work, and others, before it returns; so the caller holds no lock that a finish() takes.
  void submit(std::unique_ptr<Work> work);
  const FreshnessMap& freshness() const { return freshness_; }
  CommitterStatistics statistics() const;

 private:
  static constexpr std::size_t kMaxGroupWorks = 1024;  // also of a round, see run_in_turns()
  static constexpr std::size_t kMaxGroupBytes = std::size_t{8} << 20;
  // That a group on a shared store reads at once: fewer, where the values before were large.
  static constexpr std::size_t kMaxKeysAhead = 64, kMinKeysAhead = 4;
  static constexpr int kMaxConflictRetries = 100;
  static constexpr int kMaxGroupConflicts = 3;  // then each work is committed by itself: others need not fail with it
  static constexpr int kMaxInlineRounds = 8;
  static constexpr std::size_t kWorthWriting =
      8;  // so many works are written while the disk is busy; fewer wait for it
  static constexpr std::chrono::seconds kRecoveryInterval{1};

  using Works = std::vector<std::unique_ptr<Work>>;

  // Works that were executed on one PendingCommit.
  struct Group {
    std::uint64_t number = 0;  // of the PendingCommit
    std::size_t taken = 0;
    std::optional<storage::Batch> batch;  // none: there is nothing to commit
    bool begins_epoch = false;
    bool notes_time = false;
    WallTime time;
  };
  // A group that was written, and is to be published.
  struct Written {
    Works works;
    std::uint64_t number;
    bool has_effect;
    Result<storage::CommitSequence> sequence;
  };
  // The groups that one thread writes before it publishes.
  struct Round {
    std::vector<Written> groups;
    std::size_t works = 0, bytes = 0;
    bool publishing = false;  // publishing_ is this thread's

    bool is_full() const { return works >= kMaxGroupWorks || bytes >= kMaxGroupBytes; }
  };

  // Wakes a waiting thread of the committer, once: until it runs, further calls do nothing.
  void wake() REQUIRES(mutex_);
  void wait(bool at_most_until_recovery = false) REQUIRES(mutex_);
  void run();
  // Two of these threads.  `executing_` belongs to the one that executes and writes, `publishing_` to the one that
  // publishes. A thread gives executing_ back only after it has taken publishing_, so that rounds are published in
  // their order. For work that must not meet an unpublished commit (works that are alone, a store that failed) a thread
  // holds both.
  void run_in_turns();
  bool has_turn() const REQUIRES(mutex_);
  bool wait_for_turn();
  // Writes the waiting works.  Whether the disk is still busy, so that there is time for more.
  bool write_more(Round& round);
  void let_works_gather() REQUIRES(mutex_);
  std::size_t write_group(Round& round, Works& works, std::size_t first);
  void start_publishing(Round& round);
  void stop_publishing(Round& round);
  void publish(Round& round);
  void answer_failed();
  static void finish(Works& works, std::size_t first, std::size_t count,
                     const Result<storage::CommitSequence>& committed);
  // Inline: whether the calling thread is the one to commit now.
  bool become_committing() REQUIRES(mutex_);
  void commit_inline();
  void commit_all(Works works);
  // Executes and commits works[first..]; returns how many it took.
  std::size_t commit_group(Works& works, std::size_t first);
  // Takes at most `most` works.
  Result<storage::CommitSequence> commit_once(Works& works, std::size_t first, std::size_t most, std::size_t& taken);
  // Executes works[first..], at most `most`.  Errors: as those of a commit; nothing has reached the store.
  Result<void> execute(Works& works, std::size_t first, std::size_t most, bool reads_written, Group& group);
  // On a shared store: reads the keys of works[first..], in one step.  Answers for how many works, at most `most`.
  std::size_t works_to_read(const Works& works, std::size_t first, std::size_t most, std::vector<KeyBytes>& keys) const;
  // Whether it has waited for too long to be executed.
  bool is_late(const Work& work) const;
  Result<void> enter_epoch() const;
  bool note_commit_time(PendingCommit& commit) const;
  void fail_store(const Error& error);
  Error read_only_error(const Work& work) const;
  bool is_accepted(const Work& work) const;
  void try_recover();
  // A delete that finds the disk full need not be refused until the next attempt to recover: the store is brought to
  // where it takes deletes.  Whether that was tried.
  bool recover_for(const Work& work);

  // Constant after construction.
  storage::Store& store_;
  const Clock& clock_;
  const Mode mode_;
  const bool shared_;  // the store
  const std::function<Result<void>()> recovered_;
  const std::function<void()> failed_;

  FreshnessMap freshness_;

  // Only the thread that commits touches these; of two, the one that executes.
  WallTime last_commit_time_noted_{};
  std::uint64_t next_number_ = 1;
  std::size_t keys_ahead_ = kMaxKeysAhead;
  storage::CommitSequence last_written_;
  // Of two threads, the one that publishes.  The one that executes reads trouble_, too, after it has seen read_only_,
  // which is set later.
  WallTime next_recovery_{};
  bool committed_since_recovery_ = false;  // by recover_for()
  Error failure_;
  storage::StoreTrouble trouble_ = storage::StoreTrouble::None;
  bool readable_ = true;  // the store, after the last attempt to recover

  std::atomic<bool> read_only_{false};
  std::atomic<std::uint64_t> commits_{0}, works_{0}, conflicts_{0}, failures_{0};

  Mutex mutex_;
  CondVar waiting_;
  Works queue_ GUARDED_BY(mutex_);
  bool committing_ GUARDED_BY(mutex_) = false;
  bool woken_ GUARDED_BY(mutex_) = false;  // a thread was woken and does not run yet
  // Two threads only; see run_in_turns().
  bool executing_ GUARDED_BY(mutex_) = false;
  bool publishing_ GUARDED_BY(mutex_) = false;
  bool waits_for_disk_ GUARDED_BY(mutex_) = false;         // the thread that executes, for the one that publishes
  std::vector<Written> failed_groups_ GUARDED_BY(mutex_);  // to be answered by the thread that has both
  // Inline only.
  std::thread::id committing_thread_ GUARDED_BY(mutex_);
  bool wants_relief_ GUARDED_BY(mutex_) = false;  // the thread that commits has done its share
  bool relief_waits_ GUARDED_BY(mutex_) = false;  // somebody is there to take over
  bool stopping_ GUARDED_BY(mutex_) = false;
  bool stopped_ GUARDED_BY(mutex_) = false;  // nothing is taken any more

  std::vector<std::thread> threads_;  // last: joined before anything they read is destroyed
};

}  // namespace stator::engine
