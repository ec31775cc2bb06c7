#pragma once

#include "stator/client/client.h"
#include "stator/http/server.h"

namespace stator::console {

// The page people look at, and the one endpoint it calls: POST /api/<Operation>, answered by the client.
//
// Only the page itself may call that endpoint: it must send the header X-Stator-Console, which a page of another origin
// cannot.  Thread-safe.
class Console final : public http::Handler {
 public:
  explicit Console(client::Client& client) : client_(client) {}  // outlives the console

  void handle(const http::Request& request, http::Responder responder) override;

 private:
  client::Client& client_;
};

}  // namespace stator::console
