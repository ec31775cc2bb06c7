#include "stator/api/items/item_writes.h"
#include "stator/api/json/expressions.h"
#include "stator/value/well_formed.h"

namespace stator::api {

Result<UpdateItemRequest> decode(As<UpdateItemRequest>, const JsonMembers& json, expr::Cache& cache) {
  TRY(check_expression_parameters(
      json, {.expressions = {"UpdateExpression", "ConditionExpression"}, .legacy = {"AttributeUpdates", "Expected"}}));
  UpdateItemRequest request;
  request.table = json.string("TableName").value_or("");
  request.key = TRY(json.item("Key"));
  decode_returns(json, request);
  auto expressions = TRY(decode_write_expressions(json, true, cache));
  request.update = std::move(expressions.update);
  request.legacy = expressions.legacy;
  request.condition = std::move(expressions.condition);
  return request;
}

Result<void> check(const UpdateItemRequest& request) {
  TRY(value::check_well_formed(request.key));
  return check_expression_values(request.condition, request.update);
}

void run(CallContext call, UpdateItemRequest request, Done<WriteItemAnswer> done) {
  engine::WriteAction action;
  action.kind = engine::WriteAction::Kind::Update;
  action.item = std::move(request.key);
  action.condition = std::move(request.condition);
  action.update = std::move(request.update);
  action.legacy = request.legacy;
  run_write(std::move(call), request.table, std::move(action), returns_of(request), std::move(done));
}

}  // namespace stator::api
