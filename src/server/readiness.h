#pragma once

#include <atomic>
#include <functional>

#include "stator/http/server.h"

namespace stator::server {

// Whether a load balancer should send requests here: not while the database cannot be written to, and not once the
// server has been told to stop.  Thread-safe.
class Readiness {
 public:
  // `health` answers /health; null: always well.
  explicit Readiness(std::function<http::Response()> health) : health_(std::move(health)) {}

  void stop() { stopping_.store(true, std::memory_order_relaxed); }
  // The answer to GET /ready: 503 {"status":"stopping"}, or the answer to /health.
  http::Response answer() const;

 private:
  const std::function<http::Response()> health_;
  std::atomic<bool> stopping_{false};
};

// Answers GET /ready to anybody, and passes all other requests to another handler.  Thread-safe.
class ReadyPort final : public http::Handler {
 public:
  ReadyPort(http::Handler& others, const Readiness& readiness)
      : others_(others), readiness_(readiness) {}  // outlive it

  void handle(const http::Request& request, http::Responder responder) override;
  http::Admission admit(const http::Request& head) override { return others_.admit(head); }
  http::Response refuse(int status, std::string_view reason) override { return others_.refuse(status, reason); }

 private:
  http::Handler& others_;
  const Readiness& readiness_;
};

}  // namespace stator::server
