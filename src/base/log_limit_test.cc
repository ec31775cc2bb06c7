#include "stator/base/log_limit.h"

#include <gtest/gtest.h>

namespace stator::log {
namespace {

TEST(LogLimit, LetsAFewThroughAndTellsHowManyItDidNot) {
  using std::chrono::milliseconds;
  Limit limit(2, milliseconds(1000));
  const Limit::Time start{};
  EXPECT_EQ(limit.admit(start), 0U);
  EXPECT_EQ(limit.admit(start + milliseconds(1)), 0U);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(limit.admit(start + milliseconds(999)), std::nullopt);
  EXPECT_EQ(limit.admit(start + milliseconds(1000)), 5U);
  EXPECT_EQ(limit.admit(start + milliseconds(1001)), 0U);
  EXPECT_EQ(limit.admit(start + milliseconds(1002)), std::nullopt);
}

}  // namespace
}  // namespace stator::log
