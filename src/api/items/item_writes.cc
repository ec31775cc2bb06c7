#include "stator/api/items/item_writes.h"

#include <fmt/format.h>

#include <algorithm>

#include "stator/api/items/capacity_report.h"
#include "stator/api/json/expressions.h"
#include "stator/api/json/item_names.h"
#include "stator/api/json/legacy.h"
#include "stator/api/tables/table_name.h"
#include "stator/engine/item_rules.h"
#include "stator/value/item_size.h"
#include "stator/value/well_formed.h"

namespace stator::api {
namespace {

using engine::ActionOutcome;
using engine::WriteAction;

// The parts of an action that the answer needs after the engine has taken the action.
struct Written {
  engine::TablePtr table;
  std::optional<expr::Update> update;
  std::optional<value::AttributeValue> partition;  // where collection metrics were asked for
};

// The attributes that ReturnValues asks for, if there are any.
Result<std::optional<AnswerItem>> returned_attributes(const Written& written, ActionOutcome& outcome,
                                                      ReturnValues values) {
  using Attributes = std::optional<AnswerItem>;
  const auto projected = [&](const value::Item& item) -> Attributes {
    auto attributes = written.update ? expr::project(item, written.update->paths()) : value::Item();
    if (attributes.empty()) return std::nullopt;
    return AnswerItem(std::move(attributes));
  };
  switch (values) {
    case ReturnValues::None: break;
    case ReturnValues::AllOld:
      if (outcome.before.exists()) return Attributes(std::move(outcome.before).take());
      break;
    case ReturnValues::UpdatedOld: return projected(*TRY(outcome.before.item()));
    case ReturnValues::AllNew:
      if (outcome.after) return Attributes(std::move(*outcome.after));
      break;
    case ReturnValues::UpdatedNew:
      if (outcome.after) return projected(*outcome.after);
      break;
  }
  return Attributes();
}

ItemCollectionMetrics metrics_of(engine::Engine& engine, const engine::Table& table,
                                 const value::AttributeValue& partition) {
  static constexpr double kBytesPerGb = 1024.0 * 1024 * 1024;
  const auto bytes = engine.collection_bytes(table, partition);
  const auto gigabytes = static_cast<std::int64_t>(bytes ? static_cast<double>(*bytes) / kBytesPerGb : 0.0);
  ItemCollectionMetrics metrics{.key = {},
                                .least_gigabytes = static_cast<double>(gigabytes),
                                .most_gigabytes = static_cast<double>(gigabytes + 1)};
  metrics.key.set(table.keys.partition[0].name, partition);
  return metrics;
}

// {"ItemCollectionKey":{...},"SizeEstimateRangeGB":[0.0,1.0]}
void write_metrics(value::JsonWriter& json, const ItemCollectionMetrics& metrics) {
  json.begin_object().key("ItemCollectionKey").item(metrics.key);
  json.key("SizeEstimateRangeGB").begin_array().real(metrics.least_gigabytes).real(metrics.most_gigabytes);
  json.end_array().end_object();
}

Result<WriteItemAnswer> answer_to(const CallContext& call, const Written& written, ActionOutcome& outcome,
                                  const WriteReturns& returns) {
  WriteItemAnswer answer;
  if (returns.reports.capacity != CapacityDetail::None) {
    CapacityReport report(written.table);
    report.add(outcome.units);
    answer.capacity = report.consumed(returns.reports.capacity);
  }
  if (returns.reports.collection_metrics && written.table->has_local_indexes()) {
    answer.collection = metrics_of(call.engine(), *written.table, *written.partition);
  }
  answer.attributes = TRY(returned_attributes(written, outcome, returns.values));
  return answer;
}

Fault condition_failed(ActionOutcome& outcome, bool with_item) {
  Fault fault = to_fault({ErrorCode::ConditionalCheckFailed, "The conditional request failed"});
  if (with_item && outcome.before.exists()) fault.item = AnswerItem(std::move(outcome.before).take());
  return fault;
}

}  // namespace

ReturnValues return_values(const JsonMembers& request) {
  return from_wire_name<ReturnValues>(request.string("ReturnValues").value_or("")).value_or(ReturnValues::None);
}

WriteReports write_reports(const JsonMembers& request) {
  return {.capacity = capacity_detail(request),
          .collection_metrics = request.string("ReturnItemCollectionMetrics") == "SIZE"};
}

bool returns_item_on_failure(const JsonMembers& request) {
  return request.string("ReturnValuesOnConditionCheckFailure") == "ALL_OLD";
}

Result<WriteExpressions> bind_write_expressions(const JsonMembers& request, bool is_update, expr::Cache& cache) {
  WriteExpressions bound;
  const auto condition = request.string("ConditionExpression");
  const auto update = is_update ? request.string("UpdateExpression") : std::nullopt;
  if (!update && !condition) return bound;
  auto binder = TRY(read_placeholders(request, cache));
  if (update) bound.update = TRY(binder.update(*update));
  if (condition) bound.condition = TRY(binder.condition(expr::Kind::Condition, *condition));
  TRY(binder.check_all_used());
  return bound;
}

Result<WriteExpressions> decode_write_expressions(const JsonMembers& request, bool is_update, expr::Cache& cache) {
  WriteExpressions older;
  if (is_update) older.update = TRY(legacy_updates(request));
  older.legacy = older.update.has_value();
  older.condition = TRY(legacy_expected(request));
  auto bound = TRY(bind_write_expressions(request, is_update, cache));
  if (bound.update) older.update = std::move(bound.update);
  if (bound.condition) older.condition = std::move(bound.condition);
  return older;
}

Result<void> check_expression_values(const std::optional<expr::Condition>& condition,
                                     const std::optional<expr::Update>& update) {
  const auto check_one = [](const auto& expression) -> Result<void> {
    for (const auto* name : expression.names()) TRY(value::check_name(*name));
    const auto values = expression.values();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto checked = value::check_well_formed(*values[i]);
      if (checked) continue;
      const auto& error = checked.error();
      return error.code == ErrorCode::Validation ? bad_expression_value(error, expression.placeholders()[i]) : error;
    }
    return {};
  };
  if (condition) TRY(check_one(*condition));
  if (update) TRY(check_one(*update));
  return {};
}

Result<void> check_returns_old(ReturnValues values) {
  if (values == ReturnValues::None || values == ReturnValues::AllOld) return {};
  return validation_error("ReturnValues can only be ALL_OLD or NONE");
}

Result<void> check_put_size(const value::Item& item) {
  if (value::item_size_bytes(item) <= value::kMaxItemSizeBytes) return {};
  return validation_error("Item size has exceeded the maximum allowed size");
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

namespace {

// All that the table demands of an action that is alone, in the order of its operation.
Result<void> check_alone(const WriteAction& action) {
  const auto& table = *action.table;
  const bool is_put = action.kind == WriteAction::Kind::Put;
  TRY(is_put ? engine::check_item(table, action.item) : engine::check_key(table, action.item));
  if (action.update) TRY(engine::check_scalar_keys(table, action.update->nested_attributes()));
  if (action.condition) TRY(engine::check_scalar_keys(table, action.condition->nested_attributes()));
  if (!action.update) return {};
  TRY(check_keys_untouched(table, *action.update));
  const bool is_too_large = !action.legacy && action.update->charged_bytes() > value::kMaxItemSizeBytes;
  return is_too_large ? value::update_size_error() : Result<void>();
}

}  // namespace

void run_write(CallContext call, const std::string& table, WriteAction action, const WriteReturns& returns,
               Done<WriteItemAnswer> done) {
  auto found = find_table(call, table);
  if (!found) return done(call, to_fault(found.error()));
  action.table = std::move(*found);
  if (const auto checked = check_alone(action); !checked) return done(call, to_fault(checked.error()));
  Written written{.table = action.table, .update = action.update, .partition = {}};
  if (returns.reports.collection_metrics) {
    written.partition = *action.item.find(action.table->keys.partition[0].name);
  }
  engine::WriteRequest request;
  request.memory = call.write_memory();
  request.actions.push_back(std::move(action));
  auto& engine = call.engine();
  engine.write(std::move(request), [call = std::move(call), written = std::move(written), returns,
                                    done = std::move(done)](Result<engine::WriteOutcome> outcome) mutable {
    if (!outcome) return done(call, to_fault(outcome.error()));
    auto& action_outcome = outcome->actions[0];
    if (action_outcome.error) return done(call, to_fault(*action_outcome.error));
    if (!outcome->written) return done(call, condition_failed(action_outcome, returns.item_on_failure));
    auto answer = answer_to(call, written, action_outcome, returns);
    if (!answer) return done(call, to_fault(answer.error()));
    done(call, std::move(*answer));
  });
}

CollectionsByTable collection_metrics(engine::Engine& engine, const std::vector<engine::TablePtr>& tables,
                                      const std::vector<value::AttributeValue>& partitions) {
  CollectionsByTable collections;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const auto& table = *tables[i];
    if (!table.has_local_indexes()) continue;
    auto of_table = std::ranges::find(collections, table.name, [](const auto& each) { return each.first; });
    if (of_table == collections.end()) {
      of_table = collections.emplace(collections.end(), table.name, std::vector<ItemCollectionMetrics>());
    }
    of_table->second.push_back(metrics_of(engine, table, partitions[i]));
  }
  return collections;
}

void write_collections(value::JsonWriter& json, const CollectionsByTable& collections) {
  if (collections.empty()) return;
  json.key("ItemCollectionMetrics").begin_object();
  for (const auto& [table, all] : collections) {
    json.key(table).begin_array();
    for (const auto& metrics : all) write_metrics(json, metrics);
    json.end_array();
  }
  json.end_object();
}

std::string encode(const WriteItemAnswer& answer) {
  std::string body;
  value::JsonWriter json(body);
  json.begin_object();
  if (answer.attributes) {
    json.key("Attributes");
    answer.attributes->write(json);
  }
  write_capacity(json, answer.capacity);
  if (answer.collection) {
    json.key("ItemCollectionMetrics");
    write_metrics(json, *answer.collection);
  }
  json.end_object();
  return body;
}

}  // namespace stator::api
