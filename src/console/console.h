#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stator/app/rest/worker_pool.h"
#include "stator/base/clock.h"
#include "stator/client/client.h"
#include "stator/console/elsewhere.h"
#include "stator/console/live_requests.h"
#include "stator/console/models.h"
#include "stator/console/saved_queries.h"
#include "stator/console/server_metrics.h"
#include "stator/console/sessions.h"
#include "stator/http/server.h"

namespace stator::console {

// Where clients of the DynamoDB API connect.
struct ApiAddress {
  bool secure = false;    // https
  std::string host = {};  // empty: the host of the page's own address
  std::uint16_t port = 0;
};

// Facts about the server that the console is part of.
struct ConsoleOptions {
  bool secure = false;     // served over TLS, and so the cookie must not leave it
  bool local = true;       // only this machine reaches it
  bool read_only = false;  // no request of the page changes data
  // Users with that right can run requests as any user; false where another system decides who users are.
  bool users_are_ours = true;
  bool in_memory = false;
  std::string version = {};
  std::string endpoint = {};  // the database is there; empty: it is this server's own
  ApiAddress api = {};        // of this server's own database
  std::string region = "us-east-1";
  // The server's answers for monitoring.
  std::function<http::Response()> health = nullptr;
  std::function<http::Response()> metrics = nullptr;
  // The numbers that the page draws; null: it draws none.
  std::function<ServerMetrics()> numbers = nullptr;
};

// The page that people use, and the endpoints that it calls.
//
//   POST /api/<Operation>   answered by the client
//   GET /session            whether one has to sign in, and with which key one did
//   POST /session           signs in: {"accessKeyId": "...", "secretAccessKey": "..."}; the session is a cookie
//   DELETE /session         signs out
//   /console/info           the features of this console
//   /console/saved          saved queries (saved_queries.h); /console/history: queries that were run
//   /console/models         models (models.h)
//   /console/remote         reads of another endpoint (elsewhere.h)
//   /console/live           the latest requests (live_requests.h)
//   /console/metrics        numbers of the server (server_metrics.h)
//   GET /health, /metrics   for machines
//
// Once there are access keys, everything but the page, its session and /health needs a session.  Only the page itself
// may call: it must send the header X-Stator-Console, which a page of another origin cannot.  Thread-safe.
class Console final : public http::Handler {
 public:
  // All outlive it; without live requests: null.
  Console(client::Client& client, Sessions& sessions, SavedQueries& saved, Models& models, LiveRequests* live,
          const Clock& clock, ConsoleOptions options);

  void handle(const http::Request& request, http::Responder responder) override;
  http::Admission admit(const http::Request& head) override;

 private:
  void call(const http::Request& request, http::Responder responder);
  void change_session(const http::Request& request, http::Responder responder);
  // Has a worker answer.
  void run_later(const http::Request& request, http::Responder responder,
                 std::function<http::Response(const http::Request&)> work);
  // Answers below /console/.
  void answer(const http::Request& request, http::Responder responder);
  http::Response info(const http::Request& request);
  http::Response live(const http::Request& request);
  http::Response numbers();
  http::Response saved(const http::Request& request);
  http::Response history(const http::Request& request);
  http::Response describe_session(const http::Request& request);
  http::Response sign_in(const http::Request& request);
  http::Response sign_out(const http::Request& request);
  Rights rights_of(const http::Request& request);
  // Why a request of the page is refused: another page sent it, or it needs a session and has none.
  std::optional<http::Response> objection(const http::Request& request);
  std::optional<http::Response> session_refusal(const http::Request& request);
  std::string cookie(std::string_view token, std::chrono::seconds lifetime) const;

  client::Client& client_;
  Sessions& sessions_;
  SavedQueries& saved_;
  Models& models_;
  LiveRequests* const live_;
  const Clock& clock_;
  const ConsoleOptions options_;
  Elsewhere elsewhere_;
  app::WorkerPool workers_;  // last: its threads use everything above
};

}  // namespace stator::console
