#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/app/service.h"
#include "stator/http/host_check.h"
#include "stator/http/metrics.h"
#include "stator/http/server.h"
#include "stator/http/sigv4.h"
#include "stator/library/instance.h"

namespace stator::server {

struct EndpointOptions {
  std::vector<std::string> cors_origins;                // empty: no CORS headers at all
  std::size_t max_body_bytes = 17 << 20;                // of a request's body once it is decompressed
  const http::SignatureVerifier* signatures = nullptr;  // outlives the endpoint; null: anyone may speak
  // Keeps web pages out while requests need not be signed; outlives the endpoint; null: any Host and Origin will do.
  const http::HostCheck* hosts = nullptr;
  const app::Service* systems = nullptr;  // /metrics tells about it, too, while the endpoint serves; may be null
};

// The DynamoDB endpoint: HTTP on one side, the API on the other.  Also answers GET / and /health for load balancers, and
// GET /metrics for Prometheus.  Once there are access keys, everything but GET / and /health, and the question of a browser
// whether it may ask, must be signed.  Thread-safe.
class DynamoDbEndpoint final : public http::Handler {
 public:
  DynamoDbEndpoint(library::Instance& instance, EndpointOptions options);  // the instance outlives the endpoint

  void handle(const http::Request& request, http::Responder responder) override;
  http::Response refuse(int status, std::string_view reason) override;

  // The server whose connections /metrics tells about; set once, before it matters.
  void observe(const http::Server& server) { server_ = &server; }

 private:
  void call(const http::Request& request, http::Responder responder);
  // The answer to a request that is not signed as it must be, or that a web page of strangers sends.
  std::optional<http::Response> objection(const http::Request& request);
  http::Response refusal(const http::Request& request, int status, std::string_view type, std::string message);
  http::Response page(const http::Request& request) const;  // GET
  http::Response health() const;
  http::Response metrics() const;
  http::Response preflight(const http::Request& request) const;
  // The CORS header line for this request's origin, or nothing.
  std::string cors_headers(std::string_view origin) const;

  library::Instance& instance_;
  const EndpointOptions options_;
  http::RequestMetrics requests_;
  const http::Server* server_ = nullptr;
};

}  // namespace stator::server
