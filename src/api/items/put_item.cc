#include "stator/api/items/item_writes.h"
#include "stator/api/json/expressions.h"
#include "stator/value/well_formed.h"

namespace stator::api {

Result<PutItemRequest> decode(As<PutItemRequest>, const JsonMembers& json, expr::Cache& cache) {
  TRY(check_expression_parameters(json, {.expressions = {"ConditionExpression"}, .legacy = {"Expected"}}));
  PutItemRequest request;
  request.table = json.string("TableName").value_or("");
  request.item = TRY(json.item("Item"));
  decode_returns(json, request);
  TRY(check_returns_old(request.return_values));
  TRY(check_put_size(request.item));
  auto expressions = TRY(decode_write_expressions(json, false, cache));
  request.condition = std::move(expressions.condition);
  return request;
}

Result<void> check(const PutItemRequest& request) {
  TRY(value::check_well_formed(request.item));
  TRY(check_returns_old(request.return_values));
  TRY(check_put_size(request.item));
  return check_expression_values(request.condition);
}

void run(CallContext call, PutItemRequest request, Done<WriteItemAnswer> done) {
  engine::WriteAction action;
  action.kind = engine::WriteAction::Kind::Put;
  action.item = std::move(request.item);
  action.condition = std::move(request.condition);
  run_write(std::move(call), request.table, std::move(action), returns_of(request), std::move(done));
}

}  // namespace stator::api
