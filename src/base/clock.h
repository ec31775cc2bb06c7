#pragma once

#include <atomic>
#include <chrono>

namespace stator {

using WallTime = std::chrono::sys_time<std::chrono::microseconds>;

// The only way to know what time it is, so that a test can be at any moment.  Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime now() const = 0;
};

class SystemClock final : public Clock {
 public:
  WallTime now() const override;
};

// A clock that stands still until it is told to move.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(WallTime start = WallTime{std::chrono::seconds{1'700'000'000}})
      : now_(start.time_since_epoch().count()) {}
  WallTime now() const override { return WallTime{std::chrono::microseconds{now_.load()}}; }
  void advance(std::chrono::microseconds by) { now_ += by.count(); }

 private:
  std::atomic<std::int64_t> now_;
};

// Seconds since 1970 with milliseconds, the way DynamoDB's JSON prints a timestamp.
double epoch_seconds(WallTime time);

}  // namespace stator
