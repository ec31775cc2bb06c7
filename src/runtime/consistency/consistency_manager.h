#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "stator/base/clock.h"
#include "stator/base/mutex.h"
#include "stator/base/random.h"
#include "stator/client/client.h"
#include "stator/model/model.h"
#include "stator/runtime/consistency/consistency_table.h"
#include "stator/runtime/consistency/propagation.h"
#include "stator/runtime/consistency/reconciler.h"
#include "stator/runtime/dynamo/dynamo.h"
#include "stator/runtime/dynamo/stream_reader.h"
#include "stator/runtime/problem.h"

namespace stator::runtime {

struct ConsistencyOptions {
  unsigned workers = 2;  // shards that are read at the same time: the bound on what it asks of the database
  std::chrono::milliseconds lease{30'000};  // how long a manager that has died keeps others waiting
  std::chrono::milliseconds poll{200};      // how often a shard without news is asked
  // Who it is; empty: somebody new.  A name that only one manager can have at a time takes up at once what it was at when it died.
  std::string owner = {};
  unsigned attempts = 6;                     // before a record is parked
  std::chrono::milliseconds first_wait{50};  // after the first failure; it doubles, up to kLongestWait
};

struct ConsistencyStatus {
  bool running = false;
  bool verifying = false;  // changes may have been missed, and the whole table is being verified
  bool held = false;       // waiting: a migration to another model moves rows, or has moved them
  unsigned shards = 0;     // that this manager reads
  // How old the oldest change is that is not done, whoever is to do it; zero: none is waiting.  While the table is verified, what
  // came since that began.
  std::chrono::milliseconds lag{};
  std::uint64_t waiting = 0;   // changes that were seen and are not done; there may be more behind them
  std::uint64_t carried = 0;   // changes that are done, since the start
  std::uint64_t parked = 0;    // records that were parked, since the start
  std::uint64_t repaired = 0;  // findings of verifications that were repaired, since the start
  std::string problem;         // the last one; empty while all is well
};

// Keeps copies, cascades and what expires true: reads the stream of a model's table and carries every change to what depends on it.
//
// Shards are shared among managers by leases, children after their parents, each shard in order.  A change is checkpointed after it
// was carried, so a process that dies at any point repeats at most a little, which does no harm (see Propagation).  When changes
// may have been missed (the first start, another stream, a checkpoint that is older than what a stream keeps), positions are taken
// first, and then the whole table is verified and repaired.  A record that fails again and again is parked, where people can see
// and replay it, and the others go on.  docs/internals/consistency.md tells how and why.
//
// Thread-safe.  Owns its threads, which are joined by stop() and by the destructor.
class ConsistencyManager {
 public:
  static constexpr std::chrono::milliseconds kLongestWait{10'000};
  static constexpr std::chrono::milliseconds kAfterProblem{1'000};
  // Streams keep a day; what was read up to longer ago than this may have been missed.
  static constexpr std::chrono::hours kRetention{23};

  // All outlive it.
  ConsistencyManager(std::shared_ptr<const model::Model> model, client::Client& client, const Clock& clock,
                     Random& random, ConsistencyOptions options = {});
  ~ConsistencyManager();

  // Whether a model has rules that need one.
  static bool needed(const model::Model& model) { return Propagation::needed(model); }

  // Errors: Invalid, when the table has no stream with both images.
  Result<void, Problem> start();
  // Ends the threads and gives the leases back.
  void stop();
  ConsistencyStatus status() const;

  // Carries what there is, here and now, and returns when nothing is left that this manager may read.  Not while it is started.
  Result<void, Problem> catch_up();

  Result<std::vector<ParkedRecord>, Problem> parked();
  // Carries a parked record, and forgets it when that went well.  Errors: NotFound.
  Result<void, Problem> replay(const std::string& id);

 private:
  // A shard whose lease is ours.
  struct Shard {
    std::string id;
    std::optional<std::string> checkpoint;
    std::optional<std::string> iterator;
    std::int64_t read_to_ms = 0;
    bool busy = false;  // a worker is at it
    bool lost = false;  // the lease is somebody else's by now
    WallTime oldest_waiting{};
    std::uint64_t waiting = 0;
    std::chrono::steady_clock::time_point next_read{};
  };
  using ShardPtr = std::shared_ptr<Shard>;

  Result<void, Problem> open();
  // One round: finds shards, takes and renews leases, and verifies when that is necessary.
  Result<void, Problem> tend();
  Result<void, Problem> verify_everything(const std::optional<StreamProgress>& seen, const std::string& stream);
  Result<bool, Problem> add_new_shards(const std::vector<StreamShard>& listed, std::vector<ShardProgress>& known);
  Result<bool, Problem> settle_vanished_shards(const std::vector<StreamShard>& listed,
                                               std::vector<ShardProgress>& known);
  Result<void, Problem> renew_leases();
  Result<void, Problem> take_leases(const std::vector<ShardProgress>& known);
  void give_back_leases();

  // One page of one shard.  True when there were changes, or may be more at once.
  Result<bool, Problem> advance(Shard& shard);
  Result<ChangePage, Problem> next_page(Shard& shard);
  Result<void, Problem> carry_or_park(Shard& shard, const Change& change);
  Result<void, Problem> park(const Shard& shard, const Change& change, const Problem& problem, unsigned attempts);
  Result<bool, Problem> held();
  // What waits in shards that it does not read: all while it is held, else those of others, who may be dead.
  Result<void, Problem> count_unread();
  // Looks at what others read meanwhile.
  void wait_for_tending();
  // Waits for that, or until it is time to look at what others read.
  bool is_time_to_tend(std::chrono::steady_clock::time_point until);
  bool is_missed(const ShardProgress& shard) const;

  ShardPtr next_shard();
  void tend_until_stopped();
  void work_until_stopped();
  bool stopping() const;
  // Returns early when it is stopped.
  void wait(std::chrono::milliseconds duration);
  void note(const std::string& problem);

  // Constant after construction.
  std::shared_ptr<const model::Model> model_;
  const Clock& clock_;
  Random& random_;
  const ConsistencyOptions options_;
  const std::string owner_;
  const value::Item keys_;  // how the model makes primary keys
  // Thread-safe.
  Dynamo dynamo_;
  ConsistencyTable table_;
  StreamReader reader_;
  Reconciler reconciler_;
  Propagation propagation_;

  mutable Mutex mutex_;
  CondVar changed_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::string stream_ GUARDED_BY(mutex_);
  bool must_verify_ GUARDED_BY(mutex_) = false;  // a shard turned out to have been missed
  bool tend_now_ GUARDED_BY(mutex_) = false;     // a shard has ended: its children wait
  std::map<std::string, ShardPtr> shards_ GUARDED_BY(mutex_);
  ConsistencyStatus status_ GUARDED_BY(mutex_);
  unsigned unread_shards_ GUARDED_BY(mutex_) = 0;  // that others read, or nobody
  std::uint64_t unread_ GUARDED_BY(mutex_) = 0;    // changes in them
  WallTime oldest_unread_ GUARDED_BY(mutex_){};
  WallTime verifying_since_ GUARDED_BY(mutex_){};

  std::vector<std::jthread> threads_;  // last: joined before anything they read is destroyed
};

// How each entity's primary key is made: tells apart models that look for the same entity in different places.
value::Item primary_keys(const model::Model& model);

}  // namespace stator::runtime
