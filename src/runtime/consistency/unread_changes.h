#pragma once

#include <string>

#include "stator/base/mutex.h"
#include "stator/runtime/consistency/consistency_table.h"
#include "stator/runtime/consistency/shard_leases.h"
#include "stator/runtime/dynamo/stream_reader.h"
#include "stator/runtime/problem.h"

namespace stator::runtime {

// The changes that wait in shards which this manager does not read: shards of other managers, which may have died, and
// all shards while this manager is held.
// Thread-safe.
class UnreadChanges {
 public:
  // All outlive it.
  UnreadChanges(ConsistencyTable& table, StreamReader& reader, const ShardLeases& leases)
      : table_(table), reader_(reader), leases_(leases) {}

  // Reads without leases: nothing is propagated, and other managers may do the same.  `all`: the changes of our shards,
  // too.
  Result<void, Problem> count(const std::string& stream, bool all);

  // As they were counted last.
  unsigned shards() const;
  WaitingChanges waiting() const;

 private:
  ConsistencyTable& table_;
  StreamReader& reader_;
  const ShardLeases& leases_;

  mutable Mutex mutex_;
  unsigned shards_ GUARDED_BY(mutex_) = 0;
  WaitingChanges waiting_ GUARDED_BY(mutex_);
};

}  // namespace stator::runtime
