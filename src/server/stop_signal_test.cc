#include "stator/server/stop_signal.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

namespace stator::server {
namespace {

TEST(StopSignal, TellsWhichSignalCame) {
  for (const int signal : {SIGINT, SIGTERM}) {
    StopSignal stop;
    kill(getpid(), signal);
    EXPECT_EQ(stop.wait(), signal);
  }
}

TEST(StopSignal, CanBeRequestedFromAnotherThread) {
  StopSignal stop;
  const std::jthread other([&] { stop.request(); });
  EXPECT_EQ(stop.wait(), 0);
}

TEST(StopSignal, GoesOnAfterAHangUp) {
  StopSignal stop;
  EXPECT_EQ(stop.wait_for(std::chrono::milliseconds(0)), std::nullopt);
  for (int i = 0; i < 2; ++i) {
    kill(getpid(), SIGHUP);
    EXPECT_EQ(stop.wait_for(std::chrono::seconds(10)), SIGHUP);
  }
  kill(getpid(), SIGTERM);
  EXPECT_EQ(stop.wait_for(std::chrono::seconds(10)), SIGTERM);
}

TEST(StopSignal, LetsASecondSignalEndTheProcess) {
  EXPECT_EXIT(
      {
        signal(SIGINT, SIG_DFL);  // a shell's background job starts with it ignored
        StopSignal stop;
        kill(getpid(), SIGINT);
        stop.wait();
        kill(getpid(), SIGINT);
        _exit(0);
      },
      testing::KilledBySignal(SIGINT), "");
}

TEST(StopSignal, KeepsTheProcessAliveWhenAClientHasGone) {
  StopSignal stop;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  EXPECT_EQ(write(ends[1], "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
  close(ends[1]);
}

}  // namespace
}  // namespace stator::server
