#include "stator/client/call.h"

#include <optional>
#include <utility>

#include "stator/base/semaphore.h"

namespace stator::client {
namespace {

// `start` is given what to do with the reply.
template <typename Reply, typename Start>
Reply wait_for(Start start) {
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

}  // namespace

Result<api::AnyAnswer, api::Fault> run_and_wait(Client& client, api::AnyRequest request) {
  return wait_for<Result<api::AnyAnswer, api::Fault>>(
      [&](api::AnyReply reply) { client.run(std::move(request), std::move(reply)); });
}

api::Reply call_and_wait(Client& client, std::string_view operation, std::string_view json) {
  return wait_for<api::Reply>([&](api::ReplyCallback reply) { client.call(operation, json, std::move(reply)); });
}

}  // namespace stator::client
