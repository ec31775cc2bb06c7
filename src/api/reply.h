#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "stator/base/error.h"
#include "stator/base/memory_budget.h"
#include "stator/base/unique_function.h"

namespace stator::api {

// A failure as DynamoDB tells it.  Which HTTP status goes with it is the server's to know.
struct Fault {
  std::string type;  // "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"
  std::string message;
  std::string members;  // further members of the JSON body, each with a comma in front: ,"Item":{...}
  bool server_side = false;

  // {"__type":"...","message":"..."}, or without a message when there is none.
  std::string body() const;
  // The type without its namespace.
  std::string_view name() const;
};

// What went wrong on our side is logged here, and told without its details.
Fault to_fault(const Error& error);

struct Reply {
  std::variant<std::string, Fault> outcome;  // the body of a success, or a fault
  std::string table;                         // the table it was about, where there is one; for metrics
  MemoryClaim memory = {};  // what the body takes from CallOptions::memory, if it was claimed while it grew
  // Nothing was done: the answer is larger than CallOptions::quick_bytes.  Call again where it may take long.
  bool takes_long = false;

  bool ok() const { return outcome.index() == 0; }
};

// Called once, on any thread; must not block.
using ReplyCallback = UniqueFunction<void(Reply)>;

}  // namespace stator::api
