#include "stator/base/log_limit.h"

#include <utility>

namespace stator::log {

std::optional<std::uint64_t> Limit::admit(Time now) {
  MutexLock lock(mutex_);
  if (!used_ || now - begun_ >= period_) {
    used_ = true;
    begun_ = now;
    logged_ = 0;
  }
  if (logged_ >= lines_) {
    ++left_out_;
    return std::nullopt;
  }
  ++logged_;
  return std::exchange(left_out_, 0);
}

}  // namespace stator::log
