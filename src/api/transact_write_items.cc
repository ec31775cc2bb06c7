#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include <array>
#include <unordered_set>

#include "stator/api/capacity_report.h"
#include "stator/api/expressions.h"
#include "stator/api/item_writes.h"
#include "stator/api/table_name.h"
#include "stator/api/transaction.h"
#include "stator/engine/item_rules.h"
#include "stator/engine/keyspace.h"
#include "stator/value/item_size.h"

namespace stator::api {
namespace {

using engine::WriteAction;

constexpr std::array<std::pair<std::string_view, WriteAction::Kind>, 4> kKinds = {{
    {"ConditionCheck", WriteAction::Kind::Check},
    {"Put", WriteAction::Kind::Put},
    {"Delete", WriteAction::Kind::Delete},
    {"Update", WriteAction::Kind::Update},
}};

// One item of the transaction, and what only its table can tell to be wrong with it.
struct TransactItem {
  WriteAction action;
  std::string_view table_name;
  bool return_item = false;
  std::optional<Error> error;
};

Result<TransactItem> read_item(Call& call, const Request& request) {
  TransactItem item;
  std::optional<Request> body;
  for (const auto& [name, kind] : kKinds) {
    const auto found = request.object(name);
    if (!found) continue;
    if (body) return validation_error("TransactItems can only contain one of Check, Put, Update or Delete");
    body = found;
    item.action.kind = kind;
  }
  if (!body)
    return validation_error("Invalid Request: TransactWriteRequest should contain Delete or Put or Update request");
  item.table_name = body->string("TableName").value_or("");
  item.return_item = body->string("ReturnValuesOnConditionCheckFailure") == "ALL_OLD";
  const bool is_put = item.action.kind == WriteAction::Kind::Put;
  item.action.item = TRY(value::decode_item(*body->element(is_put ? "Item" : "Key")));
  const auto condition = body->string("ConditionExpression");
  const auto update = body->string("UpdateExpression");
  TRY(check_expression_parameters(
      *body, item.action.kind == WriteAction::Kind::Update
                 ? ExpressionParameters{.expressions = {"UpdateExpression", "ConditionExpression"}, .legacy = {}}
                 : ExpressionParameters{.expressions = {"ConditionExpression"}, .legacy = {}}));
  if (condition || update) {
    auto binder = TRY(read_placeholders(*body, call.expressions()));
    if (update) item.action.update = TRY(binder.update(*update));
    if (condition) item.action.condition = TRY(binder.condition(expr::Kind::Condition, *condition));
    TRY(binder.check_all_used());
  }
  if (is_put && value::item_size_bytes(item.action.item) > value::kMaxItemSizeBytes) {
    item.error = validation_error("Item size has exceeded the maximum allowed size");
  }
  return item;
}

Result<void> check_against_table(TransactItem& item) {
  const auto& table = *item.action.table;
  if (item.action.condition) TRY(engine::check_scalar_keys(table, item.action.condition->nested_attributes()));
  if (item.action.update) TRY(engine::check_scalar_keys(table, item.action.update->nested_attributes()));
  if (item.action.kind == WriteAction::Kind::Put) return engine::check_item(table, item.action.item);
  TRY(engine::check_key(table, item.action.item));
  if (item.action.update) TRY(check_keys_untouched(table, *item.action.update));
  return {};
}

Result<std::vector<TransactItem>> read_items(Call& call) {
  std::vector<TransactItem> items;
  std::size_t bytes = 0;
  for (const auto& request : call.request().objects("TransactItems")) {
    items.push_back(TRY(read_item(call, request)));
    bytes += value::item_size_bytes(items.back().action.item);
  }
  if (bytes > kMaxTransactBytes) {
    return validation_error("Aggregate item size cannot exceed 4194304 bytes in a transaction");
  }
  std::unordered_set<engine::KeyBytes> seen;
  for (auto& item : items) {
    item.action.table = TRY(find_table(call, item.table_name));
    if (!item.error) {
      if (auto checked = check_against_table(item); !checked) item.error = std::move(checked).error();
    }
    if (item.error) return items;  // the service looks no further than the first item in error
    if (!seen.insert(engine::item_key(*item.action.table, item.action.item)).second) {
      return validation_error("Transaction request cannot include multiple operations on one item");
    }
  }
  return items;
}

// What the answer needs once the engine has the actions.
struct Answer {
  std::vector<engine::TablePtr> tables;
  std::vector<bool> return_item;
  std::vector<value::AttributeValue> partitions;
  WriteAnswer options;
};

std::string success(const Call& call, const Answer& answer, const engine::WriteOutcome& outcome) {
  std::string body;
  value::JsonWriter json(body);
  json.begin_object();
  CapacityReports reports(outcome.repeated ? CapacityKind::TransactionalRead : CapacityKind::TransactionalWrite);
  for (std::size_t i = 0; i < answer.tables.size(); ++i) reports.of(answer.tables[i]).add(outcome.actions[i].units);
  reports.write(json, answer.options.capacity);
  if (answer.options.collection_metrics)
    write_all_collection_metrics(json, call.engine(), answer.tables, answer.partitions);
  json.end_object();
  return body;
}

}  // namespace

void transact_write_items(Call call) {
  auto items = read_items(call);
  if (!items) return call.fail(items.error());
  if (std::any_of(items->begin(), items->end(), [](const auto& item) { return item.error.has_value(); })) {
    std::vector<CancellationReason> reasons;
    for (const auto& item : *items) {
      auto& reason = reasons.emplace_back();
      if (item.error) reason = {.code = "ValidationError", .message = item.error->message, .item = {}};
    }
    return call.fail(transaction_canceled(reasons));
  }

  engine::WriteRequest request;
  if (const auto token = call.request().string("ClientRequestToken")) {
    const auto asked = simdjson::minify(*call.request().element("TransactItems"));
    request.token = engine::RequestToken{std::string(*token), XXH3_64bits(asked.data(), asked.size())};
  }
  Answer answer{.tables = {}, .return_item = {}, .partitions = {}, .options = WriteAnswer::from(call.request())};
  for (auto& item : *items) {
    answer.tables.push_back(item.action.table);
    answer.return_item.push_back(item.return_item);
    if (answer.options.collection_metrics) {
      answer.partitions.push_back(*item.action.item.find(item.action.table->keys.partition[0].name));
    }
    request.actions.push_back(std::move(item.action));
  }
  auto& engine = call.engine();
  engine.write(std::move(request),
               [call = std::move(call), answer = std::move(answer)](Result<engine::WriteOutcome> outcome) mutable {
                 if (!outcome) return call.fail(outcome.error());
                 if (!outcome->written) {
                   return call.fail(transaction_canceled(condition_reasons(*outcome, answer.return_item)));
                 }
                 call.succeed(success(call, answer, *outcome));
               });
}

}  // namespace stator::api
