#include "stator/client/call.h"

#include <utility>

#include "stator/base/wait_for_reply.h"

namespace stator::client {

Result<api::AnyAnswer, api::Fault> run_and_wait(Client& client, api::AnyRequest request) {
  return wait_for_reply<Result<api::AnyAnswer, api::Fault>>(
      [&](api::AnyReplyCallback reply) { client.run(std::move(request), std::move(reply)); });
}

}  // namespace stator::client
