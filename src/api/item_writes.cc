#include "stator/api/item_writes.h"

#include <fmt/format.h>

#include <map>

#include "stator/api/expressions.h"
#include "stator/engine/item_rules.h"

namespace stator::api {
namespace {

using engine::ActionOutcome;
using engine::WriteAction;

// The part of the answer that ReturnValues asks for; false when there is none.
Result<bool> write_attributes(value::JsonWriter& json, const WriteAction& action, const ActionOutcome& outcome,
                              ReturnValues values) {
  const auto before = [&]() -> Result<bool> {
    if (!outcome.before.exists()) return false;
    json.key("Attributes").raw(outcome.before.stored().json());
    return true;
  };
  const auto projected = [&](const value::Item& item) {
    const auto attributes = action.update ? expr::project(item, action.update->paths()) : value::Item();
    if (attributes.empty()) return false;
    json.key("Attributes").item(attributes);
    return true;
  };
  switch (values) {
    case ReturnValues::None: return false;
    case ReturnValues::AllOld: return before();
    case ReturnValues::UpdatedOld: return projected(*TRY(outcome.before.item()));
    case ReturnValues::AllNew:
      if (outcome.after) json.key("Attributes").item(*outcome.after);
      return outcome.after.has_value();
    case ReturnValues::UpdatedNew: return outcome.after && projected(*outcome.after);
  }
  return false;
}

Result<std::string> answer_success(const OperationCall& call, const WriteAction& action, const ActionOutcome& outcome,
                                   const WriteAnswer& answer) {
  std::string body;
  value::JsonWriter json(body);
  json.begin_object();
  TRY(write_attributes(json, action, outcome, answer.values));
  if (answer.capacity != CapacityDetail::None) {
    CapacityReport report(action.table);
    report.add(outcome.units);
    write_capacity(json, report, answer.capacity);
  }
  if (answer.collection_metrics && action.table->has_local_indexes()) {
    json.key("ItemCollectionMetrics");
    write_collection_metrics(json, call.engine(), *action.table,
                             *action.item.find(action.table->keys.partition[0].name));
  }
  json.end_object();
  return body;
}

Fault condition_failed(const ActionOutcome& outcome, const WriteAnswer& answer) {
  Fault fault = to_fault({ErrorCode::ConditionalCheckFailed, "The conditional request failed"});
  if (answer.old_item_on_failure && outcome.before.exists()) {
    fault.members = fmt::format(",\"Item\":{}", outcome.before.stored().json());
  }
  return fault;
}

}  // namespace

ReturnValues return_values(const Request& request) {
  const auto text = request.string("ReturnValues").value_or("NONE");
  if (text == "ALL_OLD") return ReturnValues::AllOld;
  if (text == "UPDATED_OLD") return ReturnValues::UpdatedOld;
  if (text == "ALL_NEW") return ReturnValues::AllNew;
  if (text == "UPDATED_NEW") return ReturnValues::UpdatedNew;
  return ReturnValues::None;
}

WriteAnswer WriteAnswer::from(const Request& request) {
  return {.values = return_values(request),
          .old_item_on_failure = request.string("ReturnValuesOnConditionCheckFailure") == "ALL_OLD",
          .capacity = capacity_detail(request),
          .collection_metrics = request.string("ReturnItemCollectionMetrics") == "SIZE"};
}

void run_write(OperationCall call, WriteAction action, WriteAnswer answer) {
  // The engine takes the action; what the answer needs of it stays here: its table, its key and what it updates.
  WriteAction for_answer{
      .kind = action.kind, .table = action.table, .item = {}, .condition = {}, .update = action.update};
  if (answer.collection_metrics) for_answer.item = action.item;
  engine::WriteRequest request;
  request.memory = call.write_memory();
  request.actions.push_back(std::move(action));
  auto& engine = call.engine();
  engine.write(std::move(request), [call = std::move(call), for_answer = std::move(for_answer),
                                    answer](Result<engine::WriteOutcome> outcome) mutable {
    if (!outcome) return call.fail(outcome.error());
    const auto& done = outcome->actions[0];
    if (done.error) return call.fail(*done.error);
    if (!outcome->written) return call.fail(condition_failed(done, answer));
    auto body = answer_success(call, for_answer, done, answer);
    if (!body) return call.fail(body.error());
    call.succeed(std::move(*body));
  });
}

void write_collection_metrics(value::JsonWriter& json, engine::Engine& engine, const engine::Table& table,
                              const value::AttributeValue& partition) {
  static constexpr double kBytesPerGb = 1024.0 * 1024 * 1024;
  const auto bytes = engine.collection_bytes(table, partition);
  const auto gigabytes = bytes ? static_cast<double>(*bytes) / kBytesPerGb : 0.0;
  const auto lower = static_cast<std::int64_t>(gigabytes);
  value::Item key;
  key.set(table.keys.partition[0].name, partition);
  json.begin_object().key("ItemCollectionKey").item(key);
  json.key("SizeEstimateRangeGB").begin_array().real(static_cast<double>(lower)).real(static_cast<double>(lower + 1));
  json.end_array().end_object();
}

void write_all_collection_metrics(value::JsonWriter& json, engine::Engine& engine,
                                  const std::vector<engine::TablePtr>& tables,
                                  const std::vector<value::AttributeValue>& partitions) {
  std::map<const engine::Table*, std::vector<const value::AttributeValue*>> by_table;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (tables[i]->has_local_indexes()) by_table[tables[i].get()].push_back(&partitions[i]);
  }
  if (by_table.empty()) return;
  json.key("ItemCollectionMetrics").begin_object();
  for (const auto& [table, values] : by_table) {
    json.key(table->name).begin_array();
    for (const auto* partition : values) write_collection_metrics(json, engine, *table, *partition);
    json.end_array();
  }
  json.end_object();
}

Result<void> bind_expressions(const OperationCall& call, const Request& request, WriteAction& action) {
  const auto condition = request.string("ConditionExpression");
  const auto update = action.kind == WriteAction::Kind::Update ? request.string("UpdateExpression") : std::nullopt;
  if (!update && !condition) return {};
  auto binder = TRY(read_placeholders(request, call.expressions()));
  if (update) action.update = TRY(binder.update(*update));
  if (condition) action.condition = TRY(binder.condition(expr::Kind::Condition, *condition));
  return binder.check_all_used();
}

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

Result<void> check_against_table(const WriteAction& action) {
  const auto& table = *action.table;
  if (action.condition) TRY(engine::check_scalar_keys(table, action.condition->nested_attributes()));
  if (action.update) TRY(engine::check_scalar_keys(table, action.update->nested_attributes()));
  if (action.kind == WriteAction::Kind::Put) return engine::check_item(table, action.item);
  TRY(engine::check_key(table, action.item));
  if (action.update) TRY(check_keys_untouched(table, *action.update));
  return {};
}

}  // namespace stator::api
