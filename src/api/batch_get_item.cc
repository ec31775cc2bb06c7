#include <unordered_set>

#include "stator/api/capacity_report.h"
#include "stator/api/expressions.h"
#include "stator/api/legacy.h"
#include "stator/api/operation.h"
#include "stator/api/table_name.h"
#include "stator/engine/capacity.h"
#include "stator/engine/item_rules.h"
#include "stator/engine/keyspace.h"

namespace stator::api {
namespace {

constexpr std::size_t kMaxKeys = 100;
// What one answer may hold; keys beyond it come back unprocessed.
constexpr std::size_t kMaxAnswerBytes = std::size_t{16} << 20;

struct TableKeys {
  std::string_view name;  // as the request spelled it
  Request request;
  engine::TablePtr table;
  std::vector<value::Item> keys;
  std::optional<expr::Projection> projection;
  bool consistent = false;
};

Result<TableKeys> read_table(OperationCall& call, std::string_view name, Request request) {
  TRY(check_expression_parameters(request, {.expressions = {"ProjectionExpression"}, .legacy = {"AttributesToGet"}}));
  TableKeys keys{.name = name, .request = request, .table = {}, .keys = {}, .projection = {}};
  keys.consistent = request.boolean("ConsistentRead").value_or(false);
  keys.projection = TRY(legacy_projection(request));
  if (const auto text = request.string("ProjectionExpression")) {
    auto binder = TRY(read_placeholders(request, call.expressions()));
    keys.projection = TRY(binder.projection(*text));
    TRY(binder.check_all_used());
  }
  for (const auto& json : request.elements("Keys")) keys.keys.push_back(TRY(value::decode_item(json)));
  return keys;
}

Result<std::vector<TableKeys>> read_batch(OperationCall& call) {
  std::vector<TableKeys> tables;
  std::size_t count = 0;
  for (const auto [name, json] : call.request().object("RequestItems")->json()) {
    value::JsonObject object;
    if (!json.get(object)) continue;
    tables.push_back(TRY(read_table(call, name, Request(object))));
    count += tables.back().keys.size();
    if (count > kMaxKeys) return validation_error("Too many items requested for the BatchGetItem call");
  }
  std::unordered_set<engine::KeyBytes> seen;
  for (auto& keys : tables) {
    keys.table = TRY(find_table(call, keys.name));
    for (const auto& key : keys.keys) {
      TRY(engine::check_key(*keys.table, key));
      if (!seen.insert(engine::item_key(*keys.table, key)).second) {
        return validation_error("Provided list of item keys contains duplicates");
      }
    }
  }
  return tables;
}

// A table's part of UnprocessedKeys: the request again, with the keys that are left.
void write_unprocessed(value::JsonWriter& json, const TableKeys& keys, std::size_t first) {
  json.key(keys.name).begin_object().key("Keys").begin_array();
  for (std::size_t i = first; i < keys.keys.size(); ++i) json.item(keys.keys[i]);
  json.end_array();
  for (const std::string_view name :
       {"ProjectionExpression", "ExpressionAttributeNames", "AttributesToGet", "ConsistentRead"}) {
    if (const auto element = keys.request.element(name)) json.key(name).raw(value::json_text(*element));
  }
  json.end_object();
}

Result<std::string> run_batch_get(OperationCall& call) {
  const auto tables = TRY(read_batch(call));
  std::string body;
  value::JsonWriter json(body);
  json.begin_object().key("Responses").begin_object();
  CapacityReports reports;
  std::vector<std::size_t> processed;
  std::size_t answer_bytes = 0;
  std::size_t read_bytes = 0;  // JSON, which takes more than what the answer may hold
  for (const auto& keys : tables) {
    json.key(keys.name).begin_array();
    auto& report = reports.of(keys.table);
    std::size_t next = 0;
    for (; next < keys.keys.size() && answer_bytes < kMaxAnswerBytes; ++next) {
      const auto image = TRY(call.engine().get(*keys.table, keys.keys[next]));
      if (answer_bytes + image.size_bytes() > kMaxAnswerBytes) {
        answer_bytes = kMaxAnswerBytes;
        break;
      }
      read_bytes += image.exists() ? image.stored().json().size() : 0;
      TRY(call.answer_grows(keys.projection ? body.size() : read_bytes, read_bytes));
      answer_bytes += image.size_bytes();
      report.add_table(engine::read_units(image.size_bytes(), keys.consistent));
      if (!image.exists()) continue;
      if (keys.projection) {
        json.item(keys.projection->apply(*TRY(image.item())));
      } else {
        json.raw(image.stored().json());
      }
    }
    processed.push_back(next);
    json.end_array();
  }
  json.end_object().key("UnprocessedKeys").begin_object();
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (processed[i] < tables[i].keys.size()) write_unprocessed(json, tables[i], processed[i]);
  }
  json.end_object();
  reports.write(json, capacity_detail(call.request()));
  json.end_object();
  return body;
}

}  // namespace

void batch_get_item(OperationCall call) { immediate<run_batch_get>(std::move(call)); }

}  // namespace stator::api
