#include "stator/console/live_requests.h"

#include <gtest/gtest.h>

namespace stator::console {
namespace {

using namespace std::chrono_literals;

struct LiveRequestsTest : ::testing::Test {
  void request(std::string_view operation, std::string_view body = "{}") {
    if (live.watches()) live.finish(live.begin(operation, body));
  }

  ManualClock clock;
  LiveRequests live{clock, [](std::string_view, std::string_view) { return std::optional<std::string>("PK"); }};
};

TEST_F(LiveRequestsTest, KeepNothingWhileNobodyLooks) {
  request("PutItem");
  EXPECT_TRUE(live.after(0).requests.empty());
  live.look();
  request("GetItem");
  ASSERT_EQ(live.after(0).requests.size(), 1U);
  EXPECT_EQ(live.after(0).requests.front().operation, "GetItem");
  clock.advance(LiveRequests::kPatience + 1s);
  request("GetItem");
  EXPECT_TRUE(live.after(0).requests.empty()) << "what was kept is given back";
  EXPECT_TRUE(live.hottest(10).empty());
}

TEST_F(LiveRequestsTest, AreToldOnceByTheirCursor) {
  live.look();
  request("A");
  request("B");
  const auto first = live.after(0);
  EXPECT_EQ(first.requests.size(), 2U);
  EXPECT_TRUE(live.after(first.cursor).requests.empty());
  request("C");
  const auto second = live.after(first.cursor);
  ASSERT_EQ(second.requests.size(), 1U);
  EXPECT_EQ(second.requests.front().operation, "C");
  EXPECT_EQ(second.dropped, 0U);
  EXPECT_EQ(live.after(1'000'000).requests.size(), 3U) << "a cursor of an earlier server";
}

TEST_F(LiveRequestsTest, AreBoundedInNumberAndInBytes) {
  live.look();
  const std::string large(100'000, 'x');
  for (int i = 0; i < 5'000; ++i) request("PutItem", large);
  const auto news = live.after(1);
  EXPECT_LE(news.requests.size() * LiveRequests::kMostBodyBytes, LiveRequests::kMostBytes);
  EXPECT_EQ(news.dropped + news.requests.size() + 1, 5'000U);
  EXPECT_EQ(news.requests.front().body.size(), LiveRequests::kMostBodyBytes);
  EXPECT_TRUE(news.requests.front().cut);
  EXPECT_EQ(news.requests.front().request_bytes, large.size());
  for (int i = 0; i < 5'000; ++i) request("GetItem");
  EXPECT_EQ(live.after(0).requests.size(), LiveRequests::kMost);
}

TEST_F(LiveRequestsTest, CountPartitions) {
  live.look();
  for (int i = 0; i < 3; ++i) request("GetItem", R"({"TableName":"T","Key":{"PK":{"S":"a"}}})");
  live.saw({.operation = "PutItem",
            .table = "T",
            .request = R"({"TableName":"T","Item":{"PK":{"S":"b"}}})",
            .response = "{}",
            .error = {},
            .capacity = 1.0,
            .took = 5us});
  const auto hottest = live.hottest(10);
  ASSERT_EQ(hottest.size(), 2U);
  EXPECT_EQ(hottest[0].partition, "a");
  EXPECT_EQ(hottest[0].requests, 3U);
  EXPECT_EQ(live.after(3).requests.front().capacity, 1.0);
}

}  // namespace
}  // namespace stator::console
