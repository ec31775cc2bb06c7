#include "stator/api/expressions.h"
#include "stator/api/item_writes.h"
#include "stator/api/legacy.h"
#include "stator/api/table_name.h"
#include "stator/engine/item_rules.h"
#include "stator/value/item_size.h"

namespace stator::api {
namespace {

Result<engine::WriteAction> read_put(OperationCall& call) {
  const auto& request = call.request();
  TRY(check_expression_parameters(request, {.expressions = {"ConditionExpression"}, .legacy = {"Expected"}}));
  engine::WriteAction action{
      .kind = engine::WriteAction::Kind::Put, .table = {}, .item = {}, .condition = {}, .update = {}};
  action.item = TRY(value::decode_item(*request.element("Item")));
  const auto values = return_values(request);
  if (values != ReturnValues::None && values != ReturnValues::AllOld) {
    return validation_error("ReturnValues can only be ALL_OLD or NONE");
  }
  if (value::item_size_bytes(action.item) > value::kMaxItemSizeBytes) {
    return validation_error("Item size has exceeded the maximum allowed size");
  }
  action.condition = TRY(legacy_expected(request));
  TRY(bind_expressions(call, request, action));
  action.table = TRY(find_table(call));
  TRY(engine::check_item(*action.table, action.item));
  if (action.condition) TRY(engine::check_scalar_keys(*action.table, action.condition->nested_attributes()));
  return action;
}

}  // namespace

void put_item(OperationCall call) {
  auto action = read_put(call);
  if (!action) return call.fail(action.error());
  const auto answer = WriteAnswer::from(call.request());
  run_write(std::move(call), std::move(*action), answer);
}

}  // namespace stator::api
