#pragma once

#include <optional>

#include "stator/http/browser/host_check.h"
#include "stator/http/server.h"

namespace stator::server {

// Passes requests that the check accepts to another handler.  GET /health is always accepted, because its answer says
// nothing about the data.  Thread-safe.
class HostGuard final : public http::Handler {
 public:
  HostGuard(http::Handler& guarded, const http::HostCheck& check)
      : guarded_(guarded), check_(check) {}  // both outlive it

  void handle(const http::Request& request, http::Responder responder) override;
  http::Admission admit(const http::Request& head) override;
  http::Response refuse(int status, std::string_view reason) override { return guarded_.refuse(status, reason); }

 private:
  std::optional<http::Response> objection(const http::Request& request) const;

  http::Handler& guarded_;
  const http::HostCheck& check_;
};

// Tells the log that a request was refused by a HostCheck; not more than a few times a second.
void log_refused_host(std::string_view objection, const http::Request& request);

}  // namespace stator::server
