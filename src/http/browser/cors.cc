#include "stator/http/browser/cors.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace stator::http {
namespace {

bool contains(const std::vector<std::string>& origins, std::string_view origin) {
  return std::ranges::find(origins, origin) != origins.end();
}

}  // namespace

Cors::Cors(CorsRules rules) : rules_(std::move(rules)), any_origin_(contains(rules_.origins, "*")) {}

std::string Cors::headers(const Request& request) const {
  if (rules_.origins.empty()) return {};
  const auto origin = request.header("Origin");
  if (origin.empty() || (!any_origin_ && !contains(rules_.origins, origin))) return {};
  return fmt::format("Access-Control-Allow-Origin: {}\r\nAccess-Control-Expose-Headers: {}\r\nVary: Origin\r\n",
                     any_origin_ ? std::string_view("*") : origin, rules_.exposed_headers);
}

Response Cors::preflight(const Request& request) const {
  Response response{.status = rules_.preflight_status, .content_type = {}, .headers = headers(request), .body = {}};
  if (response.headers.empty()) {
    response.headers = fmt::format("Allow: {}\r\n", rules_.server_methods);
    return response;
  }
  const auto asked = rules_.any_method ? request.header("Access-Control-Request-Method") : std::string_view();
  fmt::format_to(std::back_inserter(response.headers),
                 "Access-Control-Allow-Methods: {}\r\nAccess-Control-Max-Age: {}\r\n",
                 asked.empty() ? rules_.page_methods : asked, rules_.preflight_age.count());
  if (const auto wanted = request.header("Access-Control-Request-Headers"); !wanted.empty()) {
    fmt::format_to(std::back_inserter(response.headers), "Access-Control-Allow-Headers: {}\r\n", wanted);
  }
  return response;
}

}  // namespace stator::http
