#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/app/rest/rest_service.h"
#include "stator/app/rest/worker_pool.h"
#include "stator/base/clock.h"
#include "stator/base/memory_budget.h"
#include "stator/base/traffic.h"
#include "stator/console/live_requests.h"
#include "stator/console/server_metrics.h"
#include "stator/http/browser/cors.h"
#include "stator/http/browser/host_check.h"
#include "stator/http/metrics.h"
#include "stator/http/server.h"
#include "stator/http/signature/sigv4.h"
#include "stator/library/instance.h"
#include "stator/server/tools.h"

namespace stator::server {

struct EndpointOptions {
  std::vector<std::string> cors_origins;                // empty: no CORS headers at all
  std::size_t max_body_bytes = 17 << 20;                // of a request's body once it is decompressed
  const http::SignatureVerifier* signatures = nullptr;  // outlives the endpoint; null: anyone may speak
  // Keeps web pages out while requests need not be signed; outlives the endpoint; null: any Host and Origin will do.
  const http::HostCheck* hosts = nullptr;
  const app::RestService* systems = nullptr;  // /metrics tells about it, too, while the endpoint serves; may be null
  // For the memory of requests; null: no limit.  Outlives the endpoint.
  MemoryBudget* memory = nullptr;
  std::uint64_t memory_limit = 0;         // of the whole process, for /metrics
  Traffic* traffic = nullptr;             // is told of every call of the API; outlives the endpoint; may be null
  console::LiveRequests* live = nullptr;  // sees every call of the API, while it watches; outlives it; may be null
};

// The DynamoDB endpoint: HTTP on one side, the API on the other.  Also answers GET / and /health for load balancers,
// and GET /metrics for Prometheus, and Stator's own tools below /stator/.  Once there are access keys, every request
// except GET /, GET /health and OPTIONS must be signed.
//
// Requests are executed on the thread where they arrive.  Large bodies and large answers would delay the other requests
// there, so they go to the slow lane: a few threads of low priority.  Thread-safe.
class DynamoDbEndpoint final : public http::Handler {
 public:
  // The instance and the clock outlive the endpoint.
  DynamoDbEndpoint(library::Instance& instance, const Clock& clock, EndpointOptions options);

  void handle(const http::Request& request, http::Responder responder) override;
  http::Admission admit(const http::Request& head) override;
  http::Response refuse(int status, std::string_view reason) override;

  // The answer to GET /metrics.
  http::Response metrics() const;
  // The same for people.
  console::ServerMetrics numbers() const;
  // /metrics reports the connections of this server; set once, before the first request.
  void observe(const http::Server& server) { server_ = &server; }
  // Call it after the server has stopped and before the instance is destroyed, because running calls use the instance.
  void stop();

 private:
  // One call of the API, with the facts from the head of its request.
  struct ApiCall {
    http::Request request;
    std::string_view operation;     // empty: none of that name
    std::string_view content_type;  // of the answer
    std::string_view label;         // for metrics
    SteadyTime start;
  };
  enum class Lane : std::uint8_t {
    Quick,  // the thread of the event loop, which waits for nothing
    Slow,   // threads for large bodies and answers
    Store,  // threads that wait for a database server: if the store is there, all calls that others cannot end
  };

  void call(const http::Request& request, http::Responder responder);
  void run(const ApiCall& call, http::Responder&& responder, Lane lane);
  void run_later(const ApiCall& call, http::Responder&& responder, Lane lane);
  storage::LoopReader* reader_on(EventLoop& loop);
  http::Response answer(const ApiCall& call, api::Reply& reply);
  // Shows a call and its outcome to the watchers.
  void show(std::unique_ptr<console::LiveRequest> live, const ApiCall& call, const api::Reply& reply);
  http::Response encoded(const ApiCall& call, int status, std::string body) const;
  http::Response fault_answer(const ApiCall& call, int status, const Error& error, std::string_view table = {});
  // The answer to a body that could not be decoded.
  http::Response unreadable_answer(const ApiCall& call, const Error& error);
  // The refusal of a request that is not signed correctly, as far as its head tells, or that comes from a foreign web
  // page.
  enum class Known : std::uint8_t { Head, All };
  std::optional<http::Response> objection(const http::Request& request, Known known);
  http::Response refusal(const http::Request& request, http::SignatureFault wrong);
  http::Response refusal(const http::Request& request, int status, std::string_view type, std::string message);
  http::Response page(const http::Request& request) const;  // GET
  http::Response health(const http::Request& request) const;

  library::Instance& instance_;
  const Clock& clock_;
  const EndpointOptions options_;
  const http::Cors cors_;
  http::RequestMetrics requests_;
  const http::Server* server_ = nullptr;
  Tools tools_;
  std::optional<app::WorkerPool> slow_lane_, store_lane_;  // last: their threads use everything above
};

}  // namespace stator::server
