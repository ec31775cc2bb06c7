#include "stator/runtime/dynamo/dynamo.h"

#include <fmt/format.h>

#include <algorithm>

#include "stator/base/assert.h"
#include "stator/client/call.h"
#include "stator/runtime/dynamo/call.h"

namespace stator::runtime {
namespace {

using value::JsonElement;
using value::JsonObject;
using value::JsonWriter;

constexpr std::size_t kBatchGetKeys = 100;   // DynamoDB's bound
constexpr unsigned kUnprocessedRetries = 8;  // of a batch, each of which may bring something

// ---------------------------------------------------------------------------------------------------- items of answers

// The attributes of what an answer holds.
template <typename Held>
auto taken(Held held, std::string_view operation)
    -> Result<std::remove_reference_t<decltype(*std::move(held).take())>, Problem> {
  auto items = std::move(held).take();
  if (!items) return unreadable_answer(operation);
  return std::move(*items);
}

Result<std::optional<value::Item>, Problem> taken(std::optional<api::AnswerItem> item, std::string_view operation) {
  if (!item) return std::optional<value::Item>();
  return std::optional(TRY(taken(std::move(*item), operation)));
}

Result<ItemPage, Problem> page_from(api::PageAnswer answer, std::string_view operation) {
  return ItemPage{.items = TRY(taken(std::move(answer.items), operation)), .last_key = std::move(answer.last_key)};
}

Result<Refusal, Problem> refusal_of(api::CancellationReason reason, std::string_view operation) {
  Refusal refusal;
  if (reason.code == "ConditionalCheckFailed") {
    refusal.cause = Refusal::Cause::Condition;
  } else if (reason.code == "TransactionConflict") {
    refusal.cause = Refusal::Cause::Contention;
  } else if (reason.code != "None") {
    return to_problem(reason.code, reason.message);
  }
  refusal.item = TRY(taken(std::move(reason.item), operation));
  return refusal;
}

// The request of a write that stands alone.
api::AnyRequest request_of(Write write) {
  const bool shows_item = write.condition.has_value();
  switch (write.kind) {
    case Write::Kind::Update:
      return api::UpdateItemRequest{.table = std::move(write.table),
                                    .key = std::move(write.item),
                                    .update = std::move(write.update),
                                    .condition = std::move(write.condition),
                                    .return_item_on_failure = shows_item};
    case Write::Kind::Delete:
      return api::DeleteItemRequest{.table = std::move(write.table),
                                    .key = std::move(write.item),
                                    .condition = std::move(write.condition),
                                    .return_item_on_failure = shows_item};
    case Write::Kind::Check: STATOR_ASSERT(false, "a check alone is no write");
    case Write::Kind::Put: break;
  }
  return api::PutItemRequest{.table = std::move(write.table),
                             .item = std::move(write.item),
                             .condition = std::move(write.condition),
                             .return_item_on_failure = shows_item};
}

// ----------------------------------------------------------------------------------------------------------- the table

std::string_view view_name(model::StreamView view) {
  switch (view) {
    case model::StreamView::None: break;
    case model::StreamView::KeysOnly: return "KEYS_ONLY";
    case model::StreamView::NewImage: return "NEW_IMAGE";
    case model::StreamView::OldImage: return "OLD_IMAGE";
    case model::StreamView::NewAndOldImages: return "NEW_AND_OLD_IMAGES";
  }
  return {};
}

model::StreamView view_of(std::string_view name) {
  for (const auto view : {model::StreamView::KeysOnly, model::StreamView::NewImage, model::StreamView::OldImage,
                          model::StreamView::NewAndOldImages}) {
    if (view_name(view) == name) return view;
  }
  return model::StreamView::None;
}

void write_key_schema(JsonWriter& json, const std::vector<model::KeyDesign>& partition,
                      const std::vector<model::KeyDesign>& sort) {
  json.key("KeySchema").begin_array();
  for (const auto& key : partition) {
    json.begin_object().key("AttributeName").string(key.name).key("KeyType").string("HASH").end_object();
  }
  for (const auto& key : sort) {
    json.begin_object().key("AttributeName").string(key.name).key("KeyType").string("RANGE").end_object();
  }
  json.end_array();
}

std::vector<model::KeyDesign> sort_of(const model::TableDesign& table) {
  if (!table.sort) return {};
  return {*table.sort};
}

void write_throughput(JsonWriter& json, const model::Throughput& throughput) {
  json.key("ProvisionedThroughput").begin_object();
  json.key("ReadCapacityUnits").integer(throughput.read);
  json.key("WriteCapacityUnits").integer(throughput.write);
  json.end_object();
}

void write_index(JsonWriter& json, const model::TableDesign& table, const model::IndexDesign& index) {
  json.begin_object().key("IndexName").string(index.name);
  write_key_schema(json, index.local ? std::vector{table.partition} : index.partition, index.sort);
  json.key("Projection").begin_object().key("ProjectionType");
  switch (index.projection) {
    case model::Projection::All: json.string("ALL"); break;
    case model::Projection::KeysOnly: json.string("KEYS_ONLY"); break;
    case model::Projection::Include:
      json.string("INCLUDE").key("NonKeyAttributes").begin_array();
      for (const auto& name : index.included) json.string(name);
      json.end_array();
      break;
  }
  json.end_object();
  if (!index.local && table.provisioned) write_throughput(json, *table.provisioned);
  json.end_object();
}

void write_indexes(JsonWriter& json, const model::TableDesign& table, bool local) {
  const bool any =
      std::any_of(table.indexes.begin(), table.indexes.end(), [&](const auto& index) { return index.local == local; });
  if (!any) return;
  json.key(local ? "LocalSecondaryIndexes" : "GlobalSecondaryIndexes").begin_array();
  for (const auto& index : table.indexes) {
    if (index.local == local) write_index(json, table, index);
  }
  json.end_array();
}

std::vector<model::KeyDesign> all_keys(const model::TableDesign& table) {
  std::vector<model::KeyDesign> keys;
  const auto add = [&](const std::vector<model::KeyDesign>& list) {
    for (const auto& key : list) {
      const bool known =
          std::any_of(keys.begin(), keys.end(), [&](const auto& other) { return other.name == key.name; });
      if (!known) keys.push_back(key);
    }
  };
  add({table.partition});
  add(sort_of(table));
  for (const auto& index : table.indexes) {
    add(index.partition);
    add(index.sort);
  }
  return keys;
}

void write_definitions(JsonWriter& json, const model::TableDesign& table) {
  json.key("AttributeDefinitions").begin_array();
  for (const auto& key : all_keys(table)) {
    json.begin_object().key("AttributeName").string(key.name);
    json.key("AttributeType").string(value::type_name(key.type)).end_object();
  }
  json.end_array();
}

std::string create_table_json(const model::TableDesign& table) {
  std::string body;
  JsonWriter json(body);
  json.begin_object().key("TableName").string(table.name);
  write_definitions(json, table);
  write_key_schema(json, {table.partition}, sort_of(table));
  write_indexes(json, table, true);
  write_indexes(json, table, false);
  if (table.provisioned) {
    write_throughput(json, *table.provisioned);
  } else {
    json.key("BillingMode").string("PAY_PER_REQUEST");
  }
  if (table.stream != model::StreamView::None) {
    json.key("StreamSpecification").begin_object().key("StreamEnabled").boolean(true);
    json.key("StreamViewType").string(view_name(table.stream)).end_object();
  }
  json.end_object();
  return body;
}

struct KeySchema {
  std::vector<model::KeyDesign> partition, sort;
};

KeySchema read_key_schema(const JsonObject& description, const std::vector<model::KeyDesign>& definitions) {
  KeySchema schema;
  for (const auto& element : array_at(description, "KeySchema")) {
    JsonObject key;
    if (!element.get(key)) continue;
    model::KeyDesign attribute{
        .name = std::string(text_at(key, "AttributeName").value_or("")), .type = value::Type::S, .position = {}};
    for (const auto& defined : definitions) {
      if (defined.name == attribute.name) attribute.type = defined.type;
    }
    (text_at(key, "KeyType") == "HASH" ? schema.partition : schema.sort).push_back(std::move(attribute));
  }
  return schema;
}

value::Type key_type(std::string_view name) {
  if (name == "N") return value::Type::N;
  if (name == "B") return value::Type::B;
  return value::Type::S;
}

model::IndexDesign read_index(const JsonObject& description, bool local,
                              const std::vector<model::KeyDesign>& definitions) {
  model::IndexDesign index;
  index.name = text_at(description, "IndexName").value_or("");
  index.local = local;
  auto schema = read_key_schema(description, definitions);
  index.partition = std::move(schema.partition);
  index.sort = std::move(schema.sort);
  if (const auto projection = object_at(description, "Projection")) {
    const auto type = text_at(*projection, "ProjectionType").value_or("ALL");
    if (type == "KEYS_ONLY") index.projection = model::Projection::KeysOnly;
    if (type == "INCLUDE") index.projection = model::Projection::Include;
    for (const auto& name : array_at(*projection, "NonKeyAttributes")) {
      std::string_view text;
      if (name.get(text)) index.included.emplace_back(text);
    }
  }
  return index;
}

TableState read_table(const JsonObject& description) {
  TableState state;
  state.status = text_at(description, "TableStatus").value_or("");
  state.table.name = text_at(description, "TableName").value_or("");
  std::vector<model::KeyDesign> definitions;
  for (const auto& element : array_at(description, "AttributeDefinitions")) {
    JsonObject definition;
    if (!element.get(definition)) continue;
    definitions.push_back({.name = std::string(text_at(definition, "AttributeName").value_or("")),
                           .type = key_type(text_at(definition, "AttributeType").value_or("S")),
                           .position = {}});
  }
  auto schema = read_key_schema(description, definitions);
  if (!schema.partition.empty()) state.table.partition = schema.partition.front();
  if (!schema.sort.empty()) state.table.sort = schema.sort.front();
  for (const bool local : {true, false}) {
    for (const auto& element : array_at(description, local ? "LocalSecondaryIndexes" : "GlobalSecondaryIndexes")) {
      JsonObject index;
      if (!element.get(index)) continue;
      state.table.indexes.push_back(read_index(index, local, definitions));
      state.index_status.emplace_back(text_at(index, "IndexStatus").value_or("ACTIVE"));
    }
  }
  state.table.stream = model::StreamView::None;
  if (const auto stream = object_at(description, "StreamSpecification")) {
    state.table.stream = view_of(text_at(*stream, "StreamViewType").value_or(""));
  }
  if (const auto arn = text_at(description, "TableArn")) state.arn = *arn;
  if (const auto arn = text_at(description, "LatestStreamArn")) state.stream_arn = std::string(*arn);
  return state;
}

std::string table_name_json(std::string_view table) {
  std::string body;
  JsonWriter(body).begin_object().key("TableName").string(table).end_object();
  return body;
}

}  // namespace

std::string_view stream_name(model::StreamView view) {
  switch (view) {
    case model::StreamView::None: return "none";
    case model::StreamView::KeysOnly: return "keys_only";
    case model::StreamView::NewImage: return "new_image";
    case model::StreamView::OldImage: return "old_image";
    case model::StreamView::NewAndOldImages: return "new_and_old_images";
  }
  return {};
}

void back_off(unsigned attempt, Random& random, const Clock& clock) {
  constexpr std::uint64_t kFirstMicroseconds = 500;
  constexpr unsigned kDoublings = 8;
  const auto longest = kFirstMicroseconds << std::min(attempt, kDoublings);
  clock.wait(std::chrono::microseconds(random.below(longest) + 1));
}

// The answer to a request, or the problem that its fault is.
template <typename Request>
Result<typename Request::Answer, Problem> Dynamo::ask(Request request) {
  auto answer = client::ask(client_, std::move(request));
  if (!answer) return to_problem(answer.error());
  return std::move(*answer);
}

Result<std::optional<value::Item>, Problem> Dynamo::get(std::string_view table, const value::Item& key,
                                                        bool consistent) {
  auto answer = TRY(ask(api::GetItemRequest{.table = std::string(table), .key = key, .consistent = consistent}));
  return taken(std::move(answer.item), "GetItem");
}

Result<std::vector<value::Item>, Problem> Dynamo::batch_get(std::string_view table,
                                                            const std::vector<value::Item>& keys, bool consistent) {
  std::vector<value::Item> items;
  std::vector<value::Item> waiting(keys.rbegin(), keys.rend());  // taken from the back
  unsigned fruitless = 0;
  while (!waiting.empty()) {
    const auto count = std::min(waiting.size(), kBatchGetKeys);
    api::TableKeys batch{.table = std::string(table), .keys = {}, .consistent = consistent};
    batch.keys.assign(waiting.end() - static_cast<std::ptrdiff_t>(count), waiting.end());
    waiting.resize(waiting.size() - count);

    auto answer = TRY(ask(api::BatchGetItemRequest{.tables = {std::move(batch)}}));
    for (auto& response : answer.responses) {
      auto found = TRY(taken(std::move(response.items), "BatchGetItem"));
      std::move(found.begin(), found.end(), std::back_inserter(items));
    }
    if (answer.unprocessed.empty()) continue;
    auto& again = answer.unprocessed.front().keys;
    // A large page takes several requests as a matter of course; only those that bring nothing are a sign of
    // throttling.
    if (again.size() < count) {
      fruitless = 0;
    } else if (++fruitless > kUnprocessedRetries) {
      return Problem{.kind = ProblemKind::Busy, .code = "Busy", .message = "the database is throttling", .details = {}};
    } else {
      back_off(fruitless, random_, clock_);
    }
    std::move(again.begin(), again.end(), std::back_inserter(waiting));
  }
  return items;
}

Result<ItemPage, Problem> Dynamo::query(QueryRequest request) {
  return page_from(TRY(ask(std::move(request))), "Query");
}

Result<ItemPage, Problem> Dynamo::scan(ScanRequest request) { return page_from(TRY(ask(std::move(request))), "Scan"); }

Result<WriteAnswer, Problem> Dynamo::write(Write write) {
  auto answer = client::run_and_wait(client_, request_of(std::move(write)));
  if (answer) return WriteAnswer{};
  auto& fault = answer.error();
  Refusal refusal;
  if (fault.name() == "ConditionalCheckFailedException") {
    refusal.cause = Refusal::Cause::Condition;
    refusal.item = TRY(taken(std::move(answer).error().item, "write"));
  } else if (fault.name() == "TransactionConflictException") {
    refusal.cause = Refusal::Cause::Contention;
  } else {
    return to_problem(fault);
  }
  return WriteAnswer{.refusals = {std::move(refusal)}};
}

Result<WriteAnswer, Problem> Dynamo::transact(std::vector<Write> writes) {
  constexpr std::string_view kOperation = "TransactWriteItems";
  const auto count = writes.size();
  for (auto& write : writes) write.return_item_on_failure = write.condition.has_value();
  auto answered = client::ask(client_, api::TransactWriteItemsRequest{.items = std::move(writes)});
  if (answered) return WriteAnswer{};
  auto fault = std::move(answered).error();
  if (fault.name() != "TransactionCanceledException") return to_problem(fault);
  if (!fault.reasons || fault.reasons->size() != count) return unreadable_answer(kOperation);
  WriteAnswer answer;
  for (auto& reason : *fault.reasons) answer.refusals.push_back(TRY(refusal_of(std::move(reason), kOperation)));
  return answer;
}

Result<std::optional<TableState>, Problem> Dynamo::describe_table(std::string_view table) {
  const auto reply = client::call_and_wait(client_, "DescribeTable", table_name_json(table));
  if (const auto* fault = std::get_if<api::Fault>(&reply.outcome)) {
    if (fault->name() == "ResourceNotFoundException") return std::optional<TableState>();
    return to_problem(*fault);
  }
  const auto answer = TRY(Answer::read("DescribeTable", std::get<std::string>(reply.outcome)));
  const auto description = object_at(answer.root(), "Table");
  if (!description) return unreadable_answer("DescribeTable");
  return std::optional(read_table(*description));
}

Result<void, Problem> Dynamo::create_table(const model::TableDesign& table) {
  const auto reply = client::call_and_wait(client_, "CreateTable", create_table_json(table));
  const auto* fault = std::get_if<api::Fault>(&reply.outcome);
  if (fault == nullptr || fault->name() == "ResourceInUseException") return {};
  return to_problem(*fault);
}

Result<void, Problem> Dynamo::create_index(const model::TableDesign& table, const model::IndexDesign& index) {
  std::string body;
  JsonWriter json(body);
  json.begin_object().key("TableName").string(table.name);
  write_definitions(json, table);
  json.key("GlobalSecondaryIndexUpdates").begin_array().begin_object().key("Create");
  write_index(json, table, index);
  json.end_object().end_array().end_object();
  TRY(ask_json(client_, "UpdateTable", body));
  return {};
}

Result<void, Problem> Dynamo::drop_index(std::string_view table, std::string_view index) {
  std::string body;
  JsonWriter json(body);
  json.begin_object().key("TableName").string(table);
  json.key("GlobalSecondaryIndexUpdates").begin_array().begin_object().key("Delete").begin_object();
  json.key("IndexName").string(index).end_object().end_object().end_array().end_object();
  TRY(ask_json(client_, "UpdateTable", body));
  return {};
}

Result<void, Problem> Dynamo::change_stream(std::string_view table, model::StreamView view) {
  const bool enabled = view != model::StreamView::None;
  std::string body;
  JsonWriter json(body);
  json.begin_object().key("TableName").string(table);
  json.key("StreamSpecification").begin_object().key("StreamEnabled").boolean(enabled);
  if (enabled) json.key("StreamViewType").string(view_name(view));
  json.end_object().end_object();
  TRY(ask_json(client_, "UpdateTable", body));
  return {};
}

Result<std::optional<std::string>, Problem> Dynamo::describe_ttl(std::string_view table) {
  const auto answer = TRY(ask_json(client_, "DescribeTimeToLive", table_name_json(table)));
  const auto description = object_at(answer.root(), "TimeToLiveDescription");
  if (!description) return unreadable_answer("DescribeTimeToLive");
  const auto status = text_at(*description, "TimeToLiveStatus").value_or("");
  if (status != "ENABLED" && status != "ENABLING") return std::optional<std::string>();
  return std::optional(std::string(text_at(*description, "AttributeName").value_or("")));
}

Result<void, Problem> Dynamo::enable_ttl(std::string_view table, std::string_view attribute) {
  std::string body;
  JsonWriter json(body);
  json.begin_object().key("TableName").string(table);
  json.key("TimeToLiveSpecification").begin_object();
  json.key("AttributeName").string(attribute).key("Enabled").boolean(true);
  json.end_object().end_object();
  TRY(ask_json(client_, "UpdateTimeToLive", body));
  return {};
}

}  // namespace stator::runtime
