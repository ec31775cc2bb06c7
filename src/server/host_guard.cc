#include "stator/server/host_guard.h"

#include <chrono>

#include "stator/app/rest/answer.h"
#include "stator/base/log.h"
#include "stator/base/log_limit.h"

namespace stator::server {

void HostGuard::handle(const http::Request& request, http::Responder responder) {
  if (auto refusal = objection(request)) return responder.send(std::move(*refusal));
  guarded_.handle(request, std::move(responder));
}

http::Admission HostGuard::admit(const http::Request& head) {
  if (auto refusal = objection(head)) return {.refusal = std::move(refusal)};
  return guarded_.admit(head);
}

std::optional<http::Response> HostGuard::objection(const http::Request& request) const {
  if (request.path == "/health") return std::nullopt;
  auto wrong = check_.objection(request);
  if (!wrong) return std::nullopt;
  log_refused_host(*wrong, request);
  return app::problem_answer(
      {.kind = runtime::ProblemKind::Forbidden, .code = "HostRefused", .message = std::move(*wrong), .details = {}});
}

void log_refused_host(std::string_view objection, const http::Request& request) {
  static log::Limit limit(5, std::chrono::seconds(1));
  if (const auto left_out = limit.admit()) {
    log::warning("request_refused", {{"reason", objection}, {"client", request.client}, {"left_out", *left_out}});
  }
}

}  // namespace stator::server
