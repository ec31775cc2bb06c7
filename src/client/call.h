#pragma once

#include <utility>
#include <variant>

#include "stator/client/client.h"

namespace stator::client {

// Runs one operation and waits for its reply.  Must not be called on a thread that delivers replies: it would wait
// for itself.
Result<api::AnyAnswer, api::Fault> run_and_wait(Client& client, api::AnyRequest request);

template <typename Request>
Result<typename Request::Answer, api::Fault> ask(Client& client, Request request) {
  auto answer = TRY(run_and_wait(client, std::move(request)));
  return std::get<typename Request::Answer>(std::move(answer));
}

}  // namespace stator::client
