#include "stator/console/hot_partitions.h"

#include <gtest/gtest.h>

#include <string>

namespace stator::console {
namespace {

TEST(HotPartitions, CountsEachPartitionOfEachTable) {
  HotPartitions hot;
  for (int i = 0; i < 3; ++i) hot.count("Books", "ann");
  hot.count("Films", "ann");
  hot.count("Books", "bob");
  hot.count("Books", "bob");
  const auto top = hot.top(2);
  ASSERT_EQ(top.size(), 2U);
  EXPECT_EQ(top[0].table, "Books");
  EXPECT_EQ(top[0].partition, "ann");
  EXPECT_EQ(top[0].requests, 3U);
  EXPECT_EQ(top[1].partition, "bob");
  EXPECT_EQ(hot.top(10).size(), 3U);
}

TEST(HotPartitions, FindTheHotOneAmongMoreThanThereAreCounters) {
  HotPartitions hot;
  for (int i = 0; i < 20'000; ++i) {
    hot.count("T", "cold" + std::to_string(i));
    if (i % 20 == 0) hot.count("T", "hot");
  }
  EXPECT_EQ(hot.top(1'000'000).size(), HotPartitions::kCounters);
  EXPECT_EQ(hot.top(1).front().partition, "hot");
  EXPECT_GE(hot.top(1).front().requests, 1000U) << "never too low";
}

TEST(HotPartitions, KeepNoLongKeys) {
  HotPartitions hot;
  hot.count("T", std::string(2048, 'x'));
  EXPECT_EQ(hot.top(1).front().partition.size(), HotPartitions::kMostKeyBytes);
  hot.clear();
  EXPECT_TRUE(hot.top(1).empty());
}

}  // namespace
}  // namespace stator::console
