#include "stator/systems/worthwatch/item_order.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "stator/base/random.h"

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

TEST(NextToSpread, EndsOneStepApartFromTheFirstStepOn) {
  EXPECT_TRUE(next_to_spread({}, 10).empty());
  EXPECT_TRUE(next_to_spread({kPositionStep, 2 * kPositionStep}, 10).empty());
  const auto moves = next_to_spread({0, 2 * kPositionStep, kLastPosition}, 10);
  ASSERT_EQ(moves.size(), 2U);
  EXPECT_EQ(moves[0].index, 2U);
  EXPECT_EQ(moves[0].position, 3 * kPositionStep);
  EXPECT_EQ(moves[1].index, 0U);
  EXPECT_EQ(moves[1].position, kPositionStep);
}

TEST(NextToSpread, NeverChangesTheOrder) {
  Random random(7);
  for (unsigned turn = 0; turn < 200; ++turn) {
    std::vector<std::int64_t> positions;
    for (std::uint64_t left = 1 + random.below(20); left > 0; --left) {
      const auto most = static_cast<std::uint64_t>(turn % 2 == 0 ? kLastPosition : 10 * kPositionStep);
      positions.push_back(static_cast<std::int64_t>(random.below(most + 1)));
    }
    std::sort(positions.begin(), positions.end());
    const auto before = positions;
    for (auto moves = next_to_spread(positions, 3); !moves.empty(); moves = next_to_spread(positions, 3)) {
      for (const auto& [index, position] : moves) {
        positions[index] = position;
        for (std::size_t i = 1; i < positions.size(); ++i) {
          const bool untouched = positions[i - 1] == before[i - 1] && positions[i] == before[i];
          EXPECT_TRUE(untouched || positions[i - 1] < positions[i]) << "turn " << turn;
        }
      }
    }
    for (std::size_t i = 0; i < positions.size(); ++i) {
      EXPECT_EQ(positions[i], static_cast<std::int64_t>(i + 1) * kPositionStep);
    }
  }
}

}  // namespace
}  // namespace stator::systems::worthwatch
