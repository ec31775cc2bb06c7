#include "stator/api/streams/shard_iterator.h"

#include <gtest/gtest.h>

namespace stator::api {
namespace {

ShardIterator example() {
  return {.stream_arn = "arn:aws:dynamodb:us-east-1:000000000000:table/Orders/stream/2026-01-15T10:00:00.000",
          .begin = {258},
          .partition = 3,
          .at = {{UINT64_MAX}, 7},
          .issued = WallTime{std::chrono::microseconds{1'700'000'000'123'456}}};
}

TEST(ShardIterator, ReadsBack) {
  const auto iterator = example();
  const auto text = iterator.encode();
  EXPECT_TRUE(text.starts_with(iterator.stream_arn + "|1|")) << text;
  const auto back = ShardIterator::decode(text).value();
  EXPECT_EQ(back.stream_arn, iterator.stream_arn);
  EXPECT_EQ(back.begin, iterator.begin);
  EXPECT_EQ(back.partition, iterator.partition);
  EXPECT_EQ(back.at, iterator.at);
  EXPECT_EQ(back.issued, iterator.issued);
}

TEST(ShardIterator, FitsTheServicesLimitWithTheLongestArn) {
  auto iterator = example();
  iterator.stream_arn.resize(1024, 'x');
  EXPECT_LE(iterator.encode().size(), 2048U);
}

TEST(ShardIterator, RefusesWhatItDidNotWrite) {
  const auto text = example().encode();
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto changed = text;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(ShardIterator::decode(changed)) << i;
    EXPECT_FALSE(ShardIterator::decode(text.substr(0, i))) << i;
  }
  for (const std::string_view bad : {"", "|1|", "x|1|", "x|1|AAAA", "hello"}) {
    const auto refused = ShardIterator::decode(bad);
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().message, "Invalid ShardIterator");
  }
}

}  // namespace
}  // namespace stator::api
