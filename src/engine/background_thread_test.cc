#include "stator/engine/background_thread.h"

#include <gtest/gtest.h>

#include <atomic>

#include "stator/base/test_eventually.h"

namespace stator::engine {
namespace {

TEST(BackgroundThread, WorksWhenItIsWoken) {
  std::atomic<int> worked = 0;
  BackgroundThread thread([&] {
    ++worked;
    return true;
  });
  EXPECT_EQ(worked, 0) << "nobody has woken it";
  thread.wake();
  EXPECT_TRUE(eventually([&] { return worked == 1; }));
  thread.wake();
  EXPECT_TRUE(eventually([&] { return worked == 2; }));
}

TEST(BackgroundThread, TriesAgainWhatDidNotSucceed) {
  std::atomic<int> worked = 0;
  BackgroundThread thread([&] { return ++worked == 2; });
  thread.wake();
  EXPECT_TRUE(eventually([&] { return worked == 2; }));
}

TEST(BackgroundThread, WorksNoMoreOnceItIsStopped) {
  std::atomic<bool> began = false;
  BackgroundThread thread([&] {
    began = true;
    return eventually([&] { return thread.stopping(); });
  });
  thread.wake();
  EXPECT_TRUE(eventually([&] { return began.load(); }));
  thread.stop();
  began = false;
  thread.wake();
  EXPECT_FALSE(began);
}

}  // namespace
}  // namespace stator::engine
