#include "stator/http/browser/cors.h"

#include <gtest/gtest.h>

namespace stator::http {
namespace {

using namespace std::string_view_literals;

Cors cors_of(std::vector<std::string> origins, bool any_method = false) {
  return Cors({.origins = std::move(origins),
               .exposed_headers = "ETag",
               .server_methods = "GET, POST, OPTIONS",
               .page_methods = "GET, POST",
               .any_method = any_method,
               .preflight_age = std::chrono::seconds(60),
               .preflight_status = 204});
}

std::string headers_for(const Cors& cors, std::string_view origin) {
  const Header header{.name = "Origin", .value = origin};
  return cors.headers({.method = "GET", .target = "/", .path = "/", .query = {}, .headers = {&header, 1}, .body = {}});
}

std::string preflight_of(const Cors& cors, std::vector<Header> headers) {
  const auto answer =
      cors.preflight({.method = "OPTIONS", .target = "/", .path = "/", .query = {}, .headers = headers, .body = {}});
  EXPECT_EQ(answer.status, 204);
  EXPECT_EQ(answer.body, "");
  return answer.headers;
}

TEST(Cors, TellsTheOriginsThatMayCallAndNobodyElse) {
  struct Case {
    std::vector<std::string> origins;
    std::string_view origin, allowed;  // nothing: no header at all
  };
  for (const auto& [origins, origin, allowed] :
       {Case{{}, "https://a.example", ""}, Case{{"*"}, "", ""}, Case{{"*"}, "https://a.example", "*"},
        Case{{"https://a.example"}, "https://a.example", "https://a.example"},
        Case{{"https://a.example"}, "https://b.example", ""},
        Case{{"https://a.example"}, "https://a.example.evil.example", ""},
        Case{{"https://a.example"}, "http://a.example", ""},
        Case{{"https://a.example", "https://b.example"}, "https://b.example", "https://b.example"},
        Case{{"https://a.example", "*"}, "https://b.example", "*"}}) {
    const auto headers = headers_for(cors_of(origins), origin);
    const auto expected = allowed.empty() ? std::string()
                                          : "Access-Control-Allow-Origin: " + std::string(allowed) +
                                                "\r\nAccess-Control-Expose-Headers: ETag\r\nVary: Origin\r\n";
    EXPECT_EQ(headers, expected) << origin;
  }
}

TEST(Cors, AnswersOptionsWithTheMethodsOfTheServerWhenNoPageMayCall) {
  EXPECT_EQ(preflight_of(cors_of({}), {}), "Allow: GET, POST, OPTIONS\r\n");
  EXPECT_EQ(preflight_of(cors_of({"*"}), {}), "Allow: GET, POST, OPTIONS\r\n");
  EXPECT_EQ(preflight_of(cors_of({"https://a.example"}), {{"Origin", "https://b.example"}}),
            "Allow: GET, POST, OPTIONS\r\n");
}

TEST(Cors, AnswersAPreflightWithWhatThePageMaySend) {
  constexpr auto kBegin = "Access-Control-Allow-Origin: *\r\nAccess-Control-Expose-Headers: ETag\r\nVary: Origin\r\n"sv;
  const auto expected = [&](std::string_view more) { return std::string(kBegin) + std::string(more); };
  const std::vector<Header> asks = {{"Origin", "https://a.example"}, {"Access-Control-Request-Method", "PUT"}};
  EXPECT_EQ(preflight_of(cors_of({"*"}), asks),
            expected("Access-Control-Allow-Methods: GET, POST\r\nAccess-Control-Max-Age: 60\r\n"));
  EXPECT_EQ(preflight_of(cors_of({"*"}, true), asks),
            expected("Access-Control-Allow-Methods: PUT\r\nAccess-Control-Max-Age: 60\r\n"));
  EXPECT_EQ(preflight_of(cors_of({"*"}, true),
                         {{"Origin", "https://a.example"}, {"Access-Control-Request-Headers", "authorization, x-a"}}),
            expected("Access-Control-Allow-Methods: GET, POST\r\nAccess-Control-Max-Age: 60\r\n"
                     "Access-Control-Allow-Headers: authorization, x-a\r\n"));
}

}  // namespace
}  // namespace stator::http
