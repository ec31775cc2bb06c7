#pragma once

#include <optional>
#include <string>

#include "stator/api/fault.h"
#include "stator/base/memory_budget.h"
#include "stator/base/result.h"
#include "stator/base/unique_function.h"

namespace stator::api {

struct Reply {
  Result<std::string, Fault> outcome = std::string();  // the body of a success
  std::string table;                                   // the table it was about, where there is one; for metrics
  MemoryClaim memory = {};  // memory of the body from CallOptions::memory, if it was claimed while it grew
  // Nothing was done: the answer is larger than CallOptions::quick_bytes, or its reader is not enough.  Call again
  // where it may take long.
  bool takes_long = false;
  std::optional<double> capacity = {};  // units of all tables together; with CallOptions::measure

  bool ok() const { return outcome.ok(); }
};

// Called once, on any thread; must not block.
using ReplyCallback = UniqueFunction<void(Reply)>;

}  // namespace stator::api
