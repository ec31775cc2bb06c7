#include <fmt/format.h>

#include "stator/api/expressions.h"
#include "stator/api/item_writes.h"
#include "stator/api/legacy.h"
#include "stator/api/table_name.h"
#include "stator/engine/item_rules.h"

namespace stator::api {
namespace {

Result<engine::WriteAction> read_update(OperationCall& call) {
  const auto& request = call.request();
  TRY(check_expression_parameters(request, {.expressions = {"UpdateExpression", "ConditionExpression"},
                                            .legacy = {"AttributeUpdates", "Expected"}}));
  engine::WriteAction action{
      .kind = engine::WriteAction::Kind::Update, .table = {}, .item = {}, .condition = {}, .update = {}};
  action.item = TRY(value::decode_item(*request.element("Key")));
  action.update = TRY(legacy_updates(request));
  action.legacy = action.update.has_value();
  action.condition = TRY(legacy_expected(request));
  TRY(bind_expressions(call, request, action));
  action.table = TRY(find_table(call));
  TRY(engine::check_key(*action.table, action.item));
  if (action.update) TRY(engine::check_scalar_keys(*action.table, action.update->nested_attributes()));
  if (action.condition) TRY(engine::check_scalar_keys(*action.table, action.condition->nested_attributes()));
  if (action.update) TRY(check_keys_untouched(*action.table, *action.update));
  return action;
}

}  // namespace

void update_item(OperationCall call) {
  auto action = read_update(call);
  if (!action) return call.fail(action.error());
  const auto answer = WriteAnswer::from(call.request());
  run_write(std::move(call), std::move(*action), answer);
}

}  // namespace stator::api
