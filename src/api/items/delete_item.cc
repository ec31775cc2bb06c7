#include "stator/api/items/item_writes.h"
#include "stator/api/json/expressions.h"
#include "stator/value/well_formed.h"

namespace stator::api {

Result<DeleteItemRequest> decode(As<DeleteItemRequest>, const JsonMembers& json, expr::Cache& cache) {
  TRY(check_expression_parameters(json, {.expressions = {"ConditionExpression"}, .legacy = {"Expected"}}));
  DeleteItemRequest request;
  request.table = json.string("TableName").value_or("");
  request.key = TRY(json.item("Key"));
  decode_returns(json, request);
  TRY(check_returns_old(request.return_values));
  auto expressions = TRY(decode_write_expressions(json, false, cache));
  request.condition = std::move(expressions.condition);
  return request;
}

Result<void> check(const DeleteItemRequest& request) {
  TRY(value::check_well_formed(request.key));
  TRY(check_returns_old(request.return_values));
  return check_expression_values(request.condition);
}

void run(CallContext call, DeleteItemRequest request, Done<WriteItemAnswer> done) {
  engine::WriteAction action;
  action.kind = engine::WriteAction::Kind::Delete;
  action.item = std::move(request.key);
  action.condition = std::move(request.condition);
  run_write(std::move(call), request.table, std::move(action), returns_of(request), std::move(done));
}

}  // namespace stator::api
