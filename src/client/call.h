#pragma once

#include <string_view>

#include "stator/api/reply.h"
#include "stator/client/client.h"

namespace stator::client {

// Each runs one operation and waits for its reply.  From any thread but those that replies come on: the one that would bring this
// reply cannot wait for it.
api::Reply call_and_wait(Client& client, std::string_view operation, std::string_view json);
api::Reply write_and_wait(Client& client, api::Write write);
api::Reply transact_and_wait(Client& client, std::vector<api::Write> writes);

}  // namespace stator::client
