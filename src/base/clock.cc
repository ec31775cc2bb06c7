#include "stator/base/clock.h"

#include <algorithm>
#include <thread>

namespace stator {

bool Clock::wait(std::chrono::nanoseconds duration, const std::stop_token& stop) const {
  const auto until = steady_now() + duration;
  Mutex mutex;
  CondVar stopped;
  const std::stop_callback wake(stop, [&] {
    MutexLock lock(mutex);
    stopped.notify_all();
  });
  MutexLock lock(mutex);
  while (!stop.stop_requested()) {
    const auto left = until - steady_now();
    if (left <= left.zero()) return true;
    wait_for(stopped, mutex, left);
  }
  return false;
}

WallTime SystemClock::now() const {
  return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
}

SteadyTime SystemClock::steady_now() const { return std::chrono::steady_clock::now(); }

void SystemClock::wait_for(CondVar& changed, Mutex& mutex, std::chrono::nanoseconds duration) const {
  changed.wait_for(mutex, duration);
}

SteadyTime ManualClock::steady_now() const {
  if (waits_ == Waits::Real) return std::chrono::steady_clock::now();
  return SteadyTime{std::chrono::microseconds{now_.load()}};
}

void ManualClock::wait_for(CondVar& changed, Mutex& mutex, std::chrono::nanoseconds duration) const {
  constexpr std::chrono::milliseconds kLook{1};  // how often a held wait looks whether the clock was moved
  const Waits waits = waits_;
  if (waits == Waits::Hold) return changed.wait_for(mutex, std::min<std::chrono::nanoseconds>(duration, kLook));
  if (waits == Waits::Real) return changed.wait_for(mutex, duration);
  mutex.unlock();  // as a wait does, so that others get on
  now_ += std::chrono::ceil<std::chrono::microseconds>(std::max(duration, duration.zero())).count();
  std::this_thread::yield();
  mutex.lock();
}

double epoch_seconds(WallTime time) {
  const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
  return static_cast<double>(millis) / 1000.0;
}

}  // namespace stator
