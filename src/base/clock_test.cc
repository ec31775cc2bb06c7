#include "stator/base/clock.h"

#include <gtest/gtest.h>

#include <thread>

namespace stator {
namespace {

using namespace std::chrono_literals;

TEST(SystemClock, WaitsForTheDuration) {
  const SystemClock clock;
  const auto before = clock.steady_now();
  EXPECT_TRUE(clock.wait(2ms));
  EXPECT_GE(clock.steady_now() - before, 2ms);
  EXPECT_TRUE(clock.wait(0ms));
  EXPECT_TRUE(clock.wait(-1ms));
}

TEST(SystemClock, EndsAWaitWhenItIsStopped) {
  const SystemClock clock;
  const auto before = clock.steady_now();
  bool whole = true;
  {
    std::jthread waiting([&](const std::stop_token& stop) { whole = clock.wait(1h, stop); });
  }  // stopped and joined
  EXPECT_FALSE(whole);
  EXPECT_LT(clock.steady_now() - before, 30min);
}

TEST(SystemClock, DoesNotBeginAWaitThatIsStoppedAlready) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(SystemClock().wait(1h, stop.get_token()));
}

TEST(ManualClock, IsMovedByAWait) {
  const ManualClock clock;
  const auto wall = clock.now();
  const auto steady = clock.steady_now();
  EXPECT_TRUE(clock.wait(5min));
  EXPECT_EQ(clock.now() - wall, 5min);
  EXPECT_EQ(clock.steady_now() - steady, 5min);
  EXPECT_TRUE(clock.wait(1ns));
  EXPECT_EQ(clock.now() - wall, 5min + 1us);
}

TEST(ManualClock, HoldsAWaitUntilItWasMovedThatFar) {
  ManualClock clock;
  clock.hold_waits();
  std::atomic<bool> over = false;
  std::jthread waiting([&](const std::stop_token& stop) {
    const auto began = clock.steady_now();
    EXPECT_TRUE(clock.wait(10s, stop));
    EXPECT_GE(clock.steady_now() - began, 10s);
    over = true;
  });
  const auto patience = std::chrono::steady_clock::now() + 30s;
  while (!over && std::chrono::steady_clock::now() < patience) {
    clock.advance(1s);
    std::this_thread::yield();
  }
  EXPECT_TRUE(over);
}

TEST(ManualClock, StandsStillWhileWaitsAreReal) {
  ManualClock clock;
  clock.wait_really();
  const auto wall = clock.now();
  const auto steady = clock.steady_now();
  EXPECT_TRUE(clock.wait(1ms));
  EXPECT_GE(clock.steady_now() - steady, 1ms);
  EXPECT_EQ(clock.now(), wall);
}

TEST(ManualClock, EndsAHeldWaitWhenItIsStopped) {
  ManualClock clock;
  clock.hold_waits();
  bool whole = true;
  {
    std::jthread waiting([&](const std::stop_token& stop) { whole = clock.wait(10s, stop); });
  }
  EXPECT_FALSE(whole);
}

}  // namespace
}  // namespace stator
