#pragma once

#include <chrono>

namespace stator {

// A time of day.
using WallTime = std::chrono::sys_time<std::chrono::microseconds>;

}  // namespace stator
