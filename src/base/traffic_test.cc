#include "stator/base/traffic.h"

#include <gtest/gtest.h>

namespace stator {
namespace {

TEST(Traffic, IsQuietUntilTheFirstRequestAndSomeTimeAfterTheLast) {
  Traffic traffic;
  const SteadyTime start{std::chrono::hours(1)};
  EXPECT_TRUE(traffic.is_quiet(start));
  traffic.note_request(start);
  EXPECT_FALSE(traffic.is_quiet(start));
  EXPECT_FALSE(traffic.is_quiet(start + Traffic::kQuietAfter));
  EXPECT_TRUE(traffic.is_quiet(start + Traffic::kQuietAfter + std::chrono::milliseconds(1)));
  traffic.note_request(start + std::chrono::milliseconds(500));
  EXPECT_FALSE(traffic.is_quiet(start + Traffic::kQuietAfter + std::chrono::milliseconds(1)));
}

}  // namespace
}  // namespace stator
