// The operations on tables, streams, tags and statements as types: what they answer is the same in process, without
// JSON, and through JSON, as a remote endpoint has it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stator/api/json/statement_fields.h"
#include "stator/api/json/stream_fields.h"
#include "stator/api/json/table_fields.h"
#include "stator/client/call.h"
#include "stator/client/operation_json.h"
#include "stator/expr/build.h"
#include "stator/library/instance.h"
#include "stator/value/well_formed.h"

namespace stator::client {
namespace {

using namespace api;
using value::AttributeValue;

// Knows no way but JSON.
class WireClient final : public Client {
 public:
  explicit WireClient(Client& next) : next_(next) {}
  void call(std::string_view operation, std::string_view json, ReplyCallback reply) override {
    next_.call(operation, json, std::move(reply));
  }

 private:
  Client& next_;
};

class OperationsTest : public ::testing::Test {
 protected:
  // The answer as JSON, or the fault.
  template <typename Request>
  static std::string told(Client& client, Request request) {
    auto answer = ask(client, std::move(request));
    return answer ? fields_to_json(*answer) : answer.error().body();
  }
  // The answer to a request that changes nothing, which is the same both ways.
  template <typename Request>
  std::string same(const Request& request) {
    auto typed = told(client, request);
    EXPECT_EQ(typed, told(wire, request));
    return typed;
  }
  void create_orders() {
    ASSERT_TRUE(ask(client, CreateTableRequest{.table = "Orders",
                                               .definitions = {{"pk", value::Type::S}, {"at", value::Type::N}},
                                               .keys = {{"pk", KeyRole::Hash}},
                                               .global_indexes = {{by_time()}},
                                               .billing_mode = BillingMode::PayPerRequest,
                                               .stream = StreamSpecification{true, StreamView::NewAndOldImages}})
                    .ok());
  }
  static IndexDefinition by_time() {
    return {.name = "ByTime", .keys = {{"at", KeyRole::Hash}}, .projection = {.kind = ProjectionKind::KeysOnly}};
  }
  void put(std::string_view id) {
    ASSERT_TRUE(ask(client, PutItemRequest{.table = "Orders", .item = {{"pk", AttributeValue::string(id)}}}).ok());
  }
  std::string stream_arn() { return ask(client, ListStreamsRequest{})->streams.at(0).arn; }
  std::string iterator() {
    const auto shard = ask(client, DescribeStreamRequest{.arn = stream_arn()})->stream.shards.at(0).id;
    return ask(client, GetShardIteratorRequest{.arn = stream_arn(), .shard = shard})->iterator;
  }

  std::unique_ptr<library::Instance> instance =
      library::Instance::open({.data_folder = {}, .in_memory = true, .relaxed_durability = false}).value();
  InProcessClient client{instance->operations()};
  WireClient wire{client};
};

TEST_F(OperationsTest, ATableIsDescribedTheSameBothWays) {
  create_orders();
  put("a");
  const auto described = same(DescribeTableRequest{.table = "Orders"});
  EXPECT_NE(described.find(R"("GlobalSecondaryIndexes":[{"IndexName":"ByTime")"), std::string::npos) << described;
  EXPECT_NE(described.find(R"("StreamViewType":"NEW_AND_OLD_IMAGES")"), std::string::npos) << described;
  EXPECT_EQ(same(ListTablesRequest{.limit = 1}), R"({"TableNames":["Orders"]})");
  EXPECT_EQ(same(DescribeTimeToLiveRequest{.table = "Orders"}),
            R"({"TimeToLiveDescription":{"TimeToLiveStatus":"DISABLED"}})");
  EXPECT_NE(same(DescribeTableRequest{.table = "Missing"}).find("ResourceNotFoundException"), std::string::npos);
  EXPECT_NE(same(DescribeLimitsRequest{}).find("TableMaxReadCapacityUnits"), std::string::npos);
  EXPECT_NE(same(DescribeEndpointsRequest{}).find("CachePeriodInMinutes"), std::string::npos);
}

TEST_F(OperationsTest, ARequestThatGoesOverAWireIsTheSameRequest) {
  const auto create = [](std::string name) {
    return CreateTableRequest{.table = std::move(name),
                              .definitions = {{"pk", value::Type::B}, {"sk", value::Type::N}, {"g", value::Type::S}},
                              .keys = {{"pk", KeyRole::Hash}, {"sk", KeyRole::Range}},
                              .local_indexes = {{{.name = "Local",
                                                  .keys = {{"pk", KeyRole::Hash}, {"g", KeyRole::Range}},
                                                  .projection = {ProjectionKind::Include, {{"x", "y"}}}}}},
                              .global_indexes = {{{.name = "Global",
                                                   .keys = {{"g", KeyRole::Hash}},
                                                   .projection = {.kind = ProjectionKind::All},
                                                   .throughput = Throughput{3, 4}}}},
                              .billing_mode = BillingMode::Provisioned,
                              .throughput = Throughput{1, 2},
                              .encryption = EncryptionSpecification{.enabled = true, .type = "KMS", .key = "alias/k"},
                              .deletion_protection = true,
                              .table_class = "STANDARD_INFREQUENT_ACCESS",
                              .tags = {{.key = "team", .value = "blue"}}};
  };
  // All but what differs between two tables anyway.
  const auto without_identity = [](TableDescription table) {
    table.name = table.arn = table.id = "";
    table.created.reset();
    for (auto* indexes : {&table.local_indexes, &table.global_indexes}) {
      for (auto& index : *indexes) index.arn = "";
    }
    return fields_to_json(table);
  };
  const auto typed = ask(client, create("One"));
  const auto sent = ask(wire, create("Two"));
  ASSERT_TRUE(typed.ok() && sent.ok());
  EXPECT_EQ(without_identity(typed->table), without_identity(sent->table));
  const auto updated =
      ask(wire,
          UpdateTableRequest{
              .table = "Two",
              .throughput = Throughput{5, 6},
              .index_updates = {{{.update = IndexUpdate::Update{.name = "Global", .throughput = Throughput{7, 8}}}}}});
  ASSERT_TRUE(updated.ok()) << updated.error().body();
  EXPECT_EQ(updated->table.throughput.write_units, 6);
  EXPECT_EQ(updated->table.global_indexes.at(0).throughput->read_units, 7);
}

TEST_F(OperationsTest, TagsAndTimeToLiveAreChanged) {
  create_orders();
  const auto arn = ask(client, DescribeTableRequest{.table = "Orders"})->table.arn;
  for (Client* way : {static_cast<Client*>(&client), static_cast<Client*>(&wire)}) {
    EXPECT_TRUE(ask(*way, TagResourceRequest{.arn = arn, .tags = {{{.key = "k", .value = "v"}}}}).ok());
    EXPECT_EQ(same(ListTagsOfResourceRequest{.arn = arn}), R"({"Tags":[{"Key":"k","Value":"v"}]})");
    EXPECT_TRUE(ask(*way, UntagResourceRequest{.arn = arn, .keys = {{"k"}}}).ok());
    EXPECT_EQ(same(ListTagsOfResourceRequest{.arn = arn}), R"({"Tags":[]})");
    for (const bool enabled : {true, false}) {
      EXPECT_EQ(told(*way, UpdateTimeToLiveRequest{.table = "Orders", .time_to_live = {enabled, "expires"}}),
                fmt::format(R"({{"TimeToLiveSpecification":{{"Enabled":{},"AttributeName":"expires"}}}})", enabled));
    }
  }
}

TEST_F(OperationsTest, AStreamIsReadTheSameBothWays) {
  create_orders();
  put("a");
  put("a");
  EXPECT_NE(same(ListStreamsRequest{.table = "Orders"}).find(R"("TableName":"Orders")"), std::string::npos);
  EXPECT_NE(same(DescribeStreamRequest{.arn = stream_arn()}).find(R"("StreamStatus":"ENABLED")"), std::string::npos);
  const auto from = iterator();
  auto typed = ask(client, GetRecordsRequest{.iterator = from});
  auto sent = ask(wire, GetRecordsRequest{.iterator = from});
  ASSERT_TRUE(typed.ok() && sent.ok());
  EXPECT_EQ(fields_to_json(typed->records), fields_to_json(sent->records));
  for (auto& record : typed->records) {
    const auto json = encode(record);
    EXPECT_EQ(encode(decode_stream_record(json)), json);
  }
}

TEST_F(OperationsTest, ARecordThatIsNoneKeepsItsText) {
  for (const std::string json : {R"({"eventName":"EXPLODE","dynamodb":{"SequenceNumber":"7"}})", R"([1])", "no JSON"}) {
    EXPECT_EQ(decode_stream_record(json).unreadable, json);
  }
  EXPECT_EQ(decode_stream_record(R"({"eventName":"EXPLODE","dynamodb":{"SequenceNumber":"7"}})").change.sequence_number,
            "7");
}

TEST_F(OperationsTest, PagesHaveTheSameItemsBothWays) {
  create_orders();
  for (const auto* id : {"a", "b", "c"}) put(id);
  const auto items = [](Client& asked, const PageRequest& page) {
    auto answer = ask(asked, ScanRequest{.page = page});
    const auto told = fmt::format("{} of {}: ", answer->count, answer->scanned);
    return told + std::move(answer->items).take_json();
  };
  const auto b = expr::to_condition(expr::compare("pk", expr::Op::Equal, AttributeValue::string("b")));
  const expr::Projection none(std::vector{expr::Path{.attribute = "other", .elements = {}}});
  EXPECT_EQ(items(client, {.table = "Orders"}), items(wire, {.table = "Orders"}));
  for (const auto& [page, expected] :
       {std::pair(PageRequest{.table = "Orders", .filter = b}, R"(1 of 3: {"pk":{"S":"b"}})"),
        std::pair(PageRequest{.table = "Orders", .filter = b, .projection = none}, "1 of 3: {}"),
        std::pair(PageRequest{.table = "Orders", .filter = b, .select = Selection::Count}, "1 of 3: ")}) {
    EXPECT_EQ(items(client, page), expected);
    EXPECT_EQ(items(wire, page), expected);
  }
  const BatchGetItemRequest batch{
      .tables = {{.table = "Orders", .keys = {{{"pk", AttributeValue::string("b")}}}, .projection = none}}};
  for (Client* asked : std::initializer_list<Client*>{&client, &wire}) {
    auto answer = ask(*asked, batch);
    EXPECT_EQ(std::move(answer->responses.at(0).items).take_json(), "{}");
  }
}

TEST_F(OperationsTest, StatementsAnswerTheSameBothWays) {
  create_orders();
  for (const auto* id : {"a", "b", "c"}) put(id);
  const auto of = [](std::string_view id) {
    return StatementRequest{.statement = R"(SELECT * FROM "Orders" WHERE pk = ?)",
                            .parameters = {{AttributeValue::string(id)}}};
  };
  EXPECT_EQ(same(ExecuteStatementRequest{
                .statement = of("a").statement, .parameters = of("a").parameters, .capacity = CapacityDetail::Indexes}),
            R"({"Items":[{"pk":{"S":"a"}}],"ConsumedCapacity":{"TableName":"Orders","CapacityUnits":0.5,)"
            R"("Table":{"CapacityUnits":0.5}}})");
  auto bad = of("b");
  bad.statement = "SELECT nonsense";
  const auto batch = same(BatchExecuteStatementRequest{.statements = {of("a"), bad, of("none")}});
  EXPECT_NE(batch.find(R"("TableName":"Orders","Item":{"pk":{"S":"a"}})"), std::string::npos) << batch;
  EXPECT_NE(batch.find("ValidationError"), std::string::npos) << batch;
  EXPECT_EQ(same(ExecuteTransactionRequest{.statements = {of("a"), of("none")}}),
            R"({"Responses":[{"Item":{"pk":{"S":"a"}}},{}]})");
  const auto first = ask(wire, ExecuteStatementRequest{.statement = R"(SELECT * FROM "Orders")", .limit = 2});
  ASSERT_TRUE(first.ok() && first->next_token);
  EXPECT_NE(same(ExecuteStatementRequest{.statement = R"(SELECT * FROM "Orders")", .next_token = first->next_token})
                .find(R"("Items":[{)"),
            std::string::npos);
}

TEST_F(OperationsTest, ATokenMakesARepeatedTransactionHarmless) {
  create_orders();
  const ExecuteTransactionRequest insert{.statements = {{.statement = R"(INSERT INTO "Orders" VALUE {'pk': 'x'})"}},
                                         .token = ClientRequestToken{"token", 1}};
  for (Client* way : {static_cast<Client*>(&client), static_cast<Client*>(&wire)}) {
    auto named = insert;
    named.token->text += way == &client ? "1" : "2";
    ASSERT_TRUE(ask(client, DeleteItemRequest{.table = "Orders", .key = {{"pk", AttributeValue::string("x")}}}).ok());
    EXPECT_EQ(told(*way, named), R"({"Responses":[{}]})");
    EXPECT_EQ(told(*way, named), R"({"Responses":[{}]})") << "it is there already, and the token says by whom";
  }
}

TEST_F(OperationsTest, ATokenAloneTellsTransactionsApart) {
  create_orders();
  const auto key = [](std::string_view id) { return value::Item{{"pk", AttributeValue::string(id)}}; };
  const auto writes = [&](std::string_view id, std::optional<expr::Condition> condition = {}) {
    return TransactWriteItemsRequest{.items = {{.table = "Orders", .item = key(id), .condition = std::move(condition)}},
                                     .token = ClientRequestToken{.text = "writes"}};
  };
  const auto outcome = [&](const auto& request) {
    const auto answer = ask(client, request);
    return answer ? "ok" : std::string(answer.error().name());
  };
  EXPECT_EQ(outcome(writes("a")), "ok");
  EXPECT_EQ(outcome(writes("a")), "ok") << "a repetition";
  EXPECT_EQ(outcome(writes("b")), "IdempotentParameterMismatchException");
  EXPECT_EQ(outcome(writes("a", expr::to_condition(expr::exists("pk")))), "IdempotentParameterMismatchException");
  EXPECT_FALSE(ask(client, GetItemRequest{.table = "Orders", .key = key("b")})->item);

  const auto statement = [&](std::string_view id) {
    return ExecuteTransactionRequest{.statements = {{.statement = R"(INSERT INTO "Orders" VALUE {'pk': ?})",
                                                     .parameters = {{AttributeValue::string(id)}}}},
                                     .token = ClientRequestToken{.text = "statements"}};
  };
  EXPECT_EQ(outcome(statement("c")), "ok");
  EXPECT_EQ(outcome(statement("c")), "ok");
  EXPECT_EQ(outcome(statement("d")), "IdempotentParameterMismatchException");

  for (const auto* text : {"", "0123456789012345678901234567890123456"}) {
    auto one = writes("e");
    auto other = statement("e");
    one.token->text = other.token->text = text;
    EXPECT_EQ(outcome(one), "ValidationException") << text;
    EXPECT_EQ(outcome(other), "ValidationException") << text;
  }
}

// An item of nulls, whose JSON is many times as large as DynamoDB counts it.
value::Item item_of_nulls(std::string_view id, std::size_t nulls) {
  return {{"pk", AttributeValue::string(id)}, {"nulls", AttributeValue(value::List(nulls))}};
}

TEST_F(OperationsTest, ATransactionOfReadsIsMeasuredAsDynamoDbMeasuresItems) {
  create_orders();
  ExecuteTransactionRequest request;
  TransactGetItemsRequest gets;
  for (int i = 0; i < 3; ++i) {
    const auto item = item_of_nulls(std::to_string(i), 150'000);
    ASSERT_TRUE(ask(client, PutItemRequest{.table = "Orders", .item = item}).ok());
    request.statements.push_back(
        {.statement = R"(SELECT * FROM "Orders" WHERE pk = ?)", .parameters = {{*item.find("pk")}}});
    gets.gets.push_back({.table = "Orders", .key = {{"pk", *item.find("pk")}}});
  }
  EXPECT_TRUE(ask(client, gets).ok());
  const auto read = ask(client, request);
  EXPECT_TRUE(read.ok()) << read.error().message;
}

// The event loops answer what is quick, and hand the rest to the slow lane.
TEST_F(OperationsTest, AReadWithALargeAnswerStopsWhereItHasToBeQuick) {
  create_orders();
  for (const auto* id : {"a", "b"}) {
    ASSERT_TRUE(ask(client, PutItemRequest{.table = "Orders", .item = item_of_nulls(id, 100'000)}).ok());
  }
  const auto takes_long = [&](std::string_view operation, std::string body, std::size_t quick_bytes) {
    body.reserve(body.size() + value::kJsonPadding);
    bool answer = false;
    instance->operations().call(operation, body, [&](const Reply& reply) { answer = reply.takes_long; },
                                {.quick_bytes = quick_bytes});
    return answer;
  };
  constexpr std::size_t kQuick = std::size_t{2} << 20;
  for (const auto& [operation, body] : {std::pair<std::string, std::string>{"Scan", R"({"TableName":"Orders"})"},
                                        {"Scan", R"({"TableName":"Orders","ProjectionExpression":"nulls"})"},
                                        {"ExecuteStatement", R"({"Statement":"SELECT * FROM \"Orders\""})"},
                                        {"ExecuteTransaction", R"({"TransactStatements":[
           {"Statement":"SELECT * FROM \"Orders\" WHERE pk = 'a'"},{"Statement":"SELECT * FROM \"Orders\" WHERE pk = 'b'"}]})"}}) {
    EXPECT_TRUE(takes_long(operation, body, kQuick)) << operation;
    EXPECT_FALSE(takes_long(operation, body, SIZE_MAX)) << operation;
  }
  EXPECT_FALSE(takes_long("Scan", R"({"TableName":"Orders","Limit":1})", kQuick)) << "one item is small enough";
  EXPECT_TRUE(takes_long("Query",
                         R"({"TableName":"Orders","KeyConditionExpression":"pk = :a",
                             "ExpressionAttributeValues":{":a":{"S":"a"}}})",
                         std::size_t{1} << 20));
}

TEST(AnswerItemsTest, KnowTheirSizeHoweverTheyWereMade) {
  AnswerItems read;
  read.add(R"({"pk":{"S":"a"}})");
  EXPECT_EQ(read.bytes(), 16U);
  EXPECT_EQ(AnswerItems({{{"pk", AttributeValue::string("a")}}}).bytes(), 3U);
}

// An endpoint that has one answer to everything.
class OneAnswer final : public Client {
 public:
  explicit OneAnswer(std::string answer) : answer_(std::move(answer)) {}
  void call(std::string_view, std::string_view, ReplyCallback reply) override {
    reply({.outcome = answer_, .table = {}});
  }

 private:
  std::string answer_;
};

TEST(ConsumedUnits, AreThoseOfAllTables) {
  EXPECT_EQ(consumed_units(R"({"ConsumedCapacity":{"CapacityUnits":2.5}})"), 2.5);
  EXPECT_EQ(consumed_units(R"({"ConsumedCapacity":[{"CapacityUnits":2},{"CapacityUnits":1}]})"), 3.0);
  EXPECT_EQ(consumed_units("{}"), std::nullopt);
  EXPECT_EQ(consumed_units(R"({"ConsumedCapacity)"), std::nullopt);
}

TEST(ConsumedUnits, AreAskedForByAMemberOfTheRequest) {
  EXPECT_EQ(asking_for_capacity("Scan", R"({"TableName":"T"})"),
            R"({"ReturnConsumedCapacity":"INDEXES","TableName":"T"})");
  EXPECT_EQ(asking_for_capacity("Scan", " { } "), R"({"ReturnConsumedCapacity":"INDEXES" } )");
  EXPECT_EQ(asking_for_capacity("PutItem", R"({"Item":{"ReturnConsumedCapacity":{"S":"x"}}})"),
            R"({"ReturnConsumedCapacity":"INDEXES","Item":{"ReturnConsumedCapacity":{"S":"x"}}})");
  for (const auto* unchanged : {R"({"TableName":"T","ReturnConsumedCapacity":"TOTAL"})", "[1]", R"({"TableName)"}) {
    EXPECT_EQ(asking_for_capacity("Scan", unchanged), unchanged);
  }
  EXPECT_EQ(asking_for_capacity("ListTables", "{}"), "{}") << "which has no such member";
}

TEST(Unprocessed, WritesComeBackFromABatch) {
  OneAnswer endpoint(R"({"UnprocessedItems":{"Orders":[{"PutRequest":{"Item":{"pk":{"S":"a"},"n":{"N":"1"}}}},
                                                       {"DeleteRequest":{"Key":{"pk":{"S":"b"}}}}]}})");
  const auto answer = ask(endpoint, BatchWriteItemRequest{});
  ASSERT_TRUE(answer.ok());
  ASSERT_EQ(answer->unprocessed.size(), 1U);
  const auto& [table, writes] = answer->unprocessed.front();
  EXPECT_EQ(table, "Orders");
  ASSERT_EQ(writes.size(), 2U);
  EXPECT_TRUE(writes[0].is_put);
  EXPECT_EQ(writes[0].item.size(), 2U);
  EXPECT_FALSE(writes[1].is_put);
  EXPECT_EQ(writes[1].item, (value::Item{{"pk", AttributeValue::string("b")}}));
  OneAnswer broken(R"({"UnprocessedItems":{"Orders":[{"PutRequest":{}}]}})");
  EXPECT_FALSE(ask(broken, BatchWriteItemRequest{}).ok());
}

TEST(Unprocessed, KeysComeBackWithWhatWasAskedOfThem) {
  OneAnswer endpoint(R"({"Responses":{},"UnprocessedKeys":{"Orders":{"Keys":[{"pk":{"S":"a"}}],
                         "ProjectionExpression":"#0","ExpressionAttributeNames":{"#0":"n"},"ConsistentRead":true}}})");
  BatchGetItemRequest request;
  request.tables.push_back({.table = "Others", .keys = {}});
  request.tables.push_back({.table = "Orders",
                            .keys = {},
                            .projection = expr::Projection(std::vector<expr::Path>{{"n", {}}}),
                            .consistent = true});
  const auto answer = ask(endpoint, request);
  ASSERT_TRUE(answer.ok());
  ASSERT_EQ(answer->unprocessed.size(), 1U);
  const auto& left = answer->unprocessed.front();
  EXPECT_EQ(left.table, "Orders");
  EXPECT_EQ(left.keys.size(), 1U);
  EXPECT_TRUE(left.consistent);
  ASSERT_TRUE(left.projection);
  EXPECT_EQ(left.projection->paths().size(), 1U);
}

TEST(Throttling, HasNamesOfExceptionsAndOfReasons) {
  for (const auto* name : {"ThrottlingException", "ProvisionedThroughputExceededException", "RequestThrottled",
                           "ThrottlingError", "ProvisionedThroughputExceeded"}) {
    EXPECT_TRUE(is_throttling(name)) << name;
  }
  for (const auto* name : {"TransactionInProgressException", "LimitExceededException", "ValidationException", ""}) {
    EXPECT_FALSE(is_throttling(name)) << name;
  }
}

// Requests that the shapes of the API refuse on the wire are refused in process, too, with the same text.
TEST_F(OperationsTest, ARequestThatIsOutOfBoundsIsRefused) {
  create_orders();
  const std::string long_name(256, 'a');
  const auto refused = [&](const auto& request) {
    const bool has_json = value::is_utf8(encode_request(request));
    const auto answer = has_json ? same(request) : told(client, request);
    EXPECT_NE(answer.find("Exception"), std::string::npos) << answer;
  };
  // Names of streams and shards are looked up, whatever their length.
  const auto not_found = [&](const auto& request) {
    const auto answer = told(client, request);
    EXPECT_NE(answer.find("Exception"), std::string::npos) << answer;
  };
  const CreateTableRequest good{.table = "Good",
                                .definitions = {{"pk", value::Type::S}},
                                .keys = {{"pk", KeyRole::Hash}},
                                .billing_mode = BillingMode::PayPerRequest};
  const auto change = [&](auto alter) {
    auto request = good;
    alter(request);
    refused(request);
  };
  change([](auto& request) { request.keys.clear(); });
  change([](auto& request) { request.table = "x"; });
  change([&](auto& request) { request.definitions[0].name = request.keys[0].name = long_name; });
  change([](auto& request) { request.definitions[0].name = request.keys[0].name = "\xFF"; });
  change([](auto& request) { request.definitions[0].type = value::Type::M; });
  change([](auto& request) { request.tags = {{.key = "\xC3", .value = "v"}}; });
  change([](auto& request) { request.tags = {{.key = "k"}}; });
  change([](auto& request) { request.global_indexes = {{IndexDefinition{.name = "ByNone", .keys = {}}}}; });
  change([](auto& request) {
    request.global_indexes = {
        {{.name = "!", .keys = {{"pk", KeyRole::Hash}}, .projection = {.kind = ProjectionKind::All}}}};
  });
  change([](auto& request) { request.throughput = Throughput{0, 0}; });
  EXPECT_TRUE(ask(client, good).ok());

  refused(UpdateTableRequest{.table = "Orders"});
  refused(UpdateTableRequest{.table = "Orders", .index_updates = {{IndexUpdate{}}}});
  refused(UpdateTableRequest{.table = "Orders",
                             .index_updates = {{{.create = IndexDefinition{.name = "New", .keys = {}}}}}});
  refused(ListTablesRequest{.limit = 0});
  refused(ListTablesRequest{.limit = 101});
  refused(ListStreamsRequest{.limit = -1});
  not_found(DescribeStreamRequest{.arn = "x"});
  refused(GetRecordsRequest{.iterator = "x"});
  refused(GetRecordsRequest{.iterator = iterator(), .limit = 1001});
  not_found(GetShardIteratorRequest{.arn = stream_arn(), .shard = "none"});
  refused(UpdateTimeToLiveRequest{.table = "Orders", .time_to_live = {true, ""}});
  refused(TagResourceRequest{});
  refused(UntagResourceRequest{.arn = "arn:aws:dynamodb:x:0:table/Orders"});
  refused(ListTagsOfResourceRequest{});
  refused(ExecuteStatementRequest{});
  refused(ExecuteStatementRequest{.statement = std::string(8193, ' ')});
  refused(ExecuteStatementRequest{.statement = R"(SELECT * FROM "Orders")", .limit = 0});
  refused(ExecuteStatementRequest{.statement = "x", .parameters = std::vector<AttributeValue>()});
  refused(BatchExecuteStatementRequest{});
  refused(BatchExecuteStatementRequest{.statements = std::vector<StatementRequest>(26, {.statement = "x"})});
  refused(BatchExecuteStatementRequest{.statements = {{.statement = "x"}, {.statement = ""}}});
  refused(ExecuteTransactionRequest{});
  refused(ExecuteTransactionRequest{.statements = {{.statement = "x"}}, .token = {{.text = std::string(37, 't')}}});
}

}  // namespace
}  // namespace stator::client
