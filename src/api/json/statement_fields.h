#pragma once

#include "stator/api/json/fields.h"
#include "stator/api/json/item_names.h"
#include "stator/api/partiql/statement_operations.h"

// The members of requests and answers about PartiQL statements.
namespace stator::api {

// `ReturnValuesOnConditionCheckFailure`, which says ALL_OLD or NONE.
enum class FailureReturns : std::uint8_t { None, AllOld };
template <>
struct EnumNames<FailureReturns> {
  static constexpr std::array<std::string_view, 2> names = {"NONE", "ALL_OLD"};
};
template <typename Fields, typename Flag>
void return_item_field(Fields& f, Flag& flag) {
  auto returns = flag ? FailureReturns::AllOld : FailureReturns::None;
  f("ReturnValuesOnConditionCheckFailure", returns);
  if constexpr (Fields::kReads) flag = returns == FailureReturns::AllOld;
}

template <typename Fields, Is<ExecuteStatementRequest> T>
void fields(Fields& f, T& request) {
  f("Statement", request.statement);
  f("Parameters", request.parameters);
  f("ConsistentRead", request.consistent);
  f("NextToken", request.next_token);
  f("ReturnConsumedCapacity", request.capacity);
  f("Limit", request.limit);
  return_item_field(f, request.return_item_on_failure);
}
template <typename Fields, Is<ExecuteStatementAnswer> T>
void fields(Fields& f, T& answer) {
  f.required("Items", answer.items);
  f("NextToken", answer.next_token);
  f("LastEvaluatedKey", answer.last_key);
  f("ConsumedCapacity", answer.capacity);
}

template <typename Fields, Is<StatementError> T>
void fields(Fields& f, T& error) {
  f("Code", error.code);
  f("Message", error.message);
  f("Item", error.item);
}
template <typename Fields, Is<StatementAnswer> T>
void fields(Fields& f, T& answer) {
  f("Error", answer.error);
  f("TableName", answer.table);
  f("Item", answer.item);
}
template <typename Fields, Is<BatchExecuteStatementAnswer> T>
void fields(Fields& f, T& answer) {
  f.required("Responses", answer.responses);
  f("ConsumedCapacity", answer.capacity);
}
template <typename Fields, Is<ExecuteTransactionAnswer> T>
void fields(Fields& f, T& answer) {
  f.required("Responses", answer.responses);
  f.unless_empty("ConsumedCapacity", answer.capacity);
}

// A transaction's reads are consistent anyway, and its statements may not say so.
template <typename Fields, Is<StatementRequest> T>
void fields(Fields& f, T& statement) {
  f("Statement", statement.statement);
  f("Parameters", statement.parameters);
  f("ConsistentRead", statement.consistent);
  return_item_field(f, statement.return_item_on_failure);
}
template <typename Fields, Is<BatchExecuteStatementRequest> T>
void fields(Fields& f, T& request) {
  f("Statements", request.statements);
  f("ReturnConsumedCapacity", request.capacity);
}
template <typename Fields, Is<ExecuteTransactionRequest> T>
void fields(Fields& f, T& request) {
  f("TransactStatements", request.statements);
  auto token = request.token ? std::optional(request.token->text) : std::nullopt;
  f("ClientRequestToken", token);
  if constexpr (Fields::kReads) {
    if (token) request.token = ClientRequestToken{.text = std::move(*token)};
  }
  f("ReturnConsumedCapacity", request.capacity);
}

}  // namespace stator::api
