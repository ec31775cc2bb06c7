#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "stator/base/mutex.h"
#include "stator/storage/postgres/connection_pool.h"
#include "stator/storage/postgres/database_clock.h"
#include "stator/storage/postgres/final_changes.h"
#include "stator/storage/postgres/postgres_statements.h"
#include "stator/storage/postgres/postgres_store.h"

namespace stator::storage::postgres {

class PostgresStore final : public Store {
 public:
  PostgresStore(std::shared_ptr<const Libpq> libpq, PostgresOptions options);
  ~PostgresStore() override;
  PostgresStore(const PostgresStore&) = delete;
  PostgresStore& operator=(const PostgresStore&) = delete;

  // Once, before anything else.  Errors: as open_postgres_store().
  Result<void> open();

  Result<std::optional<Bytes>> get(BytesView key) const override;
  Result<ValuesRead> get_all(const std::vector<BytesView>& keys) const override;
  std::unique_ptr<Snapshot> snapshot() const override;
  CommitSequence epoch() const override { return {epoch_.load(std::memory_order_acquire)}; }
  void enter_epoch(CommitSequence epoch) override { epoch_.store(epoch.value, std::memory_order_release); }
  Result<SnapshotOfEpoch> snapshot_of_epoch() const override;
  Result<CommitSequence> commit(Batch batch) override;
  CommitSequence last_commit() const override { return {last_commit_.load(std::memory_order_acquire)}; }
  Result<void> advance_to(CommitSequence least) override;
  Result<void> sync() override;
  Result<void> recover() override;
  StoreHealth health() const override;
  const Clock* clock() const override { return &database_clock_; }
  Capabilities capabilities() const override { return {.shared = is_shared(), .durable = true}; }
  StoreStatistics statistics() const override;
  std::optional<StoreServer> server() const override;

 private:
  // What the database says about our lane and our last commit.
  struct Attached {
    CommitSequence sequence = {};         // the lane's
    std::int64_t number = 0;              // of our last commit; 0: none
    CommitSequence number_sequence = {};  // its own
  };

  bool is_shared() const { return options_.sharing == PostgresSharing::Shared; }

  // Waits for the lock that keeps an exclusive store from all others.  False when somebody has it for all that time.
  Result<bool> take_lock(Connection& connection, std::chrono::seconds patience) const;
  // Connects the connection that commits.  No commit of ours is under way at the server then.
  Result<Attached> attach() REQUIRES(commit_mutex_);
  Result<Attached> attach_with(Connection& connection) REQUIRES(commit_mutex_);
  bool is_attached() const REQUIRES(commit_mutex_) { return connection_ != nullptr && !connection_->broken(); }

  // One attempt.  `commit_sent`: if the connection breaks, the commit may have happened.
  Result<CommitSequence> try_commit(const Batch& batch, bool& commit_sent) REQUIRES(commit_mutex_);
  void add_checks(const Batch& batch) REQUIRES(commit_mutex_);
  void add_writes(const FinalChanges& changes, CommitSequence sequence) REQUIRES(commit_mutex_);
  void note_committed(const Batch& batch, CommitSequence sequence);
  Error fail(Error error) REQUIRES(commit_mutex_);

  Result<void> check_fence(std::int64_t fence) const;
  // The row of our lane, as every read gets it.  Answers its epoch.
  Result<CommitSequence> note_lane(const Rows& rows) const;
  Result<void> check_epoch(CommitSequence epoch) const;
  // Whether the store still has a form that this program knows.
  Result<void> check_format(const Rows& rows) const;
  Result<void> read_clock(Connection& connection) const;
  // From now on, nothing works any more until the store is opened again.
  Error lose(std::string why, StoreTrouble trouble = StoreTrouble::TakenOver) const;
  std::optional<Error> refusal() const;  // why nothing may be read now
  void set_health(StoreHealth health) const;
  void note_unreachable(const Error& error) const;
  void note_sequence(std::int64_t sequence) const;

  template <typename Read>
  auto with_connection(ConnectionPool::Use use, Read read) const
      -> decltype(read(std::declval<ConnectionPool::Lease&>()));

  void watch(const std::stop_token& stop);
  // Looks at the server with a reader's connection, and now and then at the size of the store.
  void look(bool at_size);
  void note_size(const Rows& rows);
  void ping() REQUIRES(commit_mutex_);

  // Constant after open().
  const std::shared_ptr<const Libpq> libpq_;
  const PostgresOptions options_;
  const Statements statements_;
  const Bytes writer_;  // tells our commits from those of others
  const std::shared_ptr<StatementCounters> counters_ = std::make_shared<StatementCounters>();
  std::int64_t fence_ = 0;

  mutable ConnectionPool pool_;
  mutable DatabaseClock database_clock_;

  Mutex commit_mutex_;
  std::unique_ptr<Connection> connection_ GUARDED_BY(commit_mutex_);  // has the lock
  std::int64_t number_ GUARDED_BY(commit_mutex_) = 0;                 // of our newest commit, or attempt
  std::int64_t acknowledged_ GUARDED_BY(commit_mutex_) = 0;           // the number of the newest that happened
  bool in_doubt_ GUARDED_BY(commit_mutex_) = false;                   // whether number_ happened is not known
  bool failed_ GUARDED_BY(commit_mutex_) = false;
  std::string failure_ GUARDED_BY(commit_mutex_);

  // Readers wait until it is known whether a commit happened.
  std::atomic<bool> readers_refused_{false};
  mutable std::atomic<bool> lost_{false};
  mutable std::atomic<bool> unreachable_{false};
  mutable std::atomic<std::uint64_t> last_commit_{0};
  std::atomic<std::uint64_t> epoch_{0};  // that this process has entered
  std::atomic<std::uint64_t> commits_{0}, syncs_{0}, bytes_written_{0};
  // The size of the store when the watcher looked, and bytes_written_ then.
  std::atomic<std::uint64_t> size_bytes_{0}, written_at_size_{0};
  std::atomic<std::int64_t> round_trip_microseconds_{0};

  mutable Mutex health_mutex_;
  mutable StoreHealth health_ GUARDED_BY(health_mutex_);
  mutable WallTime since_ GUARDED_BY(health_mutex_);  // it is reachable, or is not
  std::string host_ GUARDED_BY(health_mutex_);

  std::jthread watcher_;  // last: it ends before what it uses
};

}  // namespace stator::storage::postgres
