#include "stator/api/functions.h"
#include "stator/api/items/capacity_report.h"
#include "stator/api/items/item_reads.h"
#include "stator/api/json/expressions.h"
#include "stator/api/tables/table_name.h"
#include "stator/engine/capacity.h"
#include "stator/engine/item_rules.h"
#include "stator/value/well_formed.h"

namespace stator::api {

Result<GetItemRequest> decode(As<GetItemRequest>, const JsonMembers& json, expr::Cache& cache) {
  TRY(check_expression_parameters(json, {.expressions = {"ProjectionExpression"}, .legacy = {"AttributesToGet"}}));
  GetItemRequest request;
  request.key = TRY(json.item("Key"));
  request.projection = TRY(decode_projection(json, cache));
  request.table = json.string("TableName").value_or("");
  request.consistent = json.boolean("ConsistentRead").value_or(false);
  request.capacity = capacity_detail(json);
  return request;
}

Result<void> check(const GetItemRequest& request) { return value::check_well_formed(request.key); }

Result<storage::ReadWish> wish_of(CallContext& call, const GetItemRequest& request) {
  const auto table = TRY(find_table(call, request.table));
  TRY(engine::check_key(*table, request.key));
  storage::ReadWish wish;
  wish.keys.push_back(engine::item_key(*table, request.key));
  return wish;
}

Result<GetItemAnswer> run(CallContext& call, const GetItemRequest& request) {
  const auto table = TRY(find_table(call, request.table));
  TRY(engine::check_key(*table, request.key));
  auto image = TRY(call.get(*table, request.key));
  GetItemAnswer answer;
  if (request.capacity != CapacityDetail::None) {
    CapacityReport report(table);
    report.add_table(engine::read_units(image.size_bytes(), request.consistent));
    answer.capacity = report.consumed(request.capacity);
  }
  if (image.exists()) answer.item = AnswerItem(TRY(projected(std::move(image), request.projection)));
  return answer;
}

std::string encode(const GetItemAnswer& answer) {
  std::string body;
  if (answer.item) body.reserve(answer.item->bytes() + 16);
  value::JsonWriter json(body);
  json.begin_object();
  if (answer.item) {
    json.key("Item");
    answer.item->write(json);
  }
  write_capacity(json, answer.capacity);
  json.end_object();
  return body;
}

}  // namespace stator::api
