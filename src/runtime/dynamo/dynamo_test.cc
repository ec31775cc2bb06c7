#include "stator/runtime/dynamo/dynamo.h"

#include <gtest/gtest.h>

#include <deque>

#include "stator/expr/build.h"
#include "stator/runtime/test_support.h"

namespace stator::runtime {
namespace {

// Answers from a list, and remembers what it was asked.
class ScriptedClient final : public client::Client {
 public:
  void call(std::string_view operation, std::string_view json, api::ReplyCallback reply) override {
    asked.push_back(std::string(operation) + " " + std::string(json));
    auto answer = std::move(answers.front());
    answers.pop_front();
    reply({.outcome = std::move(answer), .table = {}});
  }

  std::deque<Result<std::string, api::Fault>> answers;
  std::vector<std::string> asked;
};

api::Fault fault(std::string_view type, std::string_view message) {
  return {.type = std::string(type), .message = std::string(message)};
}

api::Fault cancelled(std::vector<api::CancellationReason> reasons) {
  auto wrong = fault("x#TransactionCanceledException", "no");
  wrong.reasons = std::move(reasons);
  return wrong;
}

class DynamoTest : public ::testing::Test {
 protected:
  static Item key(std::string_view id) { return {{"PK", text(id)}}; }
  std::string get_when(api::Fault answer) {
    client.answers.clear();
    client.answers.emplace_back(std::move(answer));
    return told(dynamo.get("T", key("a")));
  }

  ScriptedClient client;
  Random random{1};
  const ManualClock clock;
  Dynamo dynamo{client, random, clock};
};

TEST_F(DynamoTest, FaultsBecomeProblems) {
  EXPECT_EQ(get_when(fault("x#ProvisionedThroughputExceededException", "slow down")), "429 Busy");
  EXPECT_EQ(get_when(fault("x#ThrottlingException", "slow down")), "429 Busy");
  EXPECT_EQ(get_when(fault("stator.client#NetworkFailure", "no route")), "503 NetworkFailure");
  EXPECT_EQ(get_when(fault("x#InternalServerError", "oops")), "503 InternalServerError");
  for (const auto* size : {"Item size has exceeded", "Item size to update has exceeded"}) {
    EXPECT_EQ(get_when(fault("x#ValidationException", std::string(size) + " the maximum allowed size")),
              "413 TooLarge");
  }
  EXPECT_EQ(get_when(fault("x#ValidationException", "wrong")), "400 Rejected");
}

TEST_F(DynamoTest, AnAnswerThatIsNoJsonIsAProblem) {
  client.answers = {"<html>"};
  EXPECT_EQ(told(dynamo.get("T", key("a"))), "503 UnexpectedAnswer");
}

TEST_F(DynamoTest, AConditionThatDoesNotHoldIsAnAnswerWithTheItem) {
  auto refused = fault("x#ConditionalCheckFailedException", "no");
  refused.item = api::AnswerItem(Item{{"PK", text("a")}, {"n", number(1)}});
  client.answers.emplace_back(std::move(refused));
  const auto answer = dynamo.write({.kind = RowWrite::Kind::Delete,
                                    .table = "T",
                                    .item = key("a"),
                                    .condition = expr::to_condition(expr::absent("PK"))});
  ASSERT_TRUE(answer.ok() && !answer->written());
  EXPECT_EQ(answer->refusals.front().cause, Refusal::Cause::Condition);
  EXPECT_EQ(*answer->refusals.front().item, (Item{{"PK", text("a")}, {"n", number(1)}}));
  EXPECT_EQ(
      client.asked.front(),
      R"json(DeleteItem {"TableName":"T","Key":{"PK":{"S":"a"}},"ConditionExpression":"attribute_not_exists(#0)",)json"
      R"("ExpressionAttributeNames":{"#0":"PK"},"ReturnValuesOnConditionCheckFailure":"ALL_OLD"})");
}

TEST_F(DynamoTest, ACancelledTransactionTellsTheReasonOfEachWrite) {
  const RowWrite put{.table = "T", .item = key("a")};
  client.answers.emplace_back(cancelled({{.code = "None"},
                                         {.code = "TransactionConflict"},
                                         {.code = "ConditionalCheckFailed", .item = api::AnswerItem(key("c"))}}));
  const auto answer = dynamo.transact({put, put, put});
  ASSERT_TRUE(answer.ok());
  ASSERT_EQ(answer->refusals.size(), 3U);
  EXPECT_EQ(answer->refusals[0].cause, Refusal::Cause::None);
  EXPECT_EQ(answer->refusals[1].cause, Refusal::Cause::Contention);
  EXPECT_EQ(answer->refusals[2].cause, Refusal::Cause::Condition);
  EXPECT_EQ(client.asked.front().find("ClientRequestToken"), std::string::npos) << "the remote client gives it one";

  client.answers.emplace_back(cancelled({{.code = "ThrottlingError", .message = "slow down"}}));
  EXPECT_EQ(told(dynamo.transact({put})), "429 Busy");
}

TEST_F(DynamoTest, ABatchGoesOnWithWhatWasNotProcessed) {
  client.answers = {R"({"Responses":{"T":[{"PK":{"S":"a"}}]},"UnprocessedKeys":{"T":{"Keys":[{"PK":{"S":"b"}}]}}})",
                    R"({"Responses":{"T":[{"PK":{"S":"b"}}]},"UnprocessedKeys":{}})"};
  const auto items = dynamo.batch_get("T", {key("a"), key("b")});
  ASSERT_TRUE(items.ok());
  EXPECT_EQ(*items, (std::vector<Item>{key("a"), key("b")}));
  EXPECT_EQ(client.asked[1],
            R"(BatchGetItem {"RequestItems":{"T":{"Keys":[{"PK":{"S":"b"}}],"ConsistentRead":true}}})");
}

TEST_F(DynamoTest, ABatchReadsOnlyTheAttributesThatAreAskedFor) {
  client.answers = {R"({"Responses":{"T":[{"PK":{"S":"a"}}]}})"};
  EXPECT_EQ(told(dynamo.batch_get("T", {key("a")}, true, {"PK"})), "ok");
  EXPECT_NE(client.asked[0].find("ProjectionExpression"), std::string::npos) << client.asked[0];
}

TEST_F(DynamoTest, ABatchThatGetsNowhereEnds) {
  for (int i = 0; i < 9; ++i) {
    client.answers.emplace_back(R"({"Responses":{},"UnprocessedKeys":{"T":{"Keys":[{"PK":{"S":"a"}}]}}})");
  }
  EXPECT_EQ(told(dynamo.batch_get("T", {key("a")})), "429 Busy");
}

TEST_F(DynamoTest, ALargeBatchTakesSeveralRequests) {
  std::vector<Item> keys;
  for (int i = 0; i < 101; ++i) keys.push_back(key(std::to_string(i)));
  client.answers = {R"({"Responses":{"T":[]}})", R"({"Responses":{"T":[]}})"};
  EXPECT_EQ(told(dynamo.batch_get("T", keys)), "ok");
  EXPECT_EQ(client.asked.size(), 2U);
}

}  // namespace
}  // namespace stator::runtime
