#pragma once

#include <chrono>

#include "stator/base/clock.h"

namespace stator {

// For tests of other threads: waits until the condition holds.  False when it does not within half a minute, so that a
// test fails instead of hanging.
template <typename Condition>
[[nodiscard]] bool eventually(Condition&& condition) {
  const SystemClock clock;
  const auto patience = clock.steady_now() + std::chrono::seconds(30);
  while (!condition()) {
    if (clock.steady_now() > patience) return false;
    clock.wait(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace stator
