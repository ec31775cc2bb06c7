#include "stator/base/turns.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace stator {
namespace {

using namespace std::chrono_literals;

TEST(Turns, HasOneAtATime) {
  const SystemClock clock;
  Turns turns(clock);
  int together = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 1000; ++n) {
        const Turns::Turn turn(turns, 10min);
        ASSERT_TRUE(turn);
        EXPECT_EQ(++together, 1);
        --together;
      }
    });
  }
}

TEST(Turns, AreWaitedForOnlySoLong) {
  const ManualClock clock;
  Turns turns(clock);
  {
    const Turns::Turn first(turns, 0ms);
    EXPECT_TRUE(first);
    EXPECT_FALSE(Turns::Turn(turns, 1ms));
    EXPECT_FALSE(Turns::Turn(turns, 0ms)) << "one that was not taken is not given back";
  }
  EXPECT_TRUE(Turns::Turn(turns, 0ms));
}

}  // namespace
}  // namespace stator
