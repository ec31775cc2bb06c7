#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <utility>

#include "stator/base/clock.h"
#include "stator/base/mutex.h"
#include "stator/runtime/consistency/consistency_table.h"
#include "stator/runtime/consistency/migration_hold.h"
#include "stator/runtime/consistency/propagation.h"
#include "stator/runtime/consistency/shard_leases.h"
#include "stator/runtime/dynamo/stream_reader.h"
#include "stator/runtime/problem.h"

namespace stator::runtime {

// Reads a shard page by page, and propagates every change in it to the rows that depend on it.
//
// A change is checkpointed after it was propagated.  One that fails again and again is parked, and the others go on.
// Thread-safe, but each shard has one worker at a time.
class ShardWorker {
 public:
  static constexpr std::chrono::milliseconds kLongestWait{10'000};

  struct Options {
    std::string table;                     // the model's, for the log
    std::string owner;                     // of the leases
    unsigned attempts = 6;                 // before a change is parked
    std::chrono::milliseconds first_wait;  // after the first failure; it doubles, up to kLongestWait
  };
  // The parts that it works with; all outlive it.
  struct Dependencies {
    const Clock& clock;
    ConsistencyTable& table;
    StreamReader& reader;
    Propagation& propagation;
    ShardLeases& leases;
    MigrationHold& hold;
  };
  ShardWorker(const Dependencies& uses, Options options) : uses_(uses), options_(std::move(options)) {}

  // The result of one page.
  struct Progress {
    bool more = false;    // there were changes, or there may be some at once
    bool ended = false;   // the shard was read to its end: its children can be read
    bool missed = false;  // the stream has forgotten changes that were not read
  };
  Result<Progress, Problem> advance(LeasedShard& shard, const std::stop_token& stop);

  struct Totals {
    std::uint64_t propagated = 0;  // changes that are done
    std::uint64_t parked = 0;
  };
  Totals totals() const;

 private:
  Result<ChangePage, Problem> next_page(LeasedShard& shard);
  // False when the lease is no longer ours.
  Result<bool, Problem> checkpoint(LeasedShard& shard, const Change& change);
  Result<void, Problem> propagate_or_park(const LeasedShard& shard, const Change& change, const std::stop_token& stop);
  Result<void, Problem> park(const LeasedShard& shard, const Change& change, const Problem& problem, unsigned attempts);

  const Dependencies uses_;
  const Options options_;

  mutable Mutex mutex_;
  Totals totals_ GUARDED_BY(mutex_);
};

}  // namespace stator::runtime
