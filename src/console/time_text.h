#pragma once

#include <chrono>
#include <string>

#include "stator/base/wall_time.h"
#include "stator/model/types/calendar.h"

namespace stator::console {

// "2026-01-15T10:00:00.000Z", as pages read a time.
inline std::string time_text(WallTime time) {
  return model::format_timestamp(std::chrono::floor<std::chrono::milliseconds>(time));
}

}  // namespace stator::console
