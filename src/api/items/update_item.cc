#include "stator/api/items/item_writes.h"
#include "stator/api/json/expressions.h"
#include "stator/api/json/legacy.h"
#include "stator/api/tables/table_name.h"
#include "stator/engine/item_rules.h"
#include "stator/value/item_size.h"
#include "stator/value/well_formed.h"

namespace stator::api {

Result<UpdateItemRequest> decode(As<UpdateItemRequest>, const JsonMembers& json, expr::Cache& cache) {
  TRY(check_expression_parameters(
      json, {.expressions = {"UpdateExpression", "ConditionExpression"}, .legacy = {"AttributeUpdates", "Expected"}}));
  UpdateItemRequest request;
  request.table = json.string("TableName").value_or("");
  request.key = TRY(value::decode_item(*json.element("Key")));
  decode_returns(json, request);
  request.update = TRY(legacy_updates(json));
  request.legacy = request.update.has_value();
  request.condition = TRY(legacy_expected(json));
  auto bound = TRY(bind_write_expressions(json, true, cache));
  if (bound.update) request.update = std::move(bound.update);
  if (bound.condition) request.condition = std::move(bound.condition);
  return request;
}

Result<void> check(const UpdateItemRequest& request) {
  TRY(value::check_well_formed(request.key));
  return check_expression_values(request.condition, request.update);
}

void run(CallContext call, UpdateItemRequest request, Done<WriteItemAnswer> done) {
  const auto plan = [&]() -> Result<engine::WriteAction> {
    engine::WriteAction action;
    action.kind = engine::WriteAction::Kind::Update;
    action.table = TRY(find_table(call, request.table));
    action.item = std::move(request.key);
    action.condition = std::move(request.condition);
    action.update = std::move(request.update);
    action.legacy = request.legacy;
    const auto& table = *action.table;
    TRY(engine::check_key(table, action.item));
    if (action.update) TRY(engine::check_scalar_keys(table, action.update->nested_attributes()));
    if (action.condition) TRY(engine::check_scalar_keys(table, action.condition->nested_attributes()));
    if (action.update) TRY(check_keys_untouched(table, *action.update));
    if (action.update && !action.legacy && action.update->charged_bytes() > value::kMaxItemSizeBytes) {
      return value::update_size_error();
    }
    return action;
  };
  auto action = plan();
  run_write(std::move(call), std::move(action), returns_of(request), std::move(done));
}

}  // namespace stator::api
