#pragma once

#include <optional>
#include <utility>

#include "stator/base/semaphore.h"

namespace stator {

// Waits for a reply that comes by a callback.  `start` gets the callback, which is called once, on any thread.
template <typename Reply, typename Start>
Reply wait_for_reply(Start start) {
  // The thread's own: the thread that brings the reply may still use it when the wait is over.
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
