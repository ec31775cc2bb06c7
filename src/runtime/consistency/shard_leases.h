#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/base/clock.h"
#include "stator/base/mutex.h"
#include "stator/runtime/consistency/consistency_table.h"
#include "stator/runtime/problem.h"

namespace stator::runtime {

// A shard with a lease of ours, and the position up to which it was read.  Used by one worker at a time, except for
// `read_to_ms`.
struct LeasedShard {
  LeasedShard(std::string of_stream, const ShardProgress& progress)
      : stream(std::move(of_stream)),
        id(progress.id),
        checkpoint(progress.checkpoint),
        read_to_ms(progress.read_to_ms) {}

  const std::string stream;
  const std::string id;
  std::optional<std::string> checkpoint;
  std::optional<std::string> iterator;
  std::atomic<std::int64_t> read_to_ms;
};
using ShardPtr = std::shared_ptr<LeasedShard>;

// Changes that were seen and are not done.
struct WaitingChanges {
  std::uint64_t count = 0;
  WallTime oldest = WallTime::max();  // when the first of them happened

  void add(std::uint64_t more, WallTime since) {
    if (more == 0) return;
    count += more;
    oldest = std::min(oldest, since);
  }
};

// The shards that one manager reads: it takes, renews and gives back their leases, and hands the shards to workers.
//
// A lease that has expired may belong to another manager.  Its shard is dropped; the worker notices this when it next
// calls note_waiting().  Thread-safe; the table is asked without the lock.
class ShardLeases {
 public:
  // Table and clock outlive it.  `lease`: how long a lease lasts.
  ShardLeases(ConsistencyTable& table, const Clock& clock, std::string owner, std::chrono::milliseconds lease);

  // Takes free shards among the known ones: never a child before its parent was read to its end.
  Result<void, Problem> take(const std::vector<ShardProgress>& known, const std::string& stream);
  Result<void, Problem> renew();
  // So that others need not wait until the leases have run out.
  void give_back();
  // All of them, without telling the table.
  void drop_all();
  void drop(const LeasedShard& shard);

  // For workers: a shard that is due and that no other worker has.  Waits for one; null when it is stopped.
  // `poll`: how long it waits at most before it looks again.
  ShardPtr next(std::chrono::milliseconds poll, const std::stop_token& stop);
  // The worker is done with it; it is due again after the pause.
  void put_back(const LeasedShard& shard, std::chrono::milliseconds pause);
  // Notes the changes that wait in a shard.  False when its lease is no longer ours.
  bool note_waiting(const LeasedShard& shard, std::uint64_t count, WallTime oldest);

  bool holds(const std::string& id) const;
  std::vector<ShardPtr> all() const;
  WaitingChanges waiting() const;

 private:
  struct Lease {
    ShardPtr shard;
    bool busy = false;  // a worker has it
    SteadyTime next_read = {};
    std::uint64_t waiting = 0;
    WallTime oldest_waiting = {};
  };
  // Null when it is no longer ours.
  Lease* find(const LeasedShard& shard) REQUIRES(mutex_);

  ConsistencyTable& table_;
  const Clock& clock_;
  const std::string owner_;
  const std::chrono::milliseconds lease_;

  mutable Mutex mutex_;
  CondVar changed_;
  std::map<std::string, Lease> leases_ GUARDED_BY(mutex_);  // by the shard's id
};

// The progress of a shard; null when there is none.
const ShardProgress* find_shard(const std::vector<ShardProgress>& shards, std::string_view id);

}  // namespace stator::runtime
