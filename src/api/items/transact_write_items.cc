#include <fmt/format.h>

#include <unordered_set>

#include "stator/api/items/item_writes.h"
#include "stator/api/items/several_writes.h"
#include "stator/api/items/transaction.h"
#include "stator/api/json/expressions.h"
#include "stator/api/json/item_names.h"
#include "stator/api/tables/table_name.h"
#include "stator/api/typed_check.h"
#include "stator/engine/item_rules.h"
#include "stator/engine/keyspace.h"
#include "stator/expr/unbinder.h"
#include "stator/value/item_size.h"
#include "stator/value/well_formed.h"

namespace stator::api {
namespace {

using engine::WriteAction;
using Kind = TransactWriteItem::Kind;

Result<TransactWriteItem> decode_item(const JsonMembers& json, expr::Cache& cache) {
  TransactWriteItem item;
  std::optional<JsonMembers> body;
  for (const auto kind : {Kind::Put, Kind::Update, Kind::Delete, Kind::Check}) {
    const auto found = json.object(wire_name(kind));
    if (!found) continue;
    if (body) return validation_error("TransactItems can only contain one of Check, Put, Update or Delete");
    body = found;
    item.kind = kind;
  }
  if (!body)
    return validation_error("Invalid Request: TransactWriteRequest should contain Delete or Put or Update request");
  const bool is_update = item.kind == Kind::Update;
  item.table = body->string("TableName").value_or("");
  item.return_item_on_failure = returns_item_on_failure(*body);
  item.item = TRY(body->item(item.kind == Kind::Put ? "Item" : "Key"));
  if (item.kind == Kind::Put) TRY(check_put_size(item.item));
  TRY(check_expression_parameters(
      *body, is_update ? ExpressionParameters{.expressions = {"UpdateExpression", "ConditionExpression"}, .legacy = {}}
                       : ExpressionParameters{.expressions = {"ConditionExpression"}, .legacy = {}}));
  auto bound = TRY(bind_write_expressions(*body, is_update, cache));
  item.condition = std::move(bound.condition);
  item.update = std::move(bound.update);
  return item;
}

// A request that was made in this process, as a text that no other transaction has.
std::string text_of(const std::vector<TransactWriteItem>& items) {
  std::string text;
  value::JsonWriter json(text);
  json.begin_array();
  for (const auto& item : items) {
    expr::Unbinder unbinder;
    json.begin_array().string(wire_name(item.kind)).string(item.table).item(item.item);
    json.string(item.update ? unbinder.text(*item.update) : "");
    json.string(item.condition ? unbinder.text(*item.condition) : "");
    for (const auto& [placeholder, name] : unbinder.names()) json.string(placeholder).string(name);
    for (const auto& [placeholder, content] : unbinder.values()) json.string(placeholder).attribute(content);
    json.boolean(item.return_item_on_failure).end_array();
  }
  json.end_array();
  return text;
}

WriteAction::Kind kind_of(Kind kind) {
  switch (kind) {
    case Kind::Put: break;
    case Kind::Update: return WriteAction::Kind::Update;
    case Kind::Delete: return WriteAction::Kind::Delete;
    case Kind::Check: return WriteAction::Kind::Check;
  }
  return WriteAction::Kind::Put;
}

// The error of one item. It cancels the transaction.
struct BadItem {
  std::size_t place;
  Error error;
};

// Fills `actions` from the items.  The service looks no further than the first bad item.
Result<std::optional<BadItem>> plan_items(CallContext& call, std::vector<TransactWriteItem>& items,
                                          std::vector<WriteAction>& actions) {
  std::size_t bytes = 0;
  for (const auto& item : items) bytes += value::item_size_bytes(item.item);
  TRY(engine::check_transaction_size(bytes));
  std::unordered_set<engine::KeyBytes> seen;
  actions.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    auto& item = items[i];
    auto& action = actions.emplace_back();
    action.kind = kind_of(item.kind);
    action.table = TRY(find_table(call, item.table));
    action.item = std::move(item.item);
    action.condition = std::move(item.condition);
    action.update = std::move(item.update);
    if (auto checked = check_against_table(action); !checked) return BadItem{i, std::move(checked).error()};
    if (!seen.insert(engine::item_key(*action.table, action.item)).second) {
      return validation_error("Transaction request cannot include multiple operations on one item");
    }
  }
  return std::optional<BadItem>();
}

}  // namespace

Result<void> check_transaction_count(std::size_t items) {
  if (items == 0) return validation_error("A transaction has at least one item");
  if (items > kMaxTransactItems) return validation_error("A transaction has at most 100 items");
  return {};
}

Result<TransactWriteItemsRequest> decode(As<TransactWriteItemsRequest>, const JsonMembers& json, expr::Cache& cache) {
  TransactWriteItemsRequest request{.items = {}, .reports = write_reports(json)};
  for (const auto& item : json.objects("TransactItems")) request.items.push_back(TRY(decode_item(item, cache)));
  if (const auto text = json.string("ClientRequestToken")) {
    const auto asked = json.text("TransactItems");
    request.token = {.text = std::string(*text), .fingerprint = fingerprint_of(*asked)};
  }
  return request;
}

// Beside what the values have to be, what the shape of TransactWriteItems demands.
Result<void> check(const TransactWriteItemsRequest& request) {
  TRY(check_token("TransactWriteItems", request.token));
  TRY(check_transaction_count(request.items.size()));
  for (std::size_t i = 0; i < request.items.size(); ++i) {
    const auto& item = request.items[i];
    const auto missing = [&](std::string_view member) {
      return validation_error(
          fmt::format("1 validation error detected: Value null at 'transactItems.{}.member.{}' failed to satisfy "
                      "constraint: Member must not be null",
                      i + 1, member));
    };
    if (item.kind == Kind::Update && !item.update) return missing("update.updateExpression");
    if (item.kind == Kind::Check && !item.condition) return missing("conditionCheck.conditionExpression");
    if (item.kind != Kind::Update && item.update) {
      return validation_error("UpdateExpression can only be specified in an update");
    }
    TRY(value::check_well_formed(item.item));
    if (item.kind == Kind::Put) TRY(check_put_size(item.item));
    TRY(check_expression_values(item.condition, item.update));
  }
  return {};
}

void run(CallContext call, TransactWriteItemsRequest request, Done<TransactWriteItemsAnswer> done) {
  engine::WriteRequest writes;
  writes.memory = call.write_memory();
  if (request.token) {
    const auto fingerprint =
        request.token->fingerprint ? *request.token->fingerprint : fingerprint_of(text_of(request.items));
    writes.token = engine::RequestToken{request.token->text, fingerprint};
  }
  const auto bad = plan_items(call, request.items, writes.actions);
  if (!bad) return done(call, to_fault(bad.error()));
  if (*bad) {
    std::vector<CancellationReason> reasons(request.items.size());
    reasons[(*bad)->place] = {.code = "ValidationError", .message = (*bad)->error.message};
    return done(call, transaction_canceled(std::move(reasons)));
  }
  SeveralWrites written(writes.actions, request.reports);
  std::vector<bool> return_item;
  for (const auto& item : request.items) return_item.push_back(item.return_item_on_failure);
  auto& engine = call.engine();
  engine.write(
      std::move(writes), [call = std::move(call), written = std::move(written), return_item = std::move(return_item),
                          done = std::move(done)](Result<engine::WriteOutcome> outcome) mutable {
        if (!outcome) return done(call, transaction_failed(outcome.error(), return_item.size()));
        if (!outcome->written) {
          // Twice: as the item that was found, and in the answer.
          const auto room = call.hold_answer(2 * returned_bytes(*outcome, return_item));
          if (!room) return done(call, to_fault(room.error()));
          return done(call, transaction_canceled(condition_reasons(*outcome, return_item)));
        }
        const auto kind = outcome->repeated ? CapacityKind::TransactionalRead : CapacityKind::TransactionalWrite;
        done(call, TransactWriteItemsAnswer{written.answer(call.engine(), *outcome, kind)});
      });
}

std::string encode(const TransactWriteItemsAnswer& answer) {
  std::string body;
  value::JsonWriter json(body);
  json.begin_object();
  write_reports(json, answer);
  json.end_object();
  return body;
}

}  // namespace stator::api
