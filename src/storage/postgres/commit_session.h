#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "stator/storage/postgres/connection.h"
#include "stator/storage/postgres/database_clock.h"
#include "stator/storage/postgres/final_changes.h"
#include "stator/storage/postgres/lanes.h"
#include "stator/storage/postgres/postgres_statements.h"
#include "stator/storage/postgres/postgres_store.h"
#include "stator/storage/postgres/servers.h"
#include "stator/storage/postgres/statement_counters.h"
#include "stator/storage/postgres/store_condition.h"

namespace stator::storage::postgres {

// The parts that a store and its sessions share.  Each part is constant after the store was opened, or thread-safe.
struct StoreParts {
  StoreParts(std::shared_ptr<const Libpq> libpq_loaded, PostgresOptions store_options)
      : libpq(std::move(libpq_loaded)),
        options(std::move(store_options)),
        statements(options.schema),
        condition(*options.clock),
        servers(statements, known, condition, *options.clock) {}

  bool is_shared() const { return options.sharing == PostgresSharing::Shared; }
  // The epoch that this process has entered.
  CommitSequence epoch_entered() const { return {epoch.load(std::memory_order_acquire)}; }
  // The epoch of the store, as reads get it.  Errors: Outdated.
  Result<void> check_epoch(std::int64_t epoch_read) const;
  // The row of a lane, as reads get it from a connection.  `known_before`: the lane's newest commit that was known when
  // the connection was asked.  One that answers with an older one is given up: its server is behind.  A loop may have
  // none any more.  Errors: Storage, also if another process has taken over.
  Result<void> note_lane(Connection* from, std::int32_t lane, std::int64_t fence, std::int64_t sequence,
                         CommitSequence known_before);
  // The rows of all lanes, from the statement `lanes`.  Answers their epoch.
  Result<CommitSequence> note_lanes(Connection& from, const Rows& rows,
                                    const std::vector<CommitSequence>& known_before);
  // From the statement `format`.  Errors: Storage, if the store has got a form that this program does not know.
  Result<void> check_format(const Rows& rows);
  ConnectOptions writer_options();
  Result<void> read_clock(Connection& connection);

  const std::shared_ptr<const Libpq> libpq;
  const PostgresOptions options;
  const Statements statements;
  const std::shared_ptr<StatementCounters> counters = std::make_shared<StatementCounters>();
  const std::shared_ptr<Haste> haste = std::make_shared<Haste>();
  Lanes lanes;
  KnownCommits known;
  KnownCommits seen;  // by a reader of an exclusive store, perhaps before its commit is known
  StoreCondition condition;
  Servers servers;
  DatabaseClock clock;
  std::atomic<std::uint64_t> epoch{0};
  std::atomic<std::uint64_t> generation{0};  // of connections: older ones are not to be used
  std::atomic<std::size_t> loops{0}, loop_connections{0};
  std::atomic<std::uint64_t> commits{0}, syncs{0}, bytes_written{0};
};

WallTime time_of(std::int64_t microseconds);  // since 1970, as the database tells times
// Waits for the lock that keeps an exclusive store from all others.  False when somebody has it for all that time.
Result<bool> take_lock(Connection& connection, const PostgresOptions& options, std::chrono::seconds patience);
Error no_lane();

// A connection that commits.  It has the store's lock, and a name of its own, under which the database keeps the number
// of its last commit: if the connection breaks in a commit, that tells whether the commit happened.  The row is there
// before the first commit.  Without the row nothing is known, and the store is lost.
// Used by one thread at a time.
class CommitSession {
 public:
  explicit CommitSession(StoreParts& parts);  // outlives it
  ~CommitSession();
  CommitSession(const CommitSession&) = delete;
  CommitSession& operator=(const CommitSession&) = delete;

  // Uses a connection that has the lock.
  void attach_to(std::unique_ptr<Connection> connection) { connection_ = std::move(connection); }
  bool is_attached() const { return connection_ != nullptr && !connection_->broken(); }
  // Whether its last commit happened is not known: recover() finds it out.
  bool is_in_doubt() const { return in_doubt_; }

  // Connects if need be.  Errors: Busy: the server takes no more connections.  Storage.
  Result<void> connect();
  // As Store::commit().
  Result<CommitSequence> commit(const Batch& batch);
  // Connects if need be, and finds out whether the last commit was done.  Errors: Storage.
  Result<void> recover();
  // Whether the server answers; connects if need be, and again when the connection turns out to be lost.  Errors:
  // Storage.
  Result<void> ping();
  // Before the store is closed: removes data that is useless afterwards.
  void leave();
  // Makes everything committed so far durable.  Errors: Storage.
  Result<void> sync();
  // As Store::advance_to().
  Result<void> advance_to(CommitSequence least);

 private:
  // The database's record of our last commit.
  struct Attached {
    std::int64_t number = 0;  // 0: none
    CommitSequence sequence = {};
  };
  struct LockedLane {
    std::int32_t lane = 0;
    CommitSequence sequence;
    std::int64_t erasures_from = 0;
    CommitSequence epoch;
    WallTime time;  // of the database
  };

  Result<void> ask_the_state();
  // Connects.  No commit of ours is under way at the server then.
  Result<Attached> attach();
  Result<Attached> attach_with(Connection& connection);

  // One attempt.  `commit_sent`: if the connection breaks, the commit may have happened.
  Result<CommitSequence> try_commit(const Batch& batch, const CommitLanes& lanes, bool& commit_sent);
  // Puts the session's row into the database, and again now and then: unused rows are removed after a day.
  Result<void> keep_row();
  // Limits the next statement of the transaction to the rest of the patience for its locks.
  void add_wait_limit(Connection& connection);
  // Ends sessions that hold locks although their processes do nothing any more.
  void end_stuck_sessions();
  void add_checks(const Batch& batch);
  void add_writes(const FinalChanges& changes, const CommitLanes& lanes, CommitSequence sequence);
  void add_erasure_notes(const FinalChanges& changes, const CommitLanes& lanes, CommitSequence sequence);
  bool is_too_old(const Batch& batch, const std::vector<LockedLane>& locked) const;
  // Whether the batch was not made at about the time that it is at the database.
  static bool is_of_another_time(const Batch& batch, WallTime now);
  void note_committed(const Batch& batch, const CommitLanes& lanes, CommitSequence sequence);

  StoreParts& parts_;
  const Bytes writer_;  // marks our commits
  std::unique_ptr<Connection> connection_;
  std::int64_t number_ = 0;        // of our newest commit, or attempt
  std::int64_t acknowledged_ = 0;  // the number of the newest that happened
  bool in_doubt_ = false;          // whether number_ happened is not known
  std::optional<SteadyTime> row_kept_at_;
  CommitLanes doubtful_lanes_;  // that it writes
};

}  // namespace stator::storage::postgres
