#pragma once

#include <optional>
#include <string>
#include <variant>

#include "stator/api/fault.h"
#include "stator/base/memory_budget.h"
#include "stator/base/unique_function.h"

namespace stator::api {

struct Reply {
  std::variant<std::string, Fault> outcome;  // the body of a success, or a fault
  std::string table;                         // the table it was about, where there is one; for metrics
  MemoryClaim memory = {};  // what the body takes from CallOptions::memory, if it was claimed while it grew
  // Nothing was done: the answer is larger than CallOptions::quick_bytes.  Call again where it may take long.
  bool takes_long = false;
  std::optional<double> capacity = {};  // units of all tables together; with CallOptions::measure

  bool ok() const { return outcome.index() == 0; }
};

// Called once, on any thread; must not block.
using ReplyCallback = UniqueFunction<void(Reply)>;

}  // namespace stator::api
