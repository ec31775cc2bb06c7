#include <fmt/format.h>

#include "stator/api/expressions.h"
#include "stator/api/item_writes.h"
#include "stator/api/table_name.h"
#include "stator/engine/item_rules.h"

namespace stator::api {
namespace {

Result<void> check_keys_untouched(const engine::Table& table, const expr::Update& update) {
  for (const auto& path : update.paths()) {
    if (table.keys.contains(path.attribute)) {
      return validation_error(fmt::format(
          "One or more parameter values were invalid: Cannot update attribute {}. This attribute is part of the key",
          path.attribute));
    }
  }
  return {};
}

Result<engine::WriteAction> read_update(Call& call) {
  const auto& request = call.request();
  TRY(check_expression_parameters(request, {.expressions = {"UpdateExpression", "ConditionExpression"},
                                            .legacy = {"AttributeUpdates", "Expected"}}));
  TRY(refuse_legacy(request, {"AttributeUpdates", "Expected", "ConditionalOperator"}));
  engine::WriteAction action{
      .kind = engine::WriteAction::Kind::Update, .table = {}, .item = {}, .condition = {}, .update = {}};
  action.item = TRY(value::decode_item(*request.element("Key")));
  const auto update = request.string("UpdateExpression");
  const auto condition = request.string("ConditionExpression");
  if (update || condition) {
    auto binder = TRY(read_placeholders(request, call.expressions()));
    if (update) action.update = TRY(binder.update(*update));
    if (condition) action.condition = TRY(binder.condition(expr::Kind::Condition, *condition));
    TRY(binder.check_all_used());
  }
  action.table = TRY(find_table(call));
  TRY(engine::check_key(*action.table, action.item));
  if (action.update) TRY(check_keys_untouched(*action.table, *action.update));
  return action;
}

}  // namespace

void update_item(Call call) {
  auto action = read_update(call);
  if (!action) return call.fail(action.error());
  const auto answer = WriteAnswer::from(call.request());
  run_write(std::move(call), std::move(*action), answer);
}

}  // namespace stator::api
