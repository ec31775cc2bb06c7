#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stop_token>

#include "stator/base/mutex.h"
#include "stator/base/wall_time.h"

namespace stator {

using SteadyTime = std::chrono::steady_clock::time_point;

// The only way to read the time and to wait, so that a test can choose the time and does not have to wait. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime now() const = 0;
  // A time that never goes back: for deadlines, and for how long something took.
  virtual SteadyTime steady_now() const = 0;
  // Waits until `changed` is notified or the duration has passed.  It may return earlier, so loop on the condition.
  virtual void wait_for(CondVar& changed, Mutex& mutex, std::chrono::nanoseconds duration) const REQUIRES(mutex) = 0;

  // Waits for the duration, or until a stop is requested.  False when it was stopped.
  bool wait(std::chrono::nanoseconds duration, const std::stop_token& stop = {}) const;
};

class SystemClock : public Clock {
 public:
  WallTime now() const override;
  SteadyTime steady_now() const override;
  void wait_for(CondVar& changed, Mutex& mutex, std::chrono::nanoseconds duration) const override REQUIRES(mutex);
};

// A clock for tests, which stands still until it is told to move.
//
// A wait moves it by its duration and is over at once.  After hold_waits() a wait lasts until the test has moved the
// clock that far: for threads that would otherwise take turns in moving it.  After wait_really() waits take real
// time, and only now() stands still: for threads that compete, and let each other go first by waiting.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(WallTime start = WallTime{std::chrono::seconds{1'700'000'000}})
      : now_(start.time_since_epoch().count()) {}
  WallTime now() const override { return WallTime{std::chrono::microseconds{now_.load()}}; }
  SteadyTime steady_now() const override;
  void wait_for(CondVar& changed, Mutex& mutex, std::chrono::nanoseconds duration) const override REQUIRES(mutex);

  void advance(std::chrono::microseconds by) { now_ += by.count(); }
  void hold_waits() { waits_ = Waits::Hold; }
  void wait_really() { waits_ = Waits::Real; }

 private:
  mutable std::atomic<std::int64_t> now_;
  enum class Waits : std::uint8_t { Skip, Hold, Real };
  std::atomic<Waits> waits_{Waits::Skip};
};

// Seconds since 1970 with milliseconds, the way DynamoDB's JSON prints a timestamp.
double epoch_seconds(WallTime time);

}  // namespace stator
