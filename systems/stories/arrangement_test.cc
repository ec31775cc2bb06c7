#include "stator/systems/stories/arrangement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace stator::systems::stories {
namespace {

using Positions = std::vector<std::int64_t>;

TEST(Arrange, LeavesWhatStandsInOrder) {
  EXPECT_EQ(arrange({}), Positions{});
  EXPECT_EQ(arrange({100, 250, 900}), (Positions{100, 250, 900}));
}

TEST(Arrange, MovesOneNodeWithOneWrite) {
  EXPECT_EQ(arrange({400, 100, 200, 300}), (Positions{49, 100, 200, 300})) << "the last to the front";
  EXPECT_EQ(arrange({200, 300, 400, 100}), (Positions{200, 300, 400, 500})) << "the first to the end";
  EXPECT_EQ(arrange({100, 400, 200, 300}), (Positions{100, 150, 200, 300}));
}

TEST(Arrange, TellsNodesWithTheSamePositionApart) { EXPECT_EQ(arrange({5, 5}), (Positions{2, 5})); }

TEST(Arrange, NumbersAnewWhereThereIsNoRoom) {
  EXPECT_EQ(arrange({1, 9, 2}), (Positions{100, 200, 300}));
  EXPECT_EQ(arrange({0, 2, 0, 1}), (Positions{100, 200, 300, 400})) << "nothing fits between 0 and 1";
  EXPECT_EQ(arrange({5, kLastPosition, 3}), (Positions{100, 200, 300})) << "nothing fits behind the last";
}

TEST(Arrange, AlwaysGrowsWhateverTheOrderWas) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Positions current(random() % 60);
    for (auto& position : current) position = static_cast<std::int64_t>(random() % 100);
    const auto positions = arrange(current);
    ASSERT_EQ(positions.size(), current.size());
    EXPECT_TRUE(std::adjacent_find(positions.begin(), positions.end(), std::greater_equal<>()) == positions.end())
        << round;
    EXPECT_TRUE(std::all_of(positions.begin(), positions.end(), [](auto p) { return p >= 0 && p <= kLastPosition; }));
  }
}

}  // namespace
}  // namespace stator::systems::stories
