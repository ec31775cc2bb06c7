#pragma once

#include <string_view>
#include <utility>

#include "stator/api/reply.h"
#include "stator/base/wait_for_reply.h"
#include "stator/client/client.h"

namespace stator::client {

// Runs one operation as JSON and waits for its reply, as run_and_wait() does for a type.
inline api::Reply call_and_wait(Client& client, std::string_view operation, std::string_view json) {
  return wait_for_reply<api::Reply>([&](api::ReplyCallback reply) { client.call(operation, json, std::move(reply)); });
}

}  // namespace stator::client
