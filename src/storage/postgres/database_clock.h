#pragma once

#include <atomic>

#include "stator/base/clock.h"

namespace stator::storage::postgres {

// The time of the database server, which all processes that share a store agree on.  Between two readings of it, the
// steady clock of this machine goes on from the last one.  Thread-safe.
class DatabaseClock final : public SystemClock {
 public:
  WallTime now() const override {
    const auto steady = std::chrono::duration_cast<std::chrono::microseconds>(steady_now().time_since_epoch());
    return WallTime{steady + std::chrono::microseconds{ahead_.load(std::memory_order_relaxed)}};
  }

  // The server said that it was `time` at some moment between `asked` and now.
  void set(WallTime time, SteadyTime asked) {
    const auto middle = asked + (steady_now() - asked) / 2;
    const auto steady = std::chrono::duration_cast<std::chrono::microseconds>(middle.time_since_epoch());
    ahead_.store((time.time_since_epoch() - steady).count(), std::memory_order_relaxed);
  }

 private:
  std::atomic<std::int64_t> ahead_{0};  // of the steady clock, in microseconds
};

}  // namespace stator::storage::postgres
