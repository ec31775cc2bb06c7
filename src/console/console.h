#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "stator/client/client.h"
#include "stator/console/sessions.h"
#include "stator/http/server.h"

namespace stator::console {

// The page people look at, and what it calls.
//
//   POST /api/<Operation>   answered by the client
//   GET /session            whether one has to sign in, and with which key one did
//   POST /session           signs in: {"accessKeyId": "...", "secretAccessKey": "..."}; the session is a cookie
//   DELETE /session         signs out
//   GET /health, /metrics   for machines
//
// Once there are access keys, operations and the metrics need a session.  Only the page itself may call: it must send
// the header X-Stator-Console, which a page of another origin cannot.  Thread-safe.
class Console final : public http::Handler {
 public:
  // The answers of the server to those who watch it.
  struct Watched {
    std::function<http::Response()> health;
    std::function<http::Response()> metrics;
  };

  // `secure`: the console is served over TLS, and so the cookie must not leave it.  Client and sessions outlive the
  // console.
  Console(client::Client& client, Sessions& sessions, bool secure, Watched watched)
      : client_(client), sessions_(sessions), secure_(secure), watched_(std::move(watched)) {}

  void handle(const http::Request& request, http::Responder responder) override;
  http::Admission admit(const http::Request& head) override;

 private:
  void call(const http::Request& request, http::Responder responder);
  http::Response describe_session(const http::Request& request);
  http::Response sign_in(const http::Request& request);
  http::Response sign_out(const http::Request& request);
  // Why a request of the page is refused: another page sent it, or it needs a session and has none.
  std::optional<http::Response> objection(const http::Request& request);
  std::optional<http::Response> session_refusal(const http::Request& request);
  std::string cookie(std::string_view token, std::chrono::seconds lifetime) const;

  client::Client& client_;
  Sessions& sessions_;
  const bool secure_;
  const Watched watched_;
};

}  // namespace stator::console
