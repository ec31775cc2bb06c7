#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/clock.h"
#include "stator/base/mutex.h"
#include "stator/client/traced_client.h"
#include "stator/console/hot_partitions.h"
#include "stator/console/request_partitions.h"

namespace stator::console {

// One request of the DynamoDB API, as the console shows it.  Headers are not kept.
struct LiveRequest {
  std::uint64_t id = 0;
  WallTime at;
  std::string operation, table;
  int status = 200;
  std::string error;  // the name of the fault; empty: it went well
  std::chrono::microseconds took{};
  std::size_t request_bytes = 0, response_bytes = 0;
  std::optional<double> capacity;  // nothing when it is not measured
  std::vector<Partition> partitions;
  std::string body;  // the beginning of it
  bool cut = false;  // there was more of it
};

// The latest requests, and the partitions that they are about, while somebody looks.
//
// Without a watcher, watches() is one relaxed load of an atomic, nothing is kept, and nothing else is done.  A watcher
// is present for kPatience after look().  At most kMost requests are kept, of at most kMostBytes.  Thread-safe.
class LiveRequests final : public client::CallWatcher {
 public:
  static constexpr std::chrono::seconds kPatience{10};
  static constexpr std::size_t kMost = 2'000;
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20;
  static constexpr std::size_t kMostBodyBytes = 4 << 10;

  // The clock outlives it.
  LiveRequests(const Clock& clock, PartitionKeyOf key_of) : clock_(clock), key_of_(std::move(key_of)) {}

  bool watches() override {
    const auto until = watched_until_.load(std::memory_order_relaxed);
    return until != 0 && is_before(until);
  }

  // A request that has just arrived, while somebody watches.  The caller fills in the facts that are known later, and
  // then calls finish().
  std::unique_ptr<LiveRequest> begin(std::string_view operation, std::string_view body) const;
  void finish(std::unique_ptr<LiveRequest> request);

  // Calls of the systems in this process.
  void saw(const client::TracedCall& call) override;

  // Marks that somebody watches.
  void look();

  struct News {
    std::uint64_t cursor = 0;   // for the next call of after()
    std::uint64_t dropped = 0;  // requests that were forgotten before they could be told
    std::vector<LiveRequest> requests;
  };
  // The requests after that id; all requests if the id is from before the last restart.
  News after(std::uint64_t cursor) const;
  std::vector<HotPartitions::Entry> hottest(std::size_t most) const;

 private:
  bool is_before(std::int64_t until);
  static std::size_t size_of(const LiveRequest& request);

  const Clock& clock_;
  const PartitionKeyOf key_of_;
  std::atomic<std::int64_t> watched_until_ = 0;  // of the steady clock, in nanoseconds; 0: no watcher

  mutable Mutex mutex_;
  std::deque<LiveRequest> requests_ GUARDED_BY(mutex_);
  std::size_t bytes_ GUARDED_BY(mutex_) = 0;
  std::uint64_t last_id_ GUARDED_BY(mutex_) = 0;
  HotPartitions hot_ GUARDED_BY(mutex_);
};

}  // namespace stator::console
