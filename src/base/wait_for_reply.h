#pragma once

#include <optional>
#include <utility>

#include "stator/base/semaphore.h"

namespace stator {

// Waits for what comes by a callback.  `start` is given the callback, which is called once, on any thread.
template <typename Reply, typename Start>
Reply wait_for_reply(Start start) {
  // The thread's own, so that it is still there when the one that brings the reply has not quite let go of it.
  thread_local Semaphore this_threads;
  auto& arrived = this_threads;
  std::optional<Reply> reply;
  start([&](Reply answer) {
    reply = std::move(answer);
    arrived.release();
  });
  arrived.acquire();
  return std::move(*reply);
}

}  // namespace stator
