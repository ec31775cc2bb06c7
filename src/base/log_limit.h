#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "stator/base/mutex.h"

namespace stator::log {

// Bounds how often one kind of event is logged, so that a client that causes it cannot fill the disk.  Thread-safe.
class Limit {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // At most `lines` in each `period`.
  Limit(std::uint32_t lines, std::chrono::milliseconds period) : lines_(lines), period_(period) {}

  // Nothing, when there were enough lines already.  Else how many were left out since the last one that was logged.
  std::optional<std::uint64_t> admit(Time now = std::chrono::steady_clock::now());

 private:
  const std::uint32_t lines_;
  const std::chrono::milliseconds period_;

  Mutex mutex_;
  Time begun_ GUARDED_BY(mutex_);
  bool used_ GUARDED_BY(mutex_) = false;
  std::uint32_t logged_ GUARDED_BY(mutex_) = 0;  // since begun_
  std::uint64_t left_out_ GUARDED_BY(mutex_) = 0;
};

}  // namespace stator::log
