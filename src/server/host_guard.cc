#include "stator/server/host_guard.h"

#include <chrono>

#include "stator/app/answer.h"
#include "stator/base/log.h"
#include "stator/base/log_limit.h"

namespace stator::server {

void HostGuard::handle(const http::Request& request, http::Responder responder) {
  if (request.path != "/health") {
    if (auto wrong = check_.objection(request)) {
      log_refused_host(*wrong);
      return responder.send(app::problem_answer({.kind = runtime::ProblemKind::Forbidden,
                                                 .code = "HostRefused",
                                                 .message = std::move(*wrong),
                                                 .details = {}}));
    }
  }
  guarded_.handle(request, std::move(responder));
}

void log_refused_host(std::string_view objection) {
  static log::Limit limit(5, std::chrono::seconds(1));
  if (const auto left_out = limit.admit()) {
    log::warning("request_refused", {{"reason", objection}, {"left_out", *left_out}});
  }
}

}  // namespace stator::server
