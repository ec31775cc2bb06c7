#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stator/api/items/item_operations.h"
#include "stator/base/error.h"

// The operations that run PartiQL statements, as types.
namespace stator::api {

struct ExecuteStatementAnswer {
  AnswerItems items;
  std::optional<std::string> next_token = {};
  std::optional<value::Item> last_key = {};
  std::optional<ConsumedCapacity> capacity = {};
};
struct ExecuteStatementRequest {
  using Answer = ExecuteStatementAnswer;
  std::string statement;
  std::optional<std::vector<value::AttributeValue>> parameters = {};
  bool consistent = false;
  std::optional<std::string> next_token = {};
  CapacityDetail capacity = CapacityDetail::None;
  std::optional<std::int64_t> limit = {};
  bool return_item_on_failure = false;
};

// One statement of several.
struct StatementRequest {
  std::string statement;
  std::optional<std::vector<value::AttributeValue>> parameters = {};
  std::optional<bool> consistent = {};  // in a batch
  bool return_item_on_failure = false;
  std::optional<Error> error = {};  // of a batch that came over a wire: why its parameters are none
};
struct StatementError {
  std::string code, message;
  std::optional<AnswerItem> item = {};
};
struct StatementAnswer {
  std::optional<StatementError> error = {};
  std::optional<std::string> table = {};
  std::optional<AnswerItem> item = {};
};
struct BatchExecuteStatementAnswer {
  std::vector<StatementAnswer> responses;
  std::optional<std::vector<ConsumedCapacity>> capacity = {};
};
struct BatchExecuteStatementRequest {
  using Answer = BatchExecuteStatementAnswer;
  std::vector<StatementRequest> statements;
  CapacityDetail capacity = CapacityDetail::None;
};

struct ExecuteTransactionAnswer {
  std::vector<StatementAnswer> responses;  // only their items
  std::vector<ConsumedCapacity> capacity = {};
};
struct ExecuteTransactionRequest {
  using Answer = ExecuteTransactionAnswer;
  std::vector<StatementRequest> statements;
  std::optional<ClientRequestToken> token = {};
  CapacityDetail capacity = CapacityDetail::None;
};

}  // namespace stator::api
