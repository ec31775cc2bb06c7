#include "stator/client/call.h"

#include <optional>
#include <utility>

#include "stator/base/semaphore.h"

namespace stator::client {

api::Reply call_and_wait(Client& client, std::string_view operation, std::string_view json) {
  // The thread's own, so that it is still there when the one that brings the reply has not quite let go of it.
  thread_local Semaphore this_threads;
  auto& arrived = this_threads;
  std::optional<api::Reply> reply;
  client.call(operation, json, [&](api::Reply answer) {
    reply = std::move(answer);
    arrived.release();
  });
  arrived.acquire();
  return std::move(*reply);
}

}  // namespace stator::client
