#include "stator/base/clock.h"

namespace stator {

WallTime SystemClock::now() const {
  return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
}

double epoch_seconds(WallTime time) {
  const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
  return static_cast<double>(millis) / 1000.0;
}

}  // namespace stator
