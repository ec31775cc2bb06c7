#pragma once

#include <string_view>
#include <utility>
#include <variant>

#include "stator/api/reply.h"
#include "stator/client/client.h"

namespace stator::client {

// Each runs one operation and waits for its reply.  From any thread but those that replies come on: the one that would
// bring this reply cannot wait for it.
Result<api::AnyAnswer, api::Fault> run_and_wait(Client& client, api::AnyRequest request);
api::Reply call_and_wait(Client& client, std::string_view operation, std::string_view json);

template <typename Request>
Result<typename Request::Answer, api::Fault> ask(Client& client, Request request) {
  auto answer = TRY(run_and_wait(client, std::move(request)));
  return std::get<typename Request::Answer>(std::move(answer));
}

}  // namespace stator::client
