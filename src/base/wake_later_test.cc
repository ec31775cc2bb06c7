#include "stator/base/wake_later.h"

#include <gtest/gtest.h>

namespace stator {
namespace {

TEST(WakeLater, WakesAtOnceWithoutOne) {
  int woken = 0;
  WakeLater::call([&] { ++woken; });
  EXPECT_EQ(woken, 1);
}

TEST(WakeLater, WakesAtTheEndOfTheOutermost) {
  int woken = 0;
  {
    const WakeLater outer;
    {
      const WakeLater inner;
      WakeLater::call([&] { ++woken; });
    }
    WakeLater::call([&] { ++woken; });
    EXPECT_EQ(woken, 0) << "the outer one has not ended";
  }
  EXPECT_EQ(woken, 2);
  WakeLater::call([&] { ++woken; });
  EXPECT_EQ(woken, 3) << "nothing is delayed any more";
}

}  // namespace
}  // namespace stator
