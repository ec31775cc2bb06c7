#pragma once

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "stator/base/clock.h"
#include "stator/base/event_loop.h"

namespace stator {

// An event loop for tests, which turns when it is told to.
class TestEventLoop final : public EventLoop {
 public:
  ~TestEventLoop() override { attach(nullptr); }

  std::unique_ptr<Watch> watch(int descriptor, std::function<void(Ready)> ready) override {
    auto watch = std::make_unique<TestWatch>(*this, descriptor, std::move(ready));
    watches_.push_back(watch.get());
    return watch;
  }
  void defer(UniqueFunction<void()> function) override { deferred_.push_back(std::move(function)); }

  // Handles the events that have come, and waits a moment for others.
  void turn() {
    auto deferred = std::exchange(deferred_, {});
    for (auto& function : deferred) function();
    std::vector<pollfd> descriptors;
    for (const auto* watch : watches_) descriptors.push_back(watch->wanted());
    const int wait = deferred_.empty() ? 1 : 0;
    if (::poll(descriptors.data(), descriptors.size(), wait) <= 0) return;
    const auto watches = watches_;
    for (std::size_t i = 0; i < watches.size(); ++i) {
      // One may be gone since.
      if (std::ranges::find(watches_, watches[i]) != watches_.end()) watches[i]->notice(descriptors[i].revents);
    }
  }

  // Turns until the condition holds.  False when it does not within half a minute.
  template <typename Condition>
  [[nodiscard]] bool turn_until(Condition&& condition) {
    const SystemClock clock;
    const auto patience = clock.steady_now() + std::chrono::seconds(30);
    while (!condition()) {
      if (clock.steady_now() > patience) return false;
      turn();
    }
    return true;
  }

 private:
  class TestWatch final : public Watch {
   public:
    TestWatch(TestEventLoop& loop, int descriptor, std::function<void(Ready)> ready)
        : loop_(loop), descriptor_(descriptor), ready_(std::move(ready)) {}
    ~TestWatch() override { std::erase(loop_.watches_, this); }
    void wait_to_read() override { events_ |= POLLIN; }
    void wait_to_write() override { events_ |= POLLOUT; }

    pollfd wanted() const { return {.fd = events_ == 0 ? -1 : descriptor_, .events = events_, .revents = 0}; }
    void notice(short events) {
      const auto ready = ready_;  // the watch may end in it
      const bool broken = (events & (POLLERR | POLLHUP)) != 0;
      const bool reads = (events_ & POLLIN) != 0 && (broken || (events & POLLIN) != 0);
      const bool writes = !reads && (events_ & POLLOUT) != 0 && (broken || (events & POLLOUT) != 0);
      if (reads || writes) events_ = static_cast<short>(events_ & ~(reads ? POLLIN : POLLOUT));
      if (reads || writes) ready(reads ? Ready::ToRead : Ready::ToWrite);
    }

   private:
    TestEventLoop& loop_;
    const int descriptor_;
    const std::function<void(Ready)> ready_;
    short events_ = 0;
  };

  std::vector<TestWatch*> watches_;
  std::deque<UniqueFunction<void()>> deferred_;
};

}  // namespace stator
