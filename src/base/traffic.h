#pragma once

#include <atomic>
#include <chrono>

#include "stator/base/clock.h"

namespace stator {

// Tells background work whether clients are using the server: while they are, it pauses to make room for them.
// Thread-safe.
class Traffic {
 public:
  // Without a request for this long, nobody is waiting.
  static constexpr std::chrono::milliseconds kQuietAfter{1000};

  // A client's request has arrived.  Called for every request, so the time is written only when it has moved on.
  void note_request(SteadyTime now) {
    const auto at = now.time_since_epoch();
    if (at - last_.load(std::memory_order_relaxed) > kPrecision) last_.store(at, std::memory_order_relaxed);
  }
  bool is_quiet(SteadyTime now) const {
    return now.time_since_epoch() - last_.load(std::memory_order_relaxed) > kQuietAfter;
  }

 private:
  static constexpr std::chrono::milliseconds kPrecision{10};
  // Long ago, before any request.
  std::atomic<SteadyTime::duration> last_{SteadyTime::duration::min() / 2};
};

}  // namespace stator
