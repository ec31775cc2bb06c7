#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stator/http/server.h"
#include "stator/library/instance.h"
#include "stator/server/metrics.h"

namespace stator::server {

struct EndpointOptions {
  std::vector<std::string> cors_origins;  // empty: no CORS headers at all
  std::size_t max_body_bytes = 17 << 20;  // of a request's body once it is decompressed
};

// The DynamoDB endpoint: HTTP on one side, the API on the other.  Also answers GET / and /health for load balancers, and
// GET /metrics for Prometheus.  Thread-safe.
class DynamoDbEndpoint final : public http::Handler {
 public:
  DynamoDbEndpoint(library::Instance& instance, EndpointOptions options);  // the instance outlives the endpoint

  void handle(const http::Request& request, http::Responder responder) override;
  http::Response refuse(int status, std::string_view reason) override;

  // The server whose connections /metrics tells about; set once, before it matters.
  void observe(const http::Server& server) { server_ = &server; }

 private:
  void call(const http::Request& request, http::Responder responder);
  http::Response health() const;
  http::Response metrics() const;
  http::Response preflight(const http::Request& request) const;
  // The CORS header line for this request's origin, or nothing.
  std::string cors_headers(std::string_view origin) const;

  library::Instance& instance_;
  const EndpointOptions options_;
  RequestMetrics requests_;
  const http::Server* server_ = nullptr;
};

}  // namespace stator::server
