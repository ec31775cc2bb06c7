#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stator/app/jwt.h"
#include "stator/app/system.h"
#include "stator/app/worker_pool.h"
#include "stator/http/metrics.h"
#include "stator/http/server.h"

namespace stator::app {

struct ServiceOptions {
  std::vector<std::string> cors_origins = {};  // empty: no CORS headers at all
  std::size_t max_body_bytes = 16 << 20;       // of a request's body once it is decompressed
  // Requests that are worked on at the same time.  0: each where it arrives, which is right for a database that never makes
  // anybody wait, because a thread that is handed a request costs as much as the request.
  std::size_t workers = 64;
  std::size_t queue = 4096;  // requests that wait for one of them; more are answered 503
  bool access_log = false;
  std::function<void(std::string&)> more_metrics = nullptr;  // appends to /metrics
};

// Systems over HTTP.
//
//   /systems                       the list of them
//   /systems/<name>/v1             a page to try the system
//   /systems/<name>/v1/openapi.json
//   /systems/<name>/v1/...         its routes
//   /health, /metrics              for machines
//
// Event loops only hand requests over: everything that waits for the database, or reads keys, runs on workers, if there are any.
// Thread-safe.
class Service final : public http::Handler {
 public:
  // Systems and verifier outlive the service.
  Service(std::vector<System*> systems, TokenVerifier& tokens, ServiceOptions options);

  void handle(const http::Request& request, http::Responder responder) override;
  http::Response refuse(int status, std::string_view reason) override;

  // Appends Prometheus' text: requests, errors and latency by pattern, action or entity operation, and system.
  void print_metrics(std::string& out) const;

 private:
  using Start = std::chrono::steady_clock::time_point;

  // What needs neither a token nor the database.
  http::Response plain_answer(const http::Request& request) const;
  void work(System& system, const http::Request& request, http::Responder responder, Start start);
  http::Response answer(System& system, const http::Request& request, std::string& label, std::string& error);
  System* find_system(std::string_view path) const;
  http::Response preflight(const http::Request& request) const;
  std::string cors_headers(std::string_view origin) const;

  const std::vector<System*> systems_;
  TokenVerifier& tokens_;
  const ServiceOptions options_;
  http::RequestMetrics requests_{"stator_app", "system"};
  WorkerPool workers_;  // last: its threads use everything above
};

}  // namespace stator::app
