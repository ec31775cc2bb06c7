#include "stator/console/console.h"

#include "stator/console/page.h"

namespace stator::console {
namespace {

constexpr std::string_view kApiPrefix = "/api/";
constexpr std::string_view kJson = "application/json";

http::Response text(int status, std::string_view body) {
  return {.status = status, .content_type = "text/plain; charset=utf-8", .headers = {}, .body = std::string(body)};
}

}  // namespace

void Console::handle(const http::Request& request, http::Responder responder) {
  if (request.method == "POST" && request.path.starts_with(kApiPrefix)) {
    if (request.header("X-Stator-Console").empty()) {
      return responder.send(text(403, "Only the console's own page may call this.\n"));
    }
    client_.call(
        request.path.substr(kApiPrefix.size()), request.body,
        [responder = std::move(responder)](api::Reply reply) mutable {
          if (auto* body = std::get_if<std::string>(&reply.outcome)) {
            return responder.send({.status = 200, .content_type = kJson, .headers = {}, .body = std::move(*body)});
          }
          const auto& fault = std::get<api::Fault>(reply.outcome);
          responder.send(
              {.status = fault.server_side ? 500 : 400, .content_type = kJson, .headers = {}, .body = fault.body()});
        });
    return;
  }
  if (request.method != "GET" && request.method != "HEAD") return responder.send(text(405, "Method not allowed\n"));
  if (request.path != "/") return responder.send(text(404, "Not found\n"));
  responder.send({.status = 200,
                  .content_type = "text/html; charset=utf-8",
                  .headers = "Cache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
                             "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; script-src "
                             "'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'none'\r\n",
                  .body = std::string(kPage)});
}

}  // namespace stator::console
