#include "stator/client/call.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "stator/client/test_call.h"
#include "stator/library/instance.h"

namespace stator::client {
namespace {

TEST(CallAndWait, WaitsForTheReplyOnAnyThread) {
  const auto instance =
      library::Instance::open({.data_folder = {}, .in_memory = true, .relaxed_durability = false}).value();
  InProcessClient client(instance->operations());
  ASSERT_TRUE(call_and_wait(client, "CreateTable",
                            R"({"TableName":"Table","BillingMode":"PAY_PER_REQUEST",
                                "KeySchema":[{"AttributeName":"p","KeyType":"HASH"}],
                                "AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"}]})")
                  .ok());
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        const auto key = fmt::format(R"({{"p":{{"S":"{} {}"}}}})", t, i);
        EXPECT_TRUE(call_and_wait(client, "PutItem", fmt::format(R"({{"TableName":"Table","Item":{}}})", key)).ok());
        const auto reply = call_and_wait(client, "GetItem", fmt::format(R"({{"TableName":"Table","Key":{}}})", key));
        ASSERT_TRUE(reply.ok());
        EXPECT_EQ(*reply.outcome, fmt::format(R"({{"Item":{}}})", key));
      }
    });
  }
}

TEST(CallAndWait, GivesAFaultLikeAnyReply) {
  const auto instance =
      library::Instance::open({.data_folder = {}, .in_memory = true, .relaxed_durability = false}).value();
  InProcessClient client(instance->operations());
  const auto reply = call_and_wait(client, "DescribeTable", R"({"TableName":"None"})");
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.outcome.error().name(), "ResourceNotFoundException");
}

}  // namespace
}  // namespace stator::client
