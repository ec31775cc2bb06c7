#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "stator/base/clock.h"
#include "stator/base/mutex.h"
#include "stator/base/random.h"
#include "stator/base/traffic.h"
#include "stator/client/client.h"
#include "stator/model/model.h"
#include "stator/runtime/consistency/consistency_table.h"
#include "stator/runtime/consistency/migration_hold.h"
#include "stator/runtime/consistency/propagation.h"
#include "stator/runtime/consistency/reconciler.h"
#include "stator/runtime/consistency/shard_leases.h"
#include "stator/runtime/consistency/shard_worker.h"
#include "stator/runtime/consistency/table_verification.h"
#include "stator/runtime/consistency/unread_changes.h"
#include "stator/runtime/dynamo/dynamo.h"
#include "stator/runtime/dynamo/stream_reader.h"
#include "stator/runtime/problem.h"

namespace stator::runtime {

struct ConsistencyOptions {
  unsigned workers = 2;                     // shards that are read at the same time; bounds the load on the database
  std::chrono::milliseconds lease{30'000};  // how long a manager that has died keeps others waiting
  std::chrono::milliseconds poll{200};      // how often a shard without news is asked
  // The name of the manager; empty: a random name.  A manager with the name of one that crashed gets its leases at
  // once. Only one manager may have a name at a time.
  std::string owner = {};
  unsigned attempts = 6;                     // before a record is parked
  std::chrono::milliseconds first_wait{50};  // after the first failure; it doubles, up to ShardWorker::kLongestWait
  // Whether others use the database, which then comes first; outlives the manager.  Null: they always may.
  const Traffic* traffic = nullptr;
};

struct ConsistencyStatus {
  bool running = false;
  bool verifying = false;  // changes may have been missed, and the whole table is being verified
  bool held = false;       // waiting: a migration to another model moves rows, or has moved them
  unsigned shards = 0;     // that this manager reads
  // Age of the oldest change that no manager has processed; zero: none waits.  While the table is verified, the time
  // since the verification began.
  std::chrono::milliseconds lag{};
  std::uint64_t waiting = 0;     // changes that were seen and are not done; there may be more behind them
  std::uint64_t propagated = 0;  // changes that are done, since the start
  std::uint64_t parked = 0;      // records that were parked, since the start
  std::uint64_t repaired = 0;    // findings of verifications that were repaired, since the start
  std::string problem;           // the last one; empty while all is well
};

// Keeps copies, cascades and the counters of expired rows correct: reads the stream of a model's table and propagates
// every change to the rows that depend on it.
//
// Managers share the shards by leases.  A child is read after its parent, and each shard in order.  A change is
// checkpointed after it was propagated: a process that dies repeats a little, which does no harm (see Propagation).
// Changes may have been missed at the first start, with another stream, or when a checkpoint is older than the oldest
// record of the stream.  Then positions are taken, and the whole table is verified and repaired.  A record that fails
// again and again is parked, where people can see and replay it.  docs/internals/consistency.md tells how and why.
//
// Thread-safe.  Owns its threads, which are joined by stop() and by the destructor.
class ConsistencyManager {
 public:
  // All outlive it.
  ConsistencyManager(std::shared_ptr<const model::Model> model, client::Client& client, const Clock& clock,
                     Random& random, ConsistencyOptions options = {});
  ~ConsistencyManager();

  // Whether a model has rules that need one.
  static bool needed(const model::Model& model) { return Propagation::needed(model); }

  // Errors: Invalid, when the table has no stream with both images; Unavailable, when `stop` ends its wait for the
  // consistency table.
  Result<void, Problem> start(const std::stop_token& stop = {});
  // Ends the threads and gives the leases back.
  void stop();
  ConsistencyStatus status() const;

  // Propagates all present changes on the calling thread, and returns when nothing is left that it may read.  Not
  // between start() and stop().
  Result<void, Problem> catch_up();

  Result<std::vector<ParkedRecord>, Problem> parked();
  // Propagates a parked record, and forgets it when that went well.  Errors: NotFound.
  Result<void, Problem> replay(const std::string& id);

 private:
  Result<void, Problem> open(const std::stop_token& stop);
  // One round: finds shards, takes and renews leases, and verifies when that is necessary.
  Result<void, Problem> maintain(const std::stop_token& stop);
  Result<void, Problem> verify(const std::optional<StreamProgress>& seen, const std::string& stream,
                               const std::stop_token& stop);
  Result<bool, Problem> add_new_shards(const std::vector<StreamShard>& listed, std::vector<ShardProgress>& known);
  Result<bool, Problem> forget_vanished_shards(const std::vector<StreamShard>& listed,
                                               const std::vector<ShardProgress>& known);
  // Processes one page of one shard, and notes the consequences for the next round.  True when there may be more at
  // once.
  Result<bool, Problem> advance(LeasedShard& shard, const std::stop_token& stop);
  Result<void, Problem> count_unread();

  void maintain_until_stopped(const std::stop_token& stop);
  void work_until_stopped(const std::stop_token& stop);
  // Waits for the next maintenance; every second it counts the changes that wait in the shards of other managers.
  void wait_for_maintenance(const std::stop_token& stop);
  // Waits until `until`, until maintenance is asked for, or a second.  False: only the second is over.
  bool is_time_to_maintain(SteadyTime until, const std::stop_token& stop);
  void maintain_soon();
  void note(const std::string& problem);

  // Constant after construction.
  const std::shared_ptr<const model::Model> model_;
  const Clock& clock_;
  const ConsistencyOptions options_;
  const std::string owner_;
  // Thread-safe.
  Dynamo dynamo_;
  ConsistencyTable table_;
  StreamReader reader_;
  Reconciler reconciler_;
  Propagation propagation_;
  ShardLeases leases_;
  MigrationHold hold_;
  UnreadChanges unread_;
  TableVerification verification_;
  ShardWorker worker_;
  std::stop_source stop_;  // of the threads; replaced by start()

  mutable Mutex mutex_;
  CondVar changed_;
  bool maintain_now_ GUARDED_BY(mutex_) = false;  // a shard has ended or was missed
  bool running_ GUARDED_BY(mutex_) = false;
  std::string stream_ GUARDED_BY(mutex_);
  std::string problem_ GUARDED_BY(mutex_);

  std::vector<std::jthread> threads_;  // last: joined before anything they read is destroyed
};

}  // namespace stator::runtime
