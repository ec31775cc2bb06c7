#include "stator/server/stop_signal.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "stator/base/test_eventually.h"

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

// Runs `act` in a process whose parent ends, and answers what it writes.
std::string written_by_an_orphan(const std::function<void(int parent_may_end, int result)>& act) {
  int may_end[2], result[2];
  if (pipe(may_end) != 0 || pipe(result) != 0) return "no pipe";
  const auto parent = fork();
  if (parent == 0) {
    if (fork() == 0) {
      close(may_end[0]);
      act(may_end[1], result[1]);
      _exit(0);
    }
    char byte = 0;
    close(may_end[1]);
    _exit(read(may_end[0], &byte, 1) == 1 ? 0 : 1);
  }
  close(may_end[0]);
  close(may_end[1]);
  close(result[1]);
  waitpid(parent, nullptr, 0);
  std::string text(64, '\0');
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(read(result[0], text.data(), text.size()), 0)));
  close(result[0]);
  return text;
}

TEST(StopSignal, FollowsItsParentWhenAsked) {
  const auto told = written_by_an_orphan([](int parent_may_end, int result) {
    StopSignal stop;
    const bool followed = stop.follow_parent(getppid());
    const bool early = stop.wait_for(std::chrono::milliseconds(0)).has_value();
    if (write(parent_may_end, "x", 1) != 1) _exit(1);
    const auto signal = stop.wait_for(std::chrono::seconds(30));
    const char* text = followed && !early && signal == SIGTERM ? "SIGTERM" : "something else";
    [[maybe_unused]] const auto written = write(result, text, std::string_view(text).size());
  });
  EXPECT_EQ(told, "SIGTERM");
}

TEST(StopSignal, NoticesAParentThatWasGoneBeforeItCouldBeFollowed) {
  const auto told = written_by_an_orphan([](int parent_may_end, int result) {
    const auto parent = getppid();
    if (write(parent_may_end, "x", 1) != 1) _exit(1);
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (getppid() == parent && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
    StopSignal stop;
    const bool followed = stop.follow_parent(parent);
    const auto signal = stop.wait_for(std::chrono::seconds(0));
    const char* text = followed && signal == SIGTERM ? "SIGTERM" : "something else";
    [[maybe_unused]] const auto written = write(result, text, std::string_view(text).size());
  });
  EXPECT_EQ(told, "SIGTERM");
}

TEST(StopWatch, RequestsAStopAndLeavesTheSignal) {
  StopSignal stop;
  const StopWatch watch(stop);
  EXPECT_FALSE(watch.token().stop_requested());
  kill(getpid(), SIGTERM);
  EXPECT_TRUE(eventually([&] { return watch.token().stop_requested(); }));
  EXPECT_EQ(stop.wait_for(std::chrono::seconds(0)), SIGTERM);
}

TEST(StopWatch, IsNotAskedToStopByAHangUp) {
  StopSignal stop;
  {
    const StopWatch watch(stop);
    kill(getpid(), SIGHUP);
    EXPECT_FALSE(watch.token().stop_requested());
  }
  EXPECT_EQ(stop.wait_for(std::chrono::seconds(0)), SIGHUP);
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

TEST(StopSignal, IgnoresAHangUpWhileTheServerStops) {
  EXPECT_EXIT(
      {
        signal(SIGHUP, SIG_DFL);
        StopSignal stop;
        kill(getpid(), SIGTERM);
        stop.wait();
        kill(getpid(), SIGHUP);
        _exit(stop.wait_for(std::chrono::seconds(0)).has_value() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
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
