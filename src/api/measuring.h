#pragma once

#include <optional>
#include <vector>

#include "stator/api/items/item_operations.h"

namespace stator::api {

// Where a request says whether its answer tells what it has consumed; null when it has no say.
template <typename Request>
CapacityDetail* detail_of(Request& request) {
  if constexpr (requires { request.page.capacity; }) {
    return &request.page.capacity;
  } else if constexpr (requires { request.reports.capacity; }) {
    return &request.reports.capacity;
  } else if constexpr (requires { request.capacity; }) {
    return &request.capacity;
  } else {
    return nullptr;
  }
}

inline std::optional<double> units_of(const ConsumedCapacity& consumed) { return consumed.units; }
inline std::optional<double> units_of(const std::vector<ConsumedCapacity>& consumed) {
  if (consumed.empty()) return std::nullopt;
  double units = 0;
  for (const auto& each : consumed) units += each.units;
  return units;
}
template <typename T>
std::optional<double> units_of(const std::optional<T>& consumed) {
  return consumed ? units_of(*consumed) : std::nullopt;
}

// Measures a request whose sender did not ask for its capacity, and removes the capacity from the answer.  A value
// type.
class Measuring {
 public:
  // `detail`: what the answer tells before take(), unless the sender asked for another one.
  template <typename Request>
  Measuring(Request& request, CapacityDetail detail) {
    auto* const asked = detail_of(request);
    if (asked == nullptr || *asked != CapacityDetail::None) return;
    *asked = detail;
    unasked_ = true;
  }

  // The consumed units, of all tables together; none if the answer does not tell them.
  template <typename Answer>
  std::optional<double> take(Answer& answer) const {
    if constexpr (requires { answer.capacity; }) {
      const auto units = units_of(answer.capacity);
      if (unasked_) answer.capacity = {};
      return units;
    } else {
      return std::nullopt;
    }
  }

 private:
  bool unasked_ = false;
};

}  // namespace stator::api
