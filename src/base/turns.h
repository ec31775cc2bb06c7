#pragma once

#include <chrono>

#include "stator/base/clock.h"
#include "stator/base/mutex.h"

namespace stator {

// A lock with a timeout.  Thread-safe.
class Turns {
 public:
  explicit Turns(const Clock& clock) : clock_(clock) {}  // outlives it

  // Holds the lock until it is destroyed; false if the timeout passed.  The Turns object outlives it.
  class Turn {
   public:
    Turn(Turns& turns, std::chrono::milliseconds patience) : turns_(turns), taken_(turns.take(patience)) {}
    ~Turn() {
      if (taken_) turns_.give_back();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    explicit operator bool() const { return taken_; }

   private:
    Turns& turns_;
    const bool taken_;
  };

 private:
  bool take(std::chrono::milliseconds patience) {
    const auto deadline = clock_.steady_now() + patience;
    MutexLock lock(mutex_);
    while (taken_) {
      const auto left = deadline - clock_.steady_now();
      if (left <= left.zero()) return false;
      clock_.wait_for(free_, mutex_, left);
    }
    taken_ = true;
    return true;
  }
  void give_back() {
    {
      MutexLock lock(mutex_);
      taken_ = false;
    }
    free_.notify_one();
  }

  const Clock& clock_;
  Mutex mutex_;
  CondVar free_;
  bool taken_ GUARDED_BY(mutex_) = false;
};

}  // namespace stator
