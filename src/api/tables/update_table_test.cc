#include <fmt/format.h>
#include <gtest/gtest.h>

#include <future>

#include "stator/api/operations.h"
#include "stator/engine/engine.h"
#include "stator/storage/memory/memory_store.h"
#include "stator/storage/testing/faulty_store.h"
#include "stator/value/json.h"

namespace stator::api {
namespace {

// A service whose store can be held in the middle of a commit.
class UpdateTableTest : public ::testing::Test {
 protected:
  UpdateTableTest() {
    store_.report_durable(true);  // so that the committer has a thread of its own
    engine_ = engine::Engine::open(store_, clock_, random_).value();
    service_ = std::make_unique<Operations>(*engine_, OperationsOptions{});
  }

  std::future<std::string> send(std::string_view operation, std::string_view body) {
    std::string padded(body);
    padded.reserve(body.size() + value::kJsonPadding);
    auto answer = std::make_shared<std::promise<std::string>>();
    auto future = answer->get_future();
    service_->call(operation, padded, [answer](Reply reply) {
      answer->set_value(reply.ok() ? *reply.outcome : reply.outcome.error().body());
    });
    return future;
  }

  // Lets `send_all` send while a write is being committed.
  template <typename SendAll>
  void during_a_commit(SendAll send_all) {
    store_.before_commit([this](const storage::Batch&) {
      if (held_.exchange(true)) return;
      reached_.set_value();
      opened_.get_future().wait();
    });
    auto written = send("PutItem", R"({"TableName":"Orders","Item":{"pk":{"S":"1"}}})");
    reached_.get_future().wait();
    send_all();
    opened_.set_value();
    written.get();
  }

  std::atomic<bool> held_ = false;
  std::promise<void> reached_, opened_;
  storage::testing::FaultyStore store_{storage::open_memory_store()};
  SystemClock clock_;
  Random random_{1};
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<Operations> service_;
};

TEST_F(UpdateTableTest, IsPlannedAgainstTheTableAsTheUpdatesBeforeItLeftIt) {
  send("CreateTable",
       R"({"TableName":"Orders","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],
           "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"a","AttributeType":"S"}],
           "GlobalSecondaryIndexes":[{"IndexName":"Old","KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],
                                      "Projection":{"ProjectionType":"ALL"}}]})")
      .get();

  std::future<std::string> deleted, created;
  during_a_commit([&] {
    deleted =
        send("UpdateTable", R"({"TableName":"Orders","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"Old"}}]})");
    // Once the first index is gone, its attribute may have another type.
    created = send("UpdateTable",
                   R"({"TableName":"Orders","AttributeDefinitions":[{"AttributeName":"a","AttributeType":"N"}],
                       "GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"New",
                         "KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}}]})");
  });
  EXPECT_EQ(deleted.get().find("__type"), std::string::npos);
  const auto answer = created.get();
  EXPECT_EQ(answer.find("__type"), std::string::npos) << answer;

  const auto table = engine_->catalog().find("Orders");
  EXPECT_EQ(table->find_index("Old"), nullptr);
  EXPECT_NE(table->find_index("New"), nullptr);
  EXPECT_EQ(table->attribute_definitions,
            (std::vector<engine::KeyAttribute>{{"pk", value::Type::S}, {"a", value::Type::N}}));
}

// A service on a clock of the test's.
class Throughputs : public ::testing::Test {
 protected:
  std::string call(std::string_view operation, std::string body) {
    body.reserve(body.size() + value::kJsonPadding);
    std::promise<std::string> answer;
    service_.call(operation, body,
                  [&](Reply reply) { answer.set_value(reply.ok() ? *reply.outcome : reply.outcome.error().body()); });
    return answer.get_future().get();
  }
  void set_throughput(int units) {
    const auto answer =
        call("UpdateTable", fmt::format(R"({{"TableName":"Orders","ProvisionedThroughput":{{"ReadCapacityUnits":{0},
                                                "WriteCapacityUnits":{0}}}}})",
                                        units));
    ASSERT_EQ(answer.find("__type"), std::string::npos) << answer;
  }
  // How often DescribeTable says a thing.
  std::size_t described(std::string_view what) {
    const auto answer = call("DescribeTable", R"({"TableName":"Orders"})");
    std::size_t count = 0;
    for (auto at = answer.find(what); at != answer.npos; at = answer.find(what, at + 1)) ++count;
    return count;
  }

  ManualClock clock_;  // 22:13 in UTC
  Random random_{1};
  std::unique_ptr<storage::Store> store_ = storage::open_memory_store();
  std::unique_ptr<engine::Engine> engine_ = engine::Engine::open(*store_, clock_, random_).value();
  Operations service_{*engine_};
};

TEST_F(Throughputs, AreDecreasedTodayUntilMidnight) {
  call("CreateTable",
       R"({"TableName":"Orders","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],
           "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
           "ProvisionedThroughput":{"ReadCapacityUnits":9,"WriteCapacityUnits":9}})");
  for (const int units : {8, 7}) set_throughput(units);
  EXPECT_EQ(described(R"("NumberOfDecreasesToday":2)"), 1U);
  clock_.advance(std::chrono::hours(2));
  EXPECT_EQ(described(R"("NumberOfDecreasesToday":0)"), 1U);
  set_throughput(6);
  EXPECT_EQ(described(R"("NumberOfDecreasesToday":1)"), 1U) << "the count begins again";
}

TEST_F(Throughputs, OfAnIndexDoNotTellOfChangesOfTheTable) {
  call("CreateTable",
       R"({"TableName":"Orders","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],
           "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
           "ProvisionedThroughput":{"ReadCapacityUnits":9,"WriteCapacityUnits":9},
           "GlobalSecondaryIndexes":[{"IndexName":"Same","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],
             "Projection":{"ProjectionType":"ALL"},
             "ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":5}}]})");
  set_throughput(8);
  EXPECT_EQ(described(R"("NumberOfDecreasesToday":1)"), 1U) << "that of the table";
  EXPECT_EQ(described(R"("NumberOfDecreasesToday":0)"), 1U) << "that of the index";
  EXPECT_EQ(described(R"("LastDecreaseDateTime")"), 1U);
}

}  // namespace
}  // namespace stator::api
