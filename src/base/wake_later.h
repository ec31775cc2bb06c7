#pragma once

#include "stator/base/unique_function.h"

namespace stator {

// Delays the wake-ups of other threads by this thread until it is destroyed.  A thread that answers many clients wakes
// each event loop once, after the last answer, so that the first loop does not take the processor from it.  They nest;
// the outermost one counts.
class WakeLater {
 public:
  WakeLater();
  ~WakeLater();
  WakeLater(const WakeLater&) = delete;
  WakeLater& operator=(const WakeLater&) = delete;

  // Calls `wake` at the end of this thread's WakeLater, or at once if it has none.
  static void call(UniqueFunction<void()> wake);
};

}  // namespace stator
