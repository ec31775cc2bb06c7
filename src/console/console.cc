#include "stator/console/console.h"

#include <fmt/format.h>

#include <chrono>

#include "stator/base/log.h"
#include "stator/base/log_limit.h"
#include "stator/console/assets.h"
#include "stator/value/json.h"

namespace stator::console {
namespace {

constexpr std::string_view kApiPrefix = "/api/";
constexpr std::string_view kSession = "/session";
constexpr std::string_view kJson = "application/json";
constexpr std::string_view kCookie = "stator_session";
constexpr std::size_t kMaxSignInBytes = 4096;

http::Response text(int status, std::string_view body) {
  return {.status = status, .content_type = "text/plain; charset=utf-8", .headers = {}, .body = std::string(body)};
}

// In the form in which the API tells its errors, so that the page has one way to read them.
http::Response refusal(int status, std::string_view type, std::string_view message) {
  std::string body;
  value::JsonWriter json(body);
  json.begin_object().key("__type").string(type).key("message").string(message).end_object();
  return {.status = status, .content_type = kJson, .headers = {}, .body = std::move(body)};
}

// The session's token in `Cookie: a=b; stator_session=...`; empty when there is none.
std::string_view session_token(const http::Request& request) {
  auto rest = request.header("Cookie");
  while (!rest.empty()) {
    auto pair = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    while (pair.starts_with(' ')) pair.remove_prefix(1);
    if (pair.size() > kCookie.size() && pair.starts_with(kCookie) && pair[kCookie.size()] == '=') {
      return pair.substr(kCookie.size() + 1);
    }
  }
  return {};
}

struct Credentials {
  std::string id, secret;
};

std::optional<Credentials> read_credentials(std::string_view body) {
  if (body.size() > kMaxSignInBytes) return std::nullopt;
  value::JsonParser parser;
  const auto json = parser.parse(body);
  if (!json) return std::nullopt;
  const auto id = json->object().get<std::string_view>("accessKeyId");
  const auto secret = json->object().get<std::string_view>("secretAccessKey");
  if (!id || !secret) return std::nullopt;
  return Credentials{.id = std::string(*id), .secret = std::string(*secret)};
}

void log_refused(const http::Request& request) {
  static log::Limit limit(5, std::chrono::seconds(1));
  if (const auto left_out = limit.admit()) {
    log::warning(
        "sign_in_refused",
        {{"reason", "no such access key, or another secret"}, {"client", request.client}, {"left_out", *left_out}});
  }
}

}  // namespace

std::optional<http::Response> Console::objection(const http::Request& request) {
  if (request.header("X-Stator-Console").empty()) return text(403, "Only the console's own page may call this.\n");
  return request.path == kSession ? std::nullopt : session_refusal(request);
}

// Only what the page sends has a body.
http::Admission Console::admit(const http::Request& head) {
  const bool about_session = head.path == kSession;
  if (head.method != "POST" || (!about_session && !head.path.starts_with(kApiPrefix))) {
    return {.refusal = text(405, "Method not allowed\n")};
  }
  return {.refusal = objection(head), .body_bytes = about_session ? kMaxSignInBytes : SIZE_MAX};
}

void Console::handle(const http::Request& request, http::Responder responder) {
  const bool reads = request.method == "GET" || request.method == "HEAD";
  const bool about_session = request.path == kSession;
  if (about_session && reads) return responder.send(describe_session(request));
  if ((request.method == "POST" && (about_session || request.path.starts_with(kApiPrefix))) ||
      (request.method == "DELETE" && about_session)) {
    if (auto wrong = objection(request)) return responder.send(std::move(*wrong));
    if (!about_session) return call(request, std::move(responder));
    return responder.send(request.method == "POST" ? sign_in(request) : sign_out(request));
  }
  if (!reads) return responder.send(text(405, "Method not allowed\n"));
  if (request.path == "/health") return responder.send(watched_.health());
  if (request.path == "/metrics") {
    auto wrong = session_refusal(request);
    return responder.send(wrong ? std::move(*wrong) : watched_.metrics());
  }
  auto page = page_answer(assets(), request);
  responder.send(page ? std::move(*page) : text(404, "Not found\n"));
}

void Console::call(const http::Request& request, http::Responder responder) {
  client_.call(
      request.path.substr(kApiPrefix.size()), request.body,
      [responder = std::move(responder)](api::Reply reply) mutable {
        if (auto* body = std::get_if<std::string>(&reply.outcome)) {
          return responder.send({.status = 200,
                                 .content_type = kJson,
                                 .headers = {},
                                 .body = std::move(*body),
                                 .memory = std::move(reply.memory)});
        }
        const auto& fault = std::get<api::Fault>(reply.outcome);
        responder.send(
            {.status = fault.server_side ? 500 : 400, .content_type = kJson, .headers = {}, .body = fault.body()});
      });
}

std::optional<http::Response> Console::session_refusal(const http::Request& request) {
  if (!sessions_.required() || sessions_.key_of(session_token(request))) return std::nullopt;
  return refusal(
      401, "MissingAuthenticationTokenException",
      sessions_.has_keys()
          ? "Sign in with an access key."
          : "This database has been used with access keys and has none now, so nobody can sign in. Make one with "
            "`stator key add`, or start the server with --allow-unsigned.");
}

http::Response Console::describe_session(const http::Request& request) {
  const auto key = sessions_.key_of(session_token(request));
  std::string body;
  value::JsonWriter json(body);
  json.begin_object().key("required").boolean(sessions_.required()).key("accessKeyId");
  if (key) {
    json.string(*key);
  } else {
    json.null();
  }
  json.end_object();
  return {.status = 200, .content_type = kJson, .headers = "Cache-Control: no-store\r\n", .body = std::move(body)};
}

http::Response Console::sign_in(const http::Request& request) {
  const auto credentials = read_credentials(request.body);
  if (!credentials) {
    return refusal(400, "SerializationException",
                   "To sign in, send {\"accessKeyId\": \"...\", \"secretAccessKey\": \"...\"}.");
  }
  const auto answer = sessions_.sign_in(credentials->id, credentials->secret);
  if (const auto* wrong = std::get_if<Sessions::Refusal>(&answer)) {
    if (*wrong == Sessions::Refusal::TooMany) {
      auto response = refusal(429, "ThrottlingException", "There were too many attempts; try again in a second.");
      response.headers = "Retry-After: 1\r\n";
      return response;
    }
    log_refused(request);
    return refusal(401, "UnrecognizedClientException", "There is no such access key, or its secret is another.");
  }
  sessions_.sign_out(session_token(request));  // the one that this replaces
  return {.status = 204,
          .content_type = {},
          .headers = cookie(std::get<std::string>(answer), Sessions::kLifetime),
          .body = {}};
}

http::Response Console::sign_out(const http::Request& request) {
  sessions_.sign_out(session_token(request));
  return {.status = 204, .content_type = {}, .headers = cookie("", std::chrono::seconds(0)), .body = {}};
}

std::string Console::cookie(std::string_view token, std::chrono::seconds lifetime) const {
  return fmt::format(
      "Set-Cookie: {}={}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict{}\r\nCache-Control: no-store\r\n", kCookie,
      token, lifetime.count(), secure_ ? "; Secure" : "");
}

}  // namespace stator::console
