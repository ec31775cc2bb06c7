#include "stator/console/server_metrics.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>

namespace stator::console {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Percentile, IsInsideTheBucketThatHasIt) {
  http::RequestTotals totals;
  totals.buckets = {{0.001, 98}, {0.01, 2}, {kInfinity, 0}};
  EXPECT_NEAR(percentile(totals, 0.5), 0.00051, 0.0001);
  EXPECT_NEAR(percentile(totals, 0.99), 0.0055, 0.0001);
  totals.buckets = {{0.001, 0}, {kInfinity, 5}};
  EXPECT_EQ(percentile(totals, 0.5), 0.001) << "more than the last bound is not known";
  totals.buckets = {{0.001, 0}, {kInfinity, 0}};
  EXPECT_EQ(percentile(totals, 0.99), 0);
}

TEST(ServerMetrics, ArePrintedAsJson) {
  ServerMetrics metrics;
  metrics.requests.requests = 3;
  metrics.requests.buckets = {{0.5, 2}, {kInfinity, 1}};
  metrics.requests.by_operation = {{.operation = "GetItem", .requests = 3, .errors = 1}};
  metrics.commits = 7;
  const auto json = metrics_json(metrics, {{.table = "T", .partition = "\"a\"", .requests = 2}},
                                 WallTime(std::chrono::milliseconds(1'700'000'000'123)));
  EXPECT_NE(json.find(R"("at":"2023-11-14T22:13:20.123Z","requests":3)"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("buckets":[[0.5,2],[null,1]])"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("hottest":[{"table":"T","partition":"\"a\"","requests":2}])"), std::string::npos) << json;
  EXPECT_TRUE(json.ends_with(R"("store":null})")) << json;
  EXPECT_GT(resident_bytes(), 1'000'000U);
}

TEST(ServerMetrics, TellOfTheStoreOnADatabaseServer) {
  ServerMetrics metrics;
  metrics.store = StoreNumbers{.host = "db1:5432",
                               .since = WallTime(std::chrono::milliseconds(1'700'000'000'123)),
                               .connections = 3,
                               .connections_used = 1,
                               .most_connections = 25,
                               .round_trip = std::chrono::microseconds(150),
                               .epoch = 12};
  metrics.store->statements.push_back(
      {.kind = "read", .round_trips = 5, .statements = 6, .rows = 7, .time = std::chrono::microseconds(800)});
  const auto json = metrics_json(metrics, {}, {});
  EXPECT_NE(json.find(R"("store":{"host":"db1:5432","reachable":true,"since":"2023-11-14T22:13:20.123Z",)"
                      R"("connections":3,"connectionsUsed":1,"mostConnections":25,"roundTripMicros":150,"epoch":12,)"
                      R"("conflicts":0,"retries":0,"lockWaitMicros":0,"statements":[)"
                      R"({"kind":"read","roundTrips":5,"statements":6,"rows":7,"micros":800}]})"),
            std::string::npos)
      << json;
}

}  // namespace
}  // namespace stator::console
