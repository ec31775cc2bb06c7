#include <unordered_set>

#include "stator/api/functions.h"
#include "stator/api/items/capacity_report.h"
#include "stator/api/items/item_reads.h"
#include "stator/api/items/transaction.h"
#include "stator/api/json/expressions.h"
#include "stator/api/tables/table_name.h"
#include "stator/engine/capacity.h"
#include "stator/engine/item_rules.h"
#include "stator/engine/keyspace.h"
#include "stator/value/well_formed.h"

namespace stator::api {
namespace {

using TransactGet = TransactGetItemsRequest::Get;

Result<TransactGet> decode_get(const JsonMembers& item, expr::Cache& cache) {
  const auto body = item.object("Get");
  if (!body) return validation_error("Invalid Request: TransactGetRequest should contain Get request");
  TransactGet get;
  get.table = body->string("TableName").value_or("");
  get.key = TRY(body->item("Key"));
  TRY(check_expression_parameters(*body, {.expressions = {"ProjectionExpression"}, .legacy = {}}));
  get.projection = TRY(decode_projection(*body, cache));
  return get;
}

// The tables of the gets, in their order; or why the transaction is cancelled.
Result<std::vector<engine::TablePtr>, Fault> find_tables_of(CallContext& call, const TransactGetItemsRequest& request) {
  std::vector<engine::TablePtr> tables;
  std::vector<CancellationReason> reasons(request.gets.size());
  std::unordered_set<engine::KeyBytes> seen;
  bool wrong = false;
  for (std::size_t i = 0; i < request.gets.size(); ++i) {
    const auto& get = request.gets[i];
    auto found = find_table(call, get.table);
    if (!found) return to_fault(found.error());
    const auto& table = *tables.emplace_back(std::move(*found));
    if (const auto checked = engine::check_key(table, get.key); !checked) {
      reasons[i] = {.code = "ValidationError", .message = checked.error().message};
      wrong = true;
    } else if (!seen.insert(engine::item_key(table, get.key)).second) {
      return to_fault(validation_error("Transaction request cannot include multiple operations on one item"));
    }
  }
  if (wrong) return transaction_canceled(std::move(reasons));
  return tables;
}

Result<TransactGetItemsAnswer> read_all(CallContext& call, const TransactGetItemsRequest& request,
                                        const std::vector<engine::TablePtr>& tables) {
  // One snapshot: all of the items as they were at one moment.
  const auto snapshot = call.snapshot();
  TransactGetItemsAnswer answer;
  CapacityReports reports(CapacityKind::TransactionalRead);
  std::size_t bytes = 0, read_bytes = 0, body_bytes = 0;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const auto& get = request.gets[i];
    auto image = TRY(engine::ItemImage::from_bytes(TRY(snapshot->get(engine::item_key(*tables[i], get.key)))));
    bytes += image.size_bytes();
    TRY(engine::check_transaction_size(bytes));
    reports.of(tables[i]).add_table(engine::read_units(image.size_bytes(), true));
    auto& item = answer.items.emplace_back();
    if (!image.exists()) continue;
    read_bytes += image.stored().json().size();
    item = AnswerItem(TRY(projected(std::move(image), get.projection)));
    body_bytes += item->bytes();
    TRY(call.answer_grows(body_bytes, read_bytes));
  }
  answer.capacity = reports.consumed(request.capacity);
  return answer;
}

}  // namespace

Result<TransactGetItemsRequest> decode(As<TransactGetItemsRequest>, const JsonMembers& json, expr::Cache& cache) {
  TransactGetItemsRequest request{.gets = {}, .capacity = capacity_detail(json)};
  for (const auto& item : json.objects("TransactItems")) request.gets.push_back(TRY(decode_get(item, cache)));
  return request;
}

Result<void> check(const TransactGetItemsRequest& request) {
  for (const auto& get : request.gets) TRY(value::check_well_formed(get.key));
  return check_transaction_count(request.gets.size());
}

Result<storage::ReadWish> wish_of(CallContext& call, const TransactGetItemsRequest& request) {
  const auto tables = find_tables_of(call, request);
  if (!tables) return Error{ErrorCode::Busy, "the transaction is refused when it is run"};
  storage::ReadWish wish;
  for (std::size_t i = 0; i < tables->size(); ++i) {
    wish.keys.push_back(engine::item_key(*(*tables)[i], request.gets[i].key));
  }
  return wish;
}

Result<TransactGetItemsAnswer, Fault> run(CallContext& call, const TransactGetItemsRequest& request) {
  const auto tables = TRY(find_tables_of(call, request));
  auto answer = read_all(call, request, tables);
  if (!answer) return to_fault(answer.error());
  return std::move(*answer);
}

std::string encode(const TransactGetItemsAnswer& answer) {
  constexpr std::size_t kBesideItem = 16;
  std::size_t bytes = kBesideItem;
  for (const auto& item : answer.items) bytes += kBesideItem + (item ? item->bytes() : 0);
  std::string body;
  body.reserve(bytes);
  value::JsonWriter json(body);
  json.begin_object().key("Responses").begin_array();
  for (const auto& item : answer.items) {
    json.begin_object();
    if (item) {
      json.key("Item");
      item->write(json);
    }
    json.end_object();
  }
  json.end_array();
  write_capacity(json, answer.capacity);
  json.end_object();
  return body;
}

}  // namespace stator::api
