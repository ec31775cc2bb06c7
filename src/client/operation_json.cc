#include "stator/client/operation_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "stator/api/json/item_names.h"
#include "stator/api/json/shape.h"
#include "stator/api/json/statement_fields.h"
#include "stator/api/json/stream_fields.h"
#include "stator/api/json/table_fields.h"
#include "stator/client/client.h"
#include "stator/expr/unbinder.h"
#include "stator/value/json.h"

namespace stator::client {
namespace {

using api::AnswerItem;
using api::AnyAnswer;
using api::AnyRequest;
using api::CapacityDetail;
using api::ReturnValues;
using api::Selection;
using value::JsonArray;
using value::JsonElement;
using value::JsonObject;
using value::JsonWriter;

// ------------------------------------------------------------------------------------------------------------ requests

void write_placeholders(JsonWriter& json, const expr::Unbinder& unbinder) {
  if (!unbinder.names().empty()) {
    json.key("ExpressionAttributeNames").begin_object();
    for (const auto& [placeholder, name] : unbinder.names()) json.key(placeholder).string(name);
    json.end_object();
  }
  if (!unbinder.values().empty()) {
    json.key("ExpressionAttributeValues").begin_object();
    for (const auto& [placeholder, content] : unbinder.values()) json.key(placeholder).attribute(content);
    json.end_object();
  }
}

// Writes the expressions that are there; the placeholders come once all are written.
class Expressions {
 public:
  explicit Expressions(JsonWriter& json) : json_(json) {}

  template <typename Expression>
  Expressions& add(std::string_view member, const std::optional<Expression>& expression) {
    return expression ? add(member, *expression) : *this;
  }
  template <typename Expression>
  Expressions& add(std::string_view member, const Expression& expression) {
    json_.key(member).string(unbinder_.text(expression));
    return *this;
  }
  void end() { write_placeholders(json_, unbinder_); }

 private:
  JsonWriter& json_;
  expr::Unbinder unbinder_;
};

void write_capacity(JsonWriter& json, CapacityDetail detail) {
  if (detail == CapacityDetail::None) return;
  json.key("ReturnConsumedCapacity").string(api::wire_name(detail));
}

void write_reports(JsonWriter& json, const api::WriteReports& reports) {
  write_capacity(json, reports.capacity);
  if (reports.collection_metrics) json.key("ReturnItemCollectionMetrics").string("SIZE");
}

void write_returns(JsonWriter& json, ReturnValues values, bool item_on_failure) {
  if (values != ReturnValues::None) json.key("ReturnValues").string(api::wire_name(values));
  if (item_on_failure) json.key("ReturnValuesOnConditionCheckFailure").string("ALL_OLD");
}

void write(JsonWriter& json, const api::GetItemRequest& request) {
  json.key("TableName").string(request.table).key("Key").item(request.key);
  Expressions(json).add("ProjectionExpression", request.projection).end();
  if (request.consistent) json.key("ConsistentRead").boolean(true);
  write_capacity(json, request.capacity);
}

void write(JsonWriter& json, const api::PutItemRequest& request) {
  json.key("TableName").string(request.table).key("Item").item(request.item);
  Expressions(json).add("ConditionExpression", request.condition).end();
  write_returns(json, request.return_values, request.return_item_on_failure);
  write_reports(json, request.reports);
}

void write(JsonWriter& json, const api::UpdateItemRequest& request) {
  json.key("TableName").string(request.table).key("Key").item(request.key);
  Expressions(json).add("UpdateExpression", request.update).add("ConditionExpression", request.condition).end();
  write_returns(json, request.return_values, request.return_item_on_failure);
  write_reports(json, request.reports);
}

void write(JsonWriter& json, const api::DeleteItemRequest& request) {
  json.key("TableName").string(request.table).key("Key").item(request.key);
  Expressions(json).add("ConditionExpression", request.condition).end();
  write_returns(json, request.return_values, request.return_item_on_failure);
  write_reports(json, request.reports);
}

void write_page(JsonWriter& json, const api::PageRequest& page, const expr::KeyCondition* condition) {
  json.key("TableName").string(page.table);
  if (page.index) json.key("IndexName").string(*page.index);
  Expressions expressions(json);
  if (condition != nullptr) expressions.add("KeyConditionExpression", *condition);
  expressions.add("FilterExpression", page.filter).add("ProjectionExpression", page.projection).end();
  if (page.select != Selection::Unset) json.key("Select").string(api::wire_name(page.select));
  if (page.consistent) json.key("ConsistentRead").boolean(true);
  if (page.limit) json.key("Limit").integer(static_cast<std::int64_t>(*page.limit));
  if (page.start) json.key("ExclusiveStartKey").item(*page.start);
  write_capacity(json, page.capacity);
}

void write(JsonWriter& json, const api::QueryRequest& request) {
  write_page(json, request.page, &request.condition);
  if (!request.ascending) json.key("ScanIndexForward").boolean(false);
}

void write(JsonWriter& json, const api::ScanRequest& request) {
  write_page(json, request.page, nullptr);
  if (request.segments > 1) {
    json.key("Segment").integer(request.segment).key("TotalSegments").integer(request.segments);
  }
}

void write(JsonWriter& json, const api::BatchGetItemRequest& request) {
  json.key("RequestItems").begin_object();
  for (const auto& table : request.tables) {
    json.key(table.table).begin_object().key("Keys").begin_array();
    for (const auto& key : table.keys) json.item(key);
    json.end_array();
    Expressions(json).add("ProjectionExpression", table.projection).end();
    if (table.consistent) json.key("ConsistentRead").boolean(true);
    json.end_object();
  }
  json.end_object();
  write_capacity(json, request.capacity);
}

void write(JsonWriter& json, const api::BatchWriteItemRequest& request) {
  json.key("RequestItems").begin_object();
  for (const auto& table : request.tables) {
    json.key(table.table).begin_array();
    for (const auto& one : table.writes) {
      json.begin_object().key(one.is_put ? "PutRequest" : "DeleteRequest").begin_object();
      json.key(one.is_put ? "Item" : "Key").item(one.item).end_object().end_object();
    }
    json.end_array();
  }
  json.end_object();
  write_reports(json, request.reports);
}

void write(JsonWriter& json, const api::TransactGetItemsRequest& request) {
  json.key("TransactItems").begin_array();
  for (const auto& get : request.gets) {
    json.begin_object().key("Get").begin_object().key("TableName").string(get.table).key("Key").item(get.key);
    Expressions(json).add("ProjectionExpression", get.projection).end();
    json.end_object().end_object();
  }
  json.end_array();
  write_capacity(json, request.capacity);
}

void write(JsonWriter& json, const api::TransactWriteItemsRequest& request) {
  json.key("TransactItems").begin_array();
  for (const auto& item : request.items) {
    const bool is_put = item.kind == api::TransactWriteItem::Kind::Put;
    json.begin_object().key(api::wire_name(item.kind)).begin_object();
    json.key("TableName").string(item.table).key(is_put ? "Item" : "Key").item(item.item);
    Expressions(json).add("UpdateExpression", item.update).add("ConditionExpression", item.condition).end();
    write_returns(json, ReturnValues::None, item.return_item_on_failure);
    json.end_object().end_object();
  }
  json.end_array();
  if (request.token) json.key("ClientRequestToken").string(request.token->text);
  write_reports(json, request.reports);
}

// ------------------------------------------------------------------------------------------------------------- answers

// Something that should be there is not, or is of another type.
struct Unreadable {};
template <typename T>
using Read = Result<T, Unreadable>;

std::string text_at(const JsonObject& object, std::string_view name) {
  return std::string(object.get<std::string_view>(name).value_or(""));
}

double number_at(const JsonObject& object, std::string_view name) { return object.get<double>(name).value_or(0); }

Read<value::Item> item_from(JsonElement json) {
  auto item = value::decode_stored_item(json);
  if (!item) return Unreadable{};
  return std::move(*item);
}

Read<std::vector<value::Item>> items_from(const JsonArray& list) {
  std::vector<value::Item> items;
  items.reserve(list.size());
  for (const auto json : list) items.push_back(TRY(item_from(json)));
  return items;
}

Read<std::optional<value::Item>> item_at(const JsonObject& object, std::string_view name) {
  JsonElement json;
  if (!object[name].get(json)) return std::optional<value::Item>();
  return std::optional(TRY(item_from(json)));
}

Read<std::optional<AnswerItem>> answer_item_at(const JsonObject& object, std::string_view name) {
  auto item = TRY(item_at(object, name));
  if (!item) return std::optional<AnswerItem>();
  return std::optional<AnswerItem>(std::move(*item));
}

std::optional<api::ConsumedCapacity> capacity_at(const JsonObject& json) {
  const auto capacity = json.get<JsonObject>("ConsumedCapacity");
  if (!capacity) return std::nullopt;
  return api::read_consumed(api::JsonMembers(*capacity));
}

std::vector<api::ConsumedCapacity> capacities_at(const JsonObject& json) {
  std::vector<api::ConsumedCapacity> all;
  for (const auto element : json["ConsumedCapacity"].array()) {
    JsonObject object;
    if (element.get(object)) all.push_back(api::read_consumed(api::JsonMembers(object)));
  }
  return all;
}

Read<api::ItemCollectionMetrics> metrics_from(const JsonObject& json) {
  api::ItemCollectionMetrics metrics;
  metrics.key = TRY(item_at(json, "ItemCollectionKey")).value_or(value::Item());
  const auto range = json["SizeEstimateRangeGB"].array();
  if (range.size() != 2 || !range.at(0).get(metrics.least_gigabytes) || !range.at(1).get(metrics.most_gigabytes)) {
    return Unreadable{};
  }
  return metrics;
}

Read<AnyAnswer> read_get(const JsonObject& json) {
  return AnyAnswer(api::GetItemAnswer{.item = TRY(answer_item_at(json, "Item")), .capacity = capacity_at(json)});
}

Read<AnyAnswer> read_write(const JsonObject& json) {
  api::WriteItemAnswer answer{
      .attributes = TRY(answer_item_at(json, "Attributes")), .capacity = capacity_at(json), .collection = {}};
  if (const auto metrics = json.get<JsonObject>("ItemCollectionMetrics"))
    answer.collection = TRY(metrics_from(*metrics));
  return AnyAnswer(std::move(answer));
}

Read<AnyAnswer> read_page(const JsonObject& json) {
  auto items = TRY(items_from(json["Items"].array()));
  api::PageAnswer answer;
  answer.with_items = static_cast<bool>(json["Items"]);
  answer.count = static_cast<std::uint64_t>(number_at(json, "Count"));
  answer.scanned = static_cast<std::uint64_t>(number_at(json, "ScannedCount"));
  answer.items = api::AnswerItems(std::move(items));
  answer.last_key = TRY(item_at(json, "LastEvaluatedKey"));
  answer.capacity = capacity_at(json);
  return AnyAnswer(std::move(answer));
}

Read<AnyAnswer> read_batch_get(const api::BatchGetItemRequest& request, const JsonObject& json) {
  const auto responses = json.get<JsonObject>("Responses");
  if (!responses) return Unreadable{};
  api::BatchGetItemAnswer answer;
  for (const auto [table, list] : *responses) {
    JsonArray array;
    if (!list.get(array)) return Unreadable{};
    auto& response = answer.responses.emplace_back();
    response.table = table;
    response.items = api::AnswerItems(TRY(items_from(array)));
  }
  if (const auto unprocessed = json.get<JsonObject>("UnprocessedKeys")) {
    for (const auto [table, keys] : *unprocessed) {
      JsonObject object;
      if (!keys.get(object)) return Unreadable{};
      // The answer repeats the expressions of the request, which has them bound.
      const auto asked = std::ranges::find(request.tables, table, &api::TableKeys::table);
      if (asked == request.tables.end()) return Unreadable{};
      auto left = TRY(items_from(object["Keys"].array()));
      answer.unprocessed.push_back({.table = asked->table,
                                    .keys = std::move(left),
                                    .projection = asked->projection,
                                    .consistent = asked->consistent});
    }
  }
  answer.capacity = capacities_at(json);
  return AnyAnswer(std::move(answer));
}

Read<api::SeveralWritesAnswer> read_writes(const JsonObject& json) {
  api::SeveralWritesAnswer answer{.capacity = capacities_at(json), .collections = {}};
  if (const auto collections = json.get<JsonObject>("ItemCollectionMetrics")) {
    for (const auto [table, list] : *collections) {
      JsonArray array;
      if (!list.get(array)) return Unreadable{};
      auto& all = answer.collections.emplace_back(table, std::vector<api::ItemCollectionMetrics>()).second;
      for (const JsonElement one : array) {
        JsonObject object;
        if (!one.get(object)) return Unreadable{};
        all.push_back(TRY(metrics_from(object)));
      }
    }
  }
  return answer;
}

Read<api::TableWrites::Write> unprocessed_write(const JsonObject& json) {
  for (const auto& [kind, content, is_put] :
       {std::tuple("PutRequest", "Item", true), std::tuple("DeleteRequest", "Key", false)}) {
    const auto found = json.get<JsonObject>(kind);
    if (!found) continue;
    auto item = TRY(item_at(*found, content));
    if (!item) return Unreadable{};
    return api::TableWrites::Write{.is_put = is_put, .item = std::move(*item)};
  }
  return Unreadable{};
}

Read<AnyAnswer> read_batch_write(const JsonObject& json) {
  auto reports = TRY(read_writes(json));
  api::BatchWriteItemAnswer answer{std::move(reports)};
  if (const auto unprocessed = json.get<JsonObject>("UnprocessedItems")) {
    for (const auto [table, list] : *unprocessed) {
      JsonArray array;
      if (!list.get(array)) return Unreadable{};
      auto& left = answer.unprocessed.emplace_back();
      left.table = table;
      for (const JsonElement one : array) {
        JsonObject object;
        if (!one.get(object)) return Unreadable{};
        left.writes.push_back(TRY(unprocessed_write(object)));
      }
    }
  }
  return AnyAnswer(std::move(answer));
}

Read<AnyAnswer> read_transact_get(const JsonObject& json) {
  api::TransactGetItemsAnswer answer;
  for (const auto element : json["Responses"].array()) {
    JsonObject object;
    if (!element.get(object)) return Unreadable{};
    answer.items.push_back(TRY(answer_item_at(object, "Item")));
  }
  answer.capacity = capacities_at(json);
  return AnyAnswer(std::move(answer));
}

// The answers to operations on items; those to others are lists of plain members.
template <typename Asked>
Read<AnyAnswer> read_answer(const Asked& request, const JsonObject& json) {
  using Answer = typename Asked::Answer;
  if constexpr (std::same_as<Answer, api::GetItemAnswer>) {
    return read_get(json);
  } else if constexpr (std::same_as<Answer, api::WriteItemAnswer>) {
    return read_write(json);
  } else if constexpr (std::same_as<Answer, api::PageAnswer>) {
    return read_page(json);
  } else if constexpr (std::same_as<Answer, api::BatchGetItemAnswer>) {
    return read_batch_get(request, json);
  } else if constexpr (std::same_as<Answer, api::BatchWriteItemAnswer>) {
    return read_batch_write(json);
  } else if constexpr (std::same_as<Answer, api::TransactGetItemsAnswer>) {
    return read_transact_get(json);
  } else if constexpr (std::same_as<Answer, api::TransactWriteItemsAnswer>) {
    return AnyAnswer(api::TransactWriteItemsAnswer{TRY(read_writes(json))});
  } else {
    Answer answer;
    if (!api::read_fields(api::JsonMembers(json), answer)) return Unreadable{};
    return AnyAnswer(std::move(answer));
  }
}

}  // namespace

std::string encode_request(const AnyRequest& request) {
  std::string body;
  JsonWriter json(body);
  json.begin_object();
  std::visit(
      [&](const auto& one) {
        if constexpr (requires { write(json, one); }) {
          write(json, one);
        } else {
          api::FieldWriter writer(json);
          fields(writer, one);
        }
      },
      request);
  json.end_object();
  return body;
}

Result<AnyAnswer, api::Fault> decode_answer(const AnyRequest& request, std::string_view json) {
  thread_local value::JsonParser parser;
  const auto root = parser.parse(json.empty() ? "{}" : json);  // TagResource answers with nothing at all
  JsonObject object;
  if (root && root->get(object)) {
    auto answer = std::visit([&](const auto& asked) { return read_answer(asked, object); }, request);
    if (answer) return std::move(*answer);
  }
  return api::Fault{
      .type = std::string(kUnexpectedAnswer),
      .message = fmt::format("the database's answer to {} could not be read", api::operation_name(request)),
      .server_side = true};
}

std::string asking_for_capacity(std::string_view operation, std::string_view request) {
  constexpr std::string_view kMember = "ReturnConsumedCapacity";
  const auto* shape = api::input_shape(operation);
  if (shape == nullptr || shape->find(kMember) == shape->members.size()) return std::string(request);
  value::JsonParser parser;
  const auto json = parser.parse(request);
  if (!json || !json->is_object() || (*json)[kMember]) return std::string(request);
  const auto members = request.substr(request.find('{') + 1);
  return fmt::format("{{\"{}\":\"INDEXES\"{}{}", kMember, json->object().size() == 0 ? "" : ",", members);
}

std::optional<double> consumed_units(std::string_view answer) {
  if (answer.find("\"ConsumedCapacity\"") == std::string_view::npos) return std::nullopt;
  value::JsonParser parser;
  const auto json = parser.parse(answer);
  if (!json) return std::nullopt;
  const auto consumed = (*json)["ConsumedCapacity"];
  if (consumed.is_object()) return number_at(consumed.object(), "CapacityUnits");
  if (!consumed.is_array()) return std::nullopt;
  double units = 0;
  for (const auto each : consumed.array()) units += number_at(each.object(), "CapacityUnits");
  return units;
}

void decode_members(const JsonObject& json, api::Fault& fault) {
  // An item that cannot be read is left out, as if the endpoint had not told it.
  const auto item_of = [](const JsonObject& object) {
    auto item = answer_item_at(object, "Item");
    return item ? std::move(*item) : std::nullopt;
  };
  fault.item = item_of(json);
  if (!json["CancellationReasons"]) return;
  auto& reasons = fault.reasons.emplace();
  for (const auto element : json["CancellationReasons"].array()) {
    JsonObject object;
    auto& reason = reasons.emplace_back();
    if (!element.get(object)) continue;
    if (auto code = text_at(object, "Code"); !code.empty()) reason.code = std::move(code);
    reason.message = text_at(object, "Message");
    reason.item = item_of(object);
  }
}

}  // namespace stator::client
