#pragma once

#include <algorithm>
#include <atomic>
#include <utility>

#include "stator/base/clock.h"
#include "stator/base/mutex.h"

namespace stator::storage::postgres {

// The time of the database server, which all processes that share a store agree on.  Between two readings of it, the
// steady clock of this machine goes on.
//
// A reading tells only that the server's time was reached at some moment between question and answer.  So a reading
// moves the clock no further than it must: a slow one leaves the clock as the quicker ones before it have set it.
// Thread-safe.
class DatabaseClock final : public SystemClock {
 public:
  WallTime now() const override {
    const auto steady = std::chrono::duration_cast<std::chrono::microseconds>(steady_now().time_since_epoch());
    return WallTime{steady + std::chrono::microseconds{ahead_.load(std::memory_order_relaxed)}};
  }

  // The server said that it was `time` at some moment between `asked` and `answered`.
  void note_reading(WallTime time, SteadyTime asked, SteadyTime answered) {
    MutexLock lock(mutex_);
    const auto least = microseconds_ahead(time, answered);
    const auto most = microseconds_ahead(time, asked);
    const auto ahead =
        std::exchange(is_set_, true) ? ahead_.load(std::memory_order_relaxed) : least + (most - least) / 2;
    ahead_.store(std::clamp(ahead, least, most), std::memory_order_relaxed);
  }

 private:
  static std::int64_t microseconds_ahead(WallTime time, SteadyTime steady) {
    const auto since = std::chrono::duration_cast<std::chrono::microseconds>(steady.time_since_epoch());
    return (time.time_since_epoch() - since).count();
  }

  std::atomic<std::int64_t> ahead_{0};  // of the steady clock, in microseconds
  Mutex mutex_;                         // held to note a reading
  bool is_set_ GUARDED_BY(mutex_) = false;
};

}  // namespace stator::storage::postgres
