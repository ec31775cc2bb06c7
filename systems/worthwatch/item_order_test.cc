#include "stator/systems/worthwatch/item_order.h"

#include <gtest/gtest.h>

namespace stator::systems::worthwatch {
namespace {

TEST(PositionBetween, LiesBetween) {
  EXPECT_EQ(position_between(10, 20), 15);
  EXPECT_EQ(position_between(10, 12), 11);
  EXPECT_EQ(position_between(std::nullopt, 1), 0);
}

TEST(PositionBetween, LeavesRoomAtTheEnd) {
  EXPECT_EQ(position_between(10, std::nullopt), 10 + kPositionStep);
  EXPECT_EQ(position_between(std::nullopt, std::nullopt), kPositionStep);
}

TEST(PositionBetween, TellsWhenThereIsNoRoom) {
  EXPECT_FALSE(position_between(10, 11));
  EXPECT_FALSE(position_between(10, 10));
  EXPECT_FALSE(position_between(std::nullopt, 0));
  EXPECT_FALSE(position_between(kLastPosition, std::nullopt));
}

}  // namespace
}  // namespace stator::systems::worthwatch
