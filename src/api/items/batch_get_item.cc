#include <unordered_set>

#include "stator/api/functions.h"
#include "stator/api/items/capacity_report.h"
#include "stator/api/items/item_reads.h"
#include "stator/api/json/expressions.h"
#include "stator/api/tables/table_name.h"
#include "stator/engine/capacity.h"
#include "stator/engine/item_rules.h"
#include "stator/engine/keyspace.h"
#include "stator/expr/unbinder.h"
#include "stator/value/well_formed.h"

namespace stator::api {
namespace {

constexpr std::size_t kMaxKeys = 100;
// The most that one answer holds; keys beyond it come back unprocessed.
constexpr std::size_t kMaxAnswerBytes = std::size_t{16} << 20;

Result<TableKeys> decode_table(std::string_view name, const JsonMembers& json, expr::Cache& cache) {
  TRY(check_expression_parameters(json, {.expressions = {"ProjectionExpression"}, .legacy = {"AttributesToGet"}}));
  TableKeys keys;
  keys.table = name;
  keys.projection = TRY(decode_projection(json, cache));
  keys.consistent = json.boolean("ConsistentRead").value_or(false);
  keys.keys = TRY(json.items("Keys"));
  return keys;
}

Result<void> check_count(std::size_t keys) {
  if (keys <= kMaxKeys) return {};
  return validation_error("Too many items requested for the BatchGetItem call");
}

// The tables, in the order of the request.
Result<std::vector<engine::TablePtr>> find_tables(CallContext& call, const BatchGetItemRequest& request) {
  std::vector<engine::TablePtr> tables;
  std::unordered_set<engine::KeyBytes> seen;
  for (const auto& keys : request.tables) {
    const auto& table = *tables.emplace_back(TRY(find_table(call, keys.table)));
    for (const auto& key : keys.keys) {
      TRY(engine::check_key(table, key));
      if (!seen.insert(engine::item_key(table, key)).second) {
        return validation_error("Provided list of item keys contains duplicates");
      }
    }
  }
  return tables;
}

}  // namespace

Result<BatchGetItemRequest> decode(As<BatchGetItemRequest>, const JsonMembers& json, expr::Cache& cache) {
  BatchGetItemRequest request{.tables = {}, .capacity = capacity_detail(json)};
  std::size_t count = 0;
  for (const auto [name, of_table] : json.object("RequestItems")->json()) {
    request.tables.push_back(TRY(decode_table(name, JsonMembers(of_table.object()), cache)));
    count += request.tables.back().keys.size();
    TRY(check_count(count));
  }
  return request;
}

Result<void> check(const BatchGetItemRequest& request) {
  std::size_t count = 0;
  for (const auto& table : request.tables) {
    for (const auto& key : table.keys) TRY(value::check_well_formed(key));
    count += table.keys.size();
  }
  return check_count(count);
}

Result<storage::ReadWish> wish_of(CallContext& call, const BatchGetItemRequest& request) {
  const auto tables = TRY(find_tables(call, request));
  storage::ReadWish wish;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    for (const auto& key : request.tables[i].keys) wish.keys.push_back(engine::item_key(*tables[i], key));
  }
  return wish;
}

Result<BatchGetItemAnswer> run(CallContext& call, const BatchGetItemRequest& request) {
  const auto tables = TRY(find_tables(call, request));
  BatchGetItemAnswer answer;
  CapacityReports reports;
  std::size_t answer_bytes = 0;
  std::size_t read_bytes = 0, body_bytes = 0;  // JSON, which takes more than what the answer may hold
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const auto& asked = request.tables[i];
    auto& report = reports.of(tables[i]);
    auto& response = answer.responses.emplace_back();
    response.table = asked.table;
    response.items = call.no_items();
    std::size_t next = 0;
    for (; next < asked.keys.size() && answer_bytes < kMaxAnswerBytes; ++next) {
      auto image = TRY(call.get(*tables[i], asked.keys[next]));
      const auto item_bytes = image.size_bytes();
      if (answer_bytes + item_bytes > kMaxAnswerBytes) {
        answer_bytes = kMaxAnswerBytes;
        break;
      }
      answer_bytes += item_bytes;
      report.add_table(engine::read_units(item_bytes, asked.consistent));
      if (!image.exists()) continue;
      read_bytes += image.stored().json().size();
      if (response.items.has_values()) {
        TRY(call.answer_grows(read_bytes));
        response.items.add(asked.projection ? asked.projection->apply(*TRY(image.item()))
                                            : TRY(image.stored().parse()));
        continue;
      }
      const auto item = TRY(projected(std::move(image), asked.projection));
      body_bytes += item.json().size();
      TRY(call.answer_grows(body_bytes, read_bytes));
      response.items.add(item.json());
    }
    if (next < asked.keys.size()) {
      auto& left = answer.unprocessed.emplace_back(
          TableKeys{.table = asked.table, .keys = {}, .projection = asked.projection, .consistent = asked.consistent});
      left.keys.assign(asked.keys.begin() + static_cast<std::ptrdiff_t>(next), asked.keys.end());
    }
  }
  answer.capacity = reports.consumed(request.capacity);
  return answer;
}

namespace {

// UnprocessedKeys has the request of each table again, with the keys that are left; `write_members` adds the other
// members of that request.
template <typename WriteMembers>
std::string encode_with(BatchGetItemAnswer&& answer, WriteMembers write_members) {
  std::string body;
  value::JsonWriter json(body);
  json.begin_object().key("Responses").begin_object();
  for (auto& [table, items] : answer.responses) {
    json.key(table).begin_array();
    json.take_members(std::move(items).take_json());
    json.end_array();
  }
  json.end_object().key("UnprocessedKeys").begin_object();
  for (const auto& left : answer.unprocessed) {
    json.key(left.table).begin_object().key("Keys").begin_array();
    for (const auto& key : left.keys) json.item(key);
    json.end_array();
    write_members(json, left);
    json.end_object();
  }
  json.end_object();
  write_capacity(json, answer.capacity);
  json.end_object();
  return body;
}

}  // namespace

std::string encode(BatchGetItemAnswer&& answer, const JsonMembers& request) {
  return encode_with(std::move(answer), [&](value::JsonWriter& json, const TableKeys& left) {
    const auto tables = request.object("RequestItems");
    const auto asked = tables ? tables->object(left.table) : std::nullopt;
    if (!asked) return;
    for (const std::string_view name :
         {"ProjectionExpression", "ExpressionAttributeNames", "AttributesToGet", "ConsistentRead"}) {
      if (const auto text = asked->text(name)) json.key(name).raw(*text);
    }
  });
}

std::string encode(BatchGetItemAnswer&& answer) {
  return encode_with(std::move(answer), [](value::JsonWriter& json, const TableKeys& left) {
    if (left.projection) {
      expr::Unbinder unbinder;
      json.key("ProjectionExpression").string(unbinder.text(*left.projection));
      json.key("ExpressionAttributeNames").begin_object();
      for (const auto& [placeholder, name] : unbinder.names()) json.key(placeholder).string(name);
      json.end_object();
    }
    if (left.consistent) json.key("ConsistentRead").boolean(true);
  });
}

}  // namespace stator::api
