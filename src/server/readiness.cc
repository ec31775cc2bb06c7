#include "stator/server/readiness.h"

namespace stator::server {

http::Response Readiness::answer() const {
  const auto json = [](int status, std::string_view text) {
    return http::Response{
        .status = status, .content_type = "application/json", .headers = {}, .body = std::string(text)};
  };
  if (stopping_.load(std::memory_order_relaxed)) return json(503, "{\"status\":\"stopping\"}\n");
  return health_ ? health_() : json(200, "{\"status\":\"ok\"}\n");
}

void ReadyPort::handle(const http::Request& request, http::Responder responder) {
  if (request.path != "/ready" || (request.method != "GET" && request.method != "HEAD")) {
    return others_.handle(request, std::move(responder));
  }
  responder.send(readiness_.answer());
}

}  // namespace stator::server
