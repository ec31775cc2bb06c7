#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "stator/storage/postgres/connection.h"
#include "stator/storage/postgres/database_clock.h"
#include "stator/storage/postgres/final_changes.h"
#include "stator/storage/postgres/lanes.h"
#include "stator/storage/postgres/postgres_statements.h"
#include "stator/storage/postgres/postgres_store.h"
#include "stator/storage/postgres/statement_counters.h"
#include "stator/storage/postgres/store_condition.h"

namespace stator::storage::postgres {

// What a store and its sessions share.  Each part is constant after the store was opened, or thread-safe.
struct StoreParts {
  StoreParts(std::shared_ptr<const Libpq> libpq_loaded, PostgresOptions store_options)
      : libpq(std::move(libpq_loaded)),
        options(std::move(store_options)),
        statements(options.schema),
        condition(*options.clock) {}

  bool is_shared() const { return options.sharing == PostgresSharing::Shared; }
  // The row of a lane, as reads get it.  Errors: Storage, if another process has taken over.
  Result<void> note_lane(std::int32_t lane, std::int64_t fence, std::int64_t sequence);
  // The rows of all lanes, from the statement `lanes`.  Answers their epoch.
  Result<CommitSequence> note_lanes(const Rows& rows);
  // From the statement `format`.  Errors: Storage, if the store has got a form that this program does not know.
  Result<void> check_format(const Rows& rows);
  ConnectOptions writer_options() const;

  const std::shared_ptr<const Libpq> libpq;
  const PostgresOptions options;
  const Statements statements;
  const std::shared_ptr<StatementCounters> counters = std::make_shared<StatementCounters>();
  Lanes lanes;
  KnownCommits known;
  StoreCondition condition;
  DatabaseClock clock;
  std::atomic<std::uint64_t> commits{0}, syncs{0}, bytes_written{0};
};

Result<void> read_clock(Connection& connection, DatabaseClock& clock);
// Waits for the lock that keeps an exclusive store from all others.  False when somebody has it for all that time.
Result<bool> take_lock(Connection& connection, const PostgresOptions& options, std::chrono::seconds patience);
Error no_lane();

// A connection that commits.  It has the store's lock, and a name of its own, under which the database keeps the number
// of its last commit: if the connection breaks in a commit, that tells whether the commit happened.
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

  // Connects if need be.  Errors: Storage.
  Result<void> connect();
  // As Store::commit().
  Result<CommitSequence> commit(const Batch& batch);
  // Connects if need be, and finds out what became of the last commit.  Errors: Storage.
  Result<void> recover();
  // Whether the server answers; connects if need be.  Errors: Storage.
  Result<void> ping();
  // Makes everything committed so far durable.  Errors: Storage.
  Result<void> sync();
  // As Store::advance_to().
  Result<void> advance_to(CommitSequence least);

 private:
  // What the database says about our last commit.
  struct Attached {
    std::int64_t number = 0;  // 0: none
    CommitSequence sequence = {};
  };
  struct LockedLane {
    std::int32_t lane = 0;
    CommitSequence sequence;
    std::int64_t erasures_from = 0;
    CommitSequence epoch;
  };

  // Connects.  No commit of ours is under way at the server then.
  Result<Attached> attach();
  Result<Attached> attach_with(Connection& connection);

  // One attempt.  `commit_sent`: if the connection breaks, the commit may have happened.
  Result<CommitSequence> try_commit(const Batch& batch, const CommitLanes& lanes, bool& commit_sent);
  // Answers how many statements that takes.
  std::size_t add_locks(const CommitLanes& lanes);
  void add_checks(const Batch& batch);
  void add_writes(const FinalChanges& changes, const CommitLanes& lanes, CommitSequence sequence);
  void add_erasure_notes(const FinalChanges& changes, const CommitLanes& lanes, CommitSequence sequence);
  bool is_too_old(const Batch& batch, const std::vector<LockedLane>& locked) const;
  void note_committed(const Batch& batch, const CommitLanes& lanes, CommitSequence sequence);

  StoreParts& parts_;
  const Bytes writer_;  // tells our commits from those of others
  std::unique_ptr<Connection> connection_;
  std::int64_t number_ = 0;        // of our newest commit, or attempt
  std::int64_t acknowledged_ = 0;  // the number of the newest that happened
  bool in_doubt_ = false;          // whether number_ happened is not known
  CommitLanes doubtful_lanes_;     // that it writes
};

}  // namespace stator::storage::postgres
