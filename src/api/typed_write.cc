#include "stator/api/typed_write.h"

#include <fmt/format.h>

#include "stator/api/expressions.h"
#include "stator/api/item_writes.h"
#include "stator/api/table_name.h"
#include "stator/api/transaction.h"
#include "stator/api/transaction_write.h"
#include "stator/expr/binder.h"
#include "stator/value/item_size.h"
#include "stator/value/well_formed.h"

namespace stator::api {
namespace {

using engine::WriteAction;

WriteAction::Kind kind_of(Write::Kind kind) {
  switch (kind) {
    case Write::Kind::Put: break;
    case Write::Kind::Update: return WriteAction::Kind::Update;
    case Write::Kind::Delete: return WriteAction::Kind::Delete;
    case Write::Kind::Check: return WriteAction::Kind::Check;
  }
  return WriteAction::Kind::Put;
}

Result<expr::Binder> bind_placeholders(const Write& write, expr::Cache& cache) {
  std::optional<expr::Names> names;
  for (const auto& [placeholder, name] : write.names) {
    if (name.as_string() == nullptr) return validation_error("ExpressionAttributeNames contains invalid value");
    TRY(value::check_name(*name.as_string()));
    if (!names) names.emplace();
    names->emplace_hint(names->end(), placeholder, *name.as_string());
  }
  std::optional<expr::Values> values;
  for (const auto& [placeholder, content] : write.values) {
    if (const auto checked = value::check_well_formed(content); !checked) {
      const auto& error = checked.error();
      return error.code == ErrorCode::Validation ? bad_expression_value(error, placeholder) : error;
    }
    if (!values) values.emplace();
    values->emplace_hint(values->end(), placeholder, content);
  }
  expr::Binder binder(std::move(names), std::move(values), cache);
  TRY(binder.check_placeholders());
  return binder;
}

// The action without its table.
Result<WriteAction> to_action(const OperationCall& call, Write& write) {
  WriteAction action{
      .kind = kind_of(write.kind), .table = {}, .item = std::move(write.item), .condition = {}, .update = {}};
  TRY(value::check_well_formed(action.item));
  if (!write.update.empty() && action.kind != WriteAction::Kind::Update) {
    return validation_error("UpdateExpression can only be specified in an update");
  }
  if (write.condition.empty() && write.update.empty()) {
    if (!write.names.empty()) {
      return validation_error("ExpressionAttributeNames can only be specified when using expressions");
    }
    if (!write.values.empty()) {
      return validation_error(std::string("ExpressionAttributeValues can only be specified when using expressions: ") +
                              (action.kind == WriteAction::Kind::Update
                                   ? "UpdateExpression and ConditionExpression are null"
                                   : "ConditionExpression is null"));
    }
    return action;
  }
  TRY(value::check_text(write.update));
  TRY(value::check_text(write.condition));
  auto binder = TRY(bind_placeholders(write, call.expressions()));
  if (!write.update.empty()) action.update = TRY(binder.update(write.update));
  if (!write.condition.empty()) action.condition = TRY(binder.condition(expr::Kind::Condition, write.condition));
  TRY(binder.check_all_used());
  return action;
}

Result<WriteAction> prepare(OperationCall& call, Write& write) {
  if (write.kind == Write::Kind::Check) return validation_error("A check alone is no write");
  auto action = TRY(to_action(call, write));
  if (action.kind == WriteAction::Kind::Put && value::item_size_bytes(action.item) > value::kMaxItemSizeBytes) {
    return validation_error("Item size has exceeded the maximum allowed size");
  }
  action.table = TRY(find_table(call, write.table));
  TRY(check_against_table(action));
  return action;
}

// What the shape of TransactWriteItems demands.
Result<void> check_transaction(const std::vector<Write>& writes) {
  if (writes.empty()) return validation_error("A transaction has at least one item");
  if (writes.size() > kMaxTransactItems) return validation_error("A transaction has at most 100 items");
  for (std::size_t i = 0; i < writes.size(); ++i) {
    const auto missing = [&](std::string_view member) {
      return validation_error(
          fmt::format("1 validation error detected: Value null at 'transactItems.{}.member.{}' failed to satisfy "
                      "constraint: Member "
                      "must not be null",
                      i + 1, member));
    };
    const auto& write = writes[i];
    if (write.kind == Write::Kind::Update && write.update.empty()) return missing("update.updateExpression");
    if (write.kind == Write::Kind::Check && write.condition.empty())
      return missing("conditionCheck.conditionExpression");
  }
  return {};
}

}  // namespace

void write_one(OperationCall call, Write write) {
  auto action = prepare(call, write);
  if (!action) return call.fail(action.error());
  run_write(std::move(call), std::move(*action),
            {.values = ReturnValues::None,
             .old_item_on_failure = true,
             .capacity = CapacityDetail::None,
             .collection_metrics = false});
}

void write_all(OperationCall call, std::vector<Write> writes) {
  if (const auto checked = check_transaction(writes); !checked) return call.fail(checked.error());
  std::vector<TransactItem> items;
  items.reserve(writes.size());
  for (auto& write : writes) {
    auto action = to_action(call, write);
    if (!action) return call.fail(action.error());
    items.push_back({.action = std::move(*action), .table_name = write.table, .return_item = true});
  }
  run_transaction(std::move(call), std::move(items), {}, {});
}

}  // namespace stator::api
