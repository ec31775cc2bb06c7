#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "stator/base/clock.h"
#include "stator/base/mutex.h"
#include "stator/runtime/consistency/consistency_table.h"
#include "stator/runtime/consistency/reconciler.h"
#include "stator/runtime/dynamo/stream_reader.h"
#include "stator/runtime/problem.h"

namespace stator::runtime {

// Verifies and repairs the whole table when changes may have been missed.  One manager at a time does it, by a lease.
// Thread-safe; run() is called by one thread at a time.
class TableVerification {
 public:
  // All outlive it.
  TableVerification(ConsistencyTable& table, StreamReader& reader, Reconciler& reconciler, const Clock& clock,
                    std::string owner, std::chrono::milliseconds lease);

  // A shard turned out to have been missed, so the next round verifies.
  void ask();
  bool is_asked() const;

  // Takes the stream's positions, and verifies.  Returns early when it is stopped. No manager reads shards meanwhile.
  // `seen`: the stream's row as it was read.  False when another manager does it.
  Result<bool, Problem> run(const std::optional<StreamProgress>& seen, const std::string& stream,
                            const std::stop_token& stop);

  struct Status {
    std::optional<WallTime> since;  // when the one began that is not done; nullopt: none is under way
    std::uint64_t repaired = 0;     // findings, in all
  };
  Status status() const;

 private:
  Result<void, Problem> take_positions(const std::string& stream);

  ConsistencyTable& table_;
  StreamReader& reader_;
  Reconciler& reconciler_;
  const Clock& clock_;
  const std::string owner_;
  const std::chrono::milliseconds lease_;

  mutable Mutex mutex_;
  bool asked_ GUARDED_BY(mutex_) = false;
  Status status_ GUARDED_BY(mutex_);
};

}  // namespace stator::runtime
