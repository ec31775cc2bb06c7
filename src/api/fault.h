#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/api/answer_item.h"
#include "stator/base/error.h"

namespace stator::api {

// Why one item of a transaction was, or was not, the reason for its cancellation.
struct CancellationReason {
  std::string code = "None";
  std::string message = {};             // empty: none
  std::optional<AnswerItem> item = {};  // as it was found, where that was asked for

  void write(value::JsonWriter& json) const;
};

// A failure as DynamoDB tells it.  Which HTTP status goes with it is the server's to know.
struct Fault {
  std::string type;  // "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"
  std::string message = {};
  bool server_side = false;
  std::optional<AnswerItem> item = {};                          // of a condition that failed: the item as it is
  std::optional<std::vector<CancellationReason>> reasons = {};  // of a transaction that was cancelled: one per item

  // {"__type":"...","message":"..."}, or without a message when there is none.
  std::string body() const;
  // The type without its namespace.
  std::string_view name() const;
};

// A server-side error is logged here; the client gets a text without details.
Fault to_fault(const Error& error);
// An exception of DynamoDB that only one operation has: `name` without its namespace.
Fault dynamodb_fault(std::string_view name, std::string message);

}  // namespace stator::api
