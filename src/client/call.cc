#include "stator/client/call.h"

#include <optional>
#include <utility>

#include "stator/base/semaphore.h"

namespace stator::client {
namespace {

// `start` is given what to do with the reply.
template <typename Start>
api::Reply wait_for(Start start) {
  // The thread's own, so that it is still there when the one that brings the reply has not quite let go of it.
  thread_local Semaphore this_threads;
  auto& arrived = this_threads;
  std::optional<api::Reply> reply;
  start([&](api::Reply answer) {
    reply = std::move(answer);
    arrived.release();
  });
  arrived.acquire();
  return std::move(*reply);
}

}  // namespace

api::Reply call_and_wait(Client& client, std::string_view operation, std::string_view json) {
  return wait_for([&](api::ReplyCallback reply) { client.call(operation, json, std::move(reply)); });
}

api::Reply write_and_wait(Client& client, api::Write write) {
  return wait_for([&](api::ReplyCallback reply) { client.write(std::move(write), std::move(reply)); });
}

api::Reply transact_and_wait(Client& client, std::vector<api::Write> writes) {
  return wait_for([&](api::ReplyCallback reply) { client.transact(std::move(writes), std::move(reply)); });
}

}  // namespace stator::client
