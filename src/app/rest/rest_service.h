#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/app/auth/jwt.h"
#include "stator/app/rest/system.h"
#include "stator/app/rest/worker_pool.h"
#include "stator/base/clock.h"
#include "stator/base/memory_budget.h"
#include "stator/base/traffic.h"
#include "stator/http/browser/cors.h"
#include "stator/http/metrics.h"
#include "stator/http/server.h"

namespace stator::app {

struct RestServiceOptions {
  std::vector<std::string> cors_origins = {};  // empty: no CORS headers at all
  std::size_t max_body_bytes = 16 << 20;       // of a file that is sent, also once it is decompressed
  std::size_t max_rest_body_bytes = 1 << 20;   // of any other body, likewise
  std::size_t workers = 64;                    // requests that are worked on at the same time
  // The database is in memory, so its calls never wait.  Then the thread where a request arrives also answers it,
  // because a change of threads costs as much as the request.  Native actions are an exception: their work has no
  // bound.
  bool at_once = false;
  std::size_t queue = 4096;  // requests that wait for one of them; more are answered 503
  bool access_log = false;
  bool public_info = true;  // /metrics, the list of systems and their descriptions are told without a token
  MemoryBudget* memory =
      nullptr;                 // for bodies, their values, and large answers; outlives the service.  null: unlimited
  Traffic* traffic = nullptr;  // is told of every request to a system; outlives the service; may be null
  std::function<void(std::string&)> more_metrics = nullptr;  // appends to /metrics
  std::function<http::Response()> health = nullptr;          // answers /health; without one, all is well
};

// Systems over HTTP.
//
//   /systems                       the list of them
//   /systems/<name>/v1             a page to try the system
//   /systems/<name>/v1/openapi.json
//   /systems/<name>/v1/...         its routes
//   /health, /metrics              for machines
//
// Event loops pass requests to workers, which wait for the database and read keys.  A request that can be refused by
// its head is refused on the event loop, so that bodies of strangers are never read.  Thread-safe.
class RestService final : public http::Handler {
 public:
  // Systems, verifier and clock outlive the service.
  RestService(std::vector<System*> systems, TokenVerifier& tokens, const Clock& clock, RestServiceOptions options);

  void handle(const http::Request& request, http::Responder responder) override;
  http::Admission admit(const http::Request& head) override;
  http::Response refuse(int status, std::string_view reason) override;

  // Appends Prometheus' text: requests, errors and latency by pattern, action or entity operation, and system.
  void print_metrics(std::string& out) const;

 private:
  // A request that has found its system.  It is valid until it is answered.
  struct Task {
    System* system;
    http::Request request;
    Result<QueryParameters> query;
    Result<RouteMatch, RouteMiss> found;  // when there is a query
    SteadyTime start;
  };
  // The labels of a request in metrics and in the log.
  struct RequestLabels {
    std::string label, error;
  };
  using Verified = Result<std::shared_ptr<const TokenUser>>;

  // The answer to a request that needs neither a token nor a route of a system; nullopt for other requests.
  std::optional<http::Response> quick_answer(const http::Request& request) const;
  http::Response plain_answer(const http::Request& request) const;
  // Whether the answer of plain_answer() is not public: then answer_info() asks for a token first.
  bool is_guarded_info(const http::Request& request) const;
  void answer_info(const http::Request& request, http::Responder responder);
  // Adds the headers that every answer has, and compresses the body if the client accepts that.
  http::Response finished(http::Response response, const http::Request& request) const;
  Task task_of(System& system, const http::Request& request) const;
  bool is_quick(const Task& task) const;
  void work(const Task& task, http::Responder responder);
  http::Response answer(const Task& task, RequestLabels& labels);
  // Refuses a request without a route.
  std::optional<http::Response> refuse_route(const Task& task, RequestLabels& labels) const;
  // Refuses an invalid token.
  std::optional<http::Response> refuse_token(const Verified& verified, const http::Request& request,
                                             RequestLabels& labels) const;
  Verified identify(const http::Request& request, bool may_block);
  std::size_t body_limit(const Route& route) const;
  void record(const Task& task, const RequestLabels& labels, int status);
  System* find_system(std::string_view path) const;

  const std::vector<System*> systems_;
  TokenVerifier& tokens_;
  const Clock& clock_;
  const RestServiceOptions options_;
  const http::Cors cors_;
  http::RequestMetrics requests_{"stator_app", "system"};
  WorkerPool workers_;  // last: its threads use everything above
};

}  // namespace stator::app
