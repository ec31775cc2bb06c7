#include "stator/api/items/item_writes.h"
#include "stator/api/json/expressions.h"
#include "stator/api/json/legacy.h"
#include "stator/api/tables/table_name.h"
#include "stator/engine/item_rules.h"
#include "stator/value/well_formed.h"

namespace stator::api {

Result<DeleteItemRequest> decode(As<DeleteItemRequest>, const JsonMembers& json, expr::Cache& cache) {
  TRY(check_expression_parameters(json, {.expressions = {"ConditionExpression"}, .legacy = {"Expected"}}));
  DeleteItemRequest request;
  request.table = json.string("TableName").value_or("");
  request.key = TRY(value::decode_item(*json.element("Key")));
  decode_returns(json, request);
  TRY(check_returns_old(request.return_values));
  request.condition = TRY(legacy_expected(json));
  auto bound = TRY(bind_write_expressions(json, false, cache));
  if (bound.condition) request.condition = std::move(bound.condition);
  return request;
}

Result<void> check(const DeleteItemRequest& request) {
  TRY(value::check_well_formed(request.key));
  TRY(check_returns_old(request.return_values));
  return check_expression_values(request.condition);
}

void run(CallContext call, DeleteItemRequest request, Done<WriteItemAnswer> done) {
  const auto plan = [&]() -> Result<engine::WriteAction> {
    engine::WriteAction action;
    action.kind = engine::WriteAction::Kind::Delete;
    action.table = TRY(find_table(call, request.table));
    action.item = std::move(request.key);
    action.condition = std::move(request.condition);
    TRY(engine::check_key(*action.table, action.item));
    if (action.condition) TRY(engine::check_scalar_keys(*action.table, action.condition->nested_attributes()));
    return action;
  };
  auto action = plan();
  run_write(std::move(call), std::move(action), returns_of(request), std::move(done));
}

}  // namespace stator::api
