#include "stator/client/traced_client.h"

#include <gtest/gtest.h>

#include "stator/client/call.h"
#include "stator/client/test_call.h"
#include "stator/library/instance.h"

namespace stator::client {
namespace {

struct Watcher final : CallWatcher {
  bool watches() override { return on; }
  void saw(const TracedCall& call) override { seen.push_back(call); }

  bool on = false;
  std::vector<TracedCall> seen;
};

struct TracedClientTest : ::testing::Test {
  TracedClientTest() {
    EXPECT_TRUE(call_and_wait(client, "CreateTable",
                              R"({"TableName":"Table","BillingMode":"PAY_PER_REQUEST",)"
                              R"("KeySchema":[{"AttributeName":"p","KeyType":"HASH"}],)"
                              R"("AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"}]})")
                    .ok());
  }
  Result<api::WriteItemAnswer, api::Fault> put() {
    api::PutItemRequest request{.table = "Table", .item = {}};
    request.item.set("p", value::AttributeValue::string("a"));
    return ask(client, std::move(request));
  }

  std::unique_ptr<library::Instance> instance =
      library::Instance::open({.data_folder = {}, .in_memory = true, .relaxed_durability = false}).value();
  InProcessClient inner{instance->operations()};
  Watcher watcher;
  ManualClock clock;
  TracedClient client{inner, clock, &watcher};
};

TEST_F(TracedClientTest, TracesTheCallsOfItsThreadWithTheirCapacity) {
  const auto trace = std::make_shared<Trace>();
  {
    const TraceScope scope(trace);
    EXPECT_TRUE(put());
    EXPECT_TRUE(call_and_wait(client, "GetItem", R"({"TableName":"Table","Key":{"p":{"S":"a"}}})").ok());
    EXPECT_FALSE(call_and_wait(client, "GetItem", R"({"TableName":"None","Key":{"p":{"S":"a"}}})").ok());
  }
  EXPECT_TRUE(put()) << "which is not traced";
  const auto calls = trace->calls();
  ASSERT_EQ(calls.size(), 3U);
  EXPECT_EQ(calls[0].operation, "PutItem");
  EXPECT_EQ(calls[0].table, "Table");
  EXPECT_EQ(calls[0].capacity, 1.0);
  EXPECT_NE(calls[0].request.find(R"({"p":{"S":"a"}})"), std::string::npos);
  EXPECT_EQ(calls[0].request.find("ReturnConsumedCapacity"), std::string::npos) << "nobody asked for it";
  EXPECT_EQ(calls[1].capacity, 0.5);
  EXPECT_EQ(calls[2].error, "ResourceNotFoundException");
  EXPECT_TRUE(watcher.seen.empty());
}

TEST_F(TracedClientTest, LeavesTheCapacityInTheAnswerOnlyIfTheCallerAskedForIt) {
  EXPECT_TRUE(put());
  api::GetItemRequest request{.table = "Table", .key = {}};
  request.key.set("p", value::AttributeValue::string("a"));
  const auto trace = std::make_shared<Trace>();
  const TraceScope scope(trace);
  const auto unasked = ask(client, request);
  request.capacity = api::CapacityDetail::Total;
  const auto asked = ask(client, request);
  ASSERT_TRUE(unasked && asked);
  EXPECT_FALSE(unasked->capacity);
  ASSERT_TRUE(asked->capacity);
  EXPECT_EQ(asked->capacity->units, 0.5);
  EXPECT_FALSE(asked->capacity->parts) << "it did not ask for the indexes";
  const auto calls = trace->calls();
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].response, R"({"Item":{"p":{"S":"a"}},"ConsumedCapacity":{"TableName":"Table","CapacityUnits":0.5,)"
                               R"("Table":{"CapacityUnits":0.5}}})");
  EXPECT_EQ(calls[0].capacity, 0.5);
  EXPECT_EQ(calls[1].capacity, 0.5);
}

// An endpoint that leaves a part of each batch undone.
struct BusyEndpoint final : Client {
  void call(std::string_view operation, std::string_view, api::ReplyCallback reply) override {
    reply(
        {.outcome = std::string(operation == "BatchGetItem"
                                    ? R"({"Responses":{},"UnprocessedKeys":{"Table":{"Keys":[{"p":{"S":"a"}}]}}})"
                                    : R"({"UnprocessedItems":{"Table":[{"DeleteRequest":{"Key":{"p":{"S":"a"}}}}]}})"),
         .table = {}});
  }
};

TEST_F(TracedClientTest, ShowsWhatABatchHasLeft) {
  BusyEndpoint endpoint;
  TracedClient traced{endpoint, clock};
  const auto trace = std::make_shared<Trace>();
  const TraceScope scope(trace);
  api::TableKeys keys{.table = "Table", .keys = {value::Item{{"p", value::AttributeValue::string("a")}}}};
  keys.projection = expr::Projection(std::vector<expr::Path>{{.attribute = "name", .elements = {}}});
  keys.consistent = true;
  EXPECT_TRUE(ask(traced, api::BatchGetItemRequest{.tables = {keys}}));
  EXPECT_TRUE(ask(traced, api::BatchWriteItemRequest{}));
  const auto calls = trace->calls();
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].table, "Table");
  EXPECT_EQ(calls[0].response,
            R"({"Responses":{},"UnprocessedKeys":{"Table":{"Keys":[{"p":{"S":"a"}}],"ProjectionExpression":"#0",)"
            R"("ExpressionAttributeNames":{"#0":"name"},"ConsistentRead":true}}})");
  EXPECT_EQ(calls[1].response, R"({"UnprocessedItems":{"Table":[{"DeleteRequest":{"Key":{"p":{"S":"a"}}}}]}})");
}

TEST_F(TracedClientTest, KnowsTheCapacityWhateverIsInTheItem) {
  const auto trace = std::make_shared<Trace>();
  {
    const TraceScope scope(trace);
    for (const auto* request :
         {R"({"TableName":"Table","Item":{"p":{"S":"a"},"ReturnConsumedCapacity":{"S":"the name of an attribute"}}})",
          R"({"TableName":"Table","Item":{"p":{"S":"\"ReturnConsumedCapacity\""}}})"}) {
      EXPECT_TRUE(call_and_wait(client, "PutItem", request).ok()) << request;
    }
  }
  for (const auto& call : trace->calls()) EXPECT_EQ(call.capacity, 1.0) << call.request;
}

TEST_F(TracedClientTest, RefusesWritesWhereOnlyReadingIsAllowed) {
  const auto trace = std::make_shared<Trace>(true);
  {
    const TraceScope scope(trace);
    const auto written = put();
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().name(), "AccessDeniedException");
    EXPECT_TRUE(call_and_wait(client, "GetItem", R"({"TableName":"Table","Key":{"p":{"S":"a"}}})").ok());
  }
  EXPECT_EQ(trace->calls().size(), 2U);
  EXPECT_TRUE(call_and_wait(client, "Scan", R"({"TableName":"Table","Select":"COUNT"})").ok());
}

TEST_F(TracedClientTest, ShowsCallsToAWatcherWhileItWatches) {
  EXPECT_TRUE(put());
  EXPECT_TRUE(watcher.seen.empty());
  watcher.on = true;
  EXPECT_TRUE(put());
  EXPECT_TRUE(call_and_wait(client, "ListTables", "{}").ok());
  ASSERT_EQ(watcher.seen.size(), 2U);
  EXPECT_EQ(watcher.seen[0].capacity, 1.0);
  EXPECT_EQ(watcher.seen[1].capacity, std::nullopt);
}

TEST_F(TracedClientTest, KeepsABoundedNumberOfCalls) {
  const auto trace = std::make_shared<Trace>();
  const TraceScope scope(trace);
  for (std::size_t i = 0; i < Trace::kMostCalls + 10; ++i) (void)call_and_wait(client, "ListTables", "{}");
  EXPECT_EQ(trace->calls().size(), Trace::kMostCalls);
  EXPECT_EQ(trace->left_out(), 10U);
}

}  // namespace
}  // namespace stator::client
