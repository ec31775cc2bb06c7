#include "stator/app/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "stator/app/answer.h"
#include "stator/app/openapi.h"
#include "stator/base/log.h"
#include "stator/base/log_limit.h"
#include "stator/http/content_coding.h"
#include "stator/value/json.h"

namespace stator::app {
namespace {

using runtime::Outcome;
using runtime::Problem;
using runtime::ProblemKind;

constexpr std::size_t kCompressAbove = 1024;
constexpr std::string_view kRoot = "/systems";
constexpr std::string_view kBodyTooLarge = "BodyTooLarge";
constexpr std::string_view kInvalidToken = "InvalidToken";
constexpr std::string_view kNoRoute = "none";  // the label of what found no route

Problem problem(ProblemKind kind, std::string_view code, std::string_view message) {
  return {.kind = kind, .code = std::string(code), .message = std::string(message), .details = {}};
}

http::Response overloaded() {
  return problem_answer(problem(ProblemKind::Unavailable, "Overloaded", "too many requests wait already"));
}

bool reads(const http::Request& request) { return request.method == "GET" || request.method == "HEAD"; }

// Where the database is, and what exactly is wrong with it, is nothing to those who ask.
Problem without_whereabouts(const Problem& unavailable, const http::Request& request) {
  return problem(ProblemKind::Unavailable, unavailable.code,
                 reads(request) ? "the database cannot be asked at the moment"
                                : "the database did not answer: it may or may not have been carried out");
}

http::Response text_answer(std::string_view type, std::string body) {
  return {.status = 200, .content_type = type, .headers = {}, .body = std::move(body), .close = false};
}

// The code of a request that is refused before it is one.
std::string_view code_of(int status) {
  switch (status) {
    case 408: return "RequestTimeout";
    case 413: return kBodyTooLarge;
    case 414: return "PathTooLong";
    case 431: return "HeadersTooLarge";
    case 503: return "Overloaded";
    default: return "BadRequest";
  }
}

// The path below the system's prefix.
std::string_view below(const System& system, std::string_view path) { return path.substr(system.prefix().size()); }

// "Bearer <token>"; nullopt when the header is something else.
std::optional<std::string_view> bearer_token(std::string_view authorization) {
  constexpr std::string_view kScheme = "Bearer ";
  if (authorization.size() <= kScheme.size() ||
      !http::equal_ignoring_case(authorization.substr(0, kScheme.size()), kScheme)) {
    return std::nullopt;
  }
  return authorization.substr(kScheme.size());
}

void compress(http::Response& response, std::string_view accept_encoding) {
  if (response.body.size() <= kCompressAbove || accept_encoding.empty()) return;
  const auto coding = http::accepted_coding(accept_encoding);
  if (coding == http::ContentCoding::Identity) return;
  response.body = http::encode_content(coding, response.body);
  response.headers += fmt::format("Content-Encoding: {}\r\nVary: Accept-Encoding\r\n", http::name_of(coding));
}

}  // namespace

Service::Service(std::vector<System*> systems, TokenVerifier& tokens, ServiceOptions options)
    : systems_(std::move(systems)),
      tokens_(tokens),
      options_(std::move(options)),
      workers_(options_.workers, options_.queue) {}

void Service::handle(const http::Request& request, http::Responder responder) {
  if (request.method == "OPTIONS") return responder.send(preflight(request));
  System* system = find_system(request.path);
  const bool about_it = system != nullptr && reads(request) &&
                        (below(*system, request.path).size() <= 1 || below(*system, request.path) == "/openapi.json");
  if (system == nullptr || about_it) {
    if (!options_.public_info && is_info(request)) return answer_info(request, std::move(responder));
    return responder.send(finished(plain_answer(request), request));
  }
  Task task{.system = system,
            .request = request,
            .query = QueryParameters::parse(request.query),
            .found = RouteMiss(),
            .start = std::chrono::steady_clock::now()};
  if (task.query) task.found = system->router().find(request.method, below(*system, request.path), *task.query);
  if (is_quick(task)) return work(task, std::move(responder));
  auto shared = std::make_shared<http::Responder>(std::move(responder));
  WorkerPool::Job job = [this, task = std::move(task), shared] { work(task, std::move(*shared)); };
  if (workers_.submit(job)) return;
  requests_.record("overload", system->model().name, "Overloaded", {});
  shared->send(overloaded());
}

bool Service::is_quick(const Task& task) const {
  const auto* match = std::get_if<RouteMatch>(&task.found);
  const auto* action = match != nullptr ? std::get_if<const model::Action*>(&match->route->target) : nullptr;
  return options_.at_once && (action == nullptr || !(*action)->native);
}

http::Response Service::refuse(int status, std::string_view reason) {
  auto response = problem_answer(problem(ProblemKind::Invalid, code_of(status), reason));
  response.status = status;
  return response;
}

void Service::print_metrics(std::string& out) const {
  requests_.print(out);
  if (options_.more_metrics) options_.more_metrics(out);
}

System* Service::find_system(std::string_view path) const {
  for (auto* system : systems_) {
    const auto& prefix = system->prefix();
    if (path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/')) return system;
  }
  return nullptr;
}

bool Service::is_info(const http::Request& request) const {
  if (const auto* system = find_system(request.path)) return below(*system, request.path) == "/openapi.json";
  return request.path != "/health";
}

void Service::answer_info(const http::Request& request, http::Responder responder) {
  auto shared = std::make_shared<http::Responder>(std::move(responder));
  // On a worker, because checking a token may have to read the key set.
  WorkerPool::Job job = [this, request, shared] {
    auto asked = identify(request, {});
    if (!asked.refused && asked.identity == nullptr) {
      asked.refused =
          problem_answer(problem(ProblemKind::Unauthenticated, "Unauthenticated",
                                 "this needs a token, because other machines can reach this server; the setting "
                                 "public_info opens it to everybody"));
      asked.refused->headers = "WWW-Authenticate: Bearer\r\n";
    }
    shared->send(finished(asked.refused ? std::move(*asked.refused) : plain_answer(request), request));
  };
  if (!workers_.submit(job)) shared->send(overloaded());
}

http::Response Service::finished(http::Response response, const http::Request& request) const {
  response.headers += cors_headers(request.header("Origin"));
  compress(response, request.header("Accept-Encoding"));
  return response;
}

Service::Asked Service::identify(const http::Request& request, std::string_view system) {
  const auto authorization = request.header("Authorization");
  if (authorization.empty() && !request.repeats("Authorization")) return {};
  const auto check = [&]() -> Result<std::shared_ptr<const Identity>> {
    // Another server in between may have looked at the other one.
    if (request.repeats("Authorization")) return validation_error("there is more than one Authorization header");
    const auto token = bearer_token(authorization);
    if (!token) return validation_error("Authorization must be `Bearer` and a token");
    return tokens_.verify(*token);
  };
  auto verified = check();
  if (verified) return {.identity = std::move(*verified)};
  static log::Limit limit(5, std::chrono::seconds(1));
  if (const auto left_out = limit.admit()) {
    log::warning("token_refused", {{"system", system}, {"reason", verified.error().message}, {"left_out", *left_out}});
  }
  auto response = problem_answer(problem(ProblemKind::Unauthenticated, kInvalidToken, verified.error().message));
  response.headers = "WWW-Authenticate: Bearer error=\"invalid_token\"\r\n";
  return {.identity = nullptr, .refused = std::move(response)};
}

http::Response Service::plain_answer(const http::Request& request) const {
  if (const auto* system = find_system(request.path)) {
    if (below(*system, request.path) == "/openapi.json") return text_answer(kJsonType, system->openapi());
    auto page = text_answer("text/html; charset=utf-8", std::string(kTryPage));
    page.headers =
        "Cache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
        "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'\r\n";
    return page;
  }
  if (reads(request) && request.path == "/health") {
    return options_.health ? options_.health() : text_answer(kJsonType, "{\"status\":\"ok\"}\n");
  }
  if (reads(request) && request.path == "/metrics") {
    std::string text;
    print_metrics(text);
    return text_answer("text/plain; version=0.0.4", std::move(text));
  }
  if (reads(request) && (request.path == kRoot || request.path == "/")) {
    std::string body;
    value::JsonWriter json(body);
    json.begin_object().key("items").begin_array();
    for (const auto* system : systems_) {
      json.begin_object().key("name").string(system->model().name);
      json.key("description").string(system->model().description);
      json.key("path").string(system->prefix()).end_object();
    }
    json.end_array().end_object();
    return text_answer(kJsonType, std::move(body));
  }
  return problem_answer(problem(ProblemKind::NotFound, "NotFound", "there is nothing at this path"));
}

void Service::work(const Task& task, http::Responder responder) {
  const auto& system = *task.system;
  const auto& request = task.request;
  std::string label(kNoRoute);
  std::string error;
  http::Response response;
  try {
    response = answer(task, label, error);
  } catch (const std::exception& exception) {
    // One of the edges where exceptions end: a request must not take the server with it.
    log::error("rest_request_failed",
               {{"system", system.model().name}, {"operation", label}, {"what", exception.what()}});
    error = "Internal";
    response = problem_answer(problem(ProblemKind::Internal, "Internal", "something went wrong inside"));
  }
  response = finished(std::move(response), request);
  const auto took = std::chrono::steady_clock::now() - task.start;
  requests_.record(label, system.model().name, error, took);
  if (options_.access_log) {
    log::info("request", {{"method", request.method},
                          {"path", request.path},
                          {"operation", label},
                          {"status", response.status},
                          {"microseconds", std::chrono::duration_cast<std::chrono::microseconds>(took).count()}});
  }
  responder.send(std::move(response));
}

http::Response Service::answer(const Task& task, std::string& label, std::string& error) {
  auto& system = *task.system;
  const auto& request = task.request;
  const auto& query = task.query;
  const auto refuse_with = [&](const Problem& wrong) {
    error = wrong.code;
    return problem_answer(wrong);
  };
  if (!query) return refuse_with(problem(ProblemKind::Invalid, "Invalid", query.error().message));
  if (const auto* miss = std::get_if<RouteMiss>(&task.found)) {
    const auto kind = miss->status == 404 ? ProblemKind::NotFound : ProblemKind::Invalid;
    const auto code = miss->status == 404 ? "NotFound" : miss->status == 405 ? "MethodNotAllowed" : "Invalid";
    auto wrong = problem(kind, code, miss->message);
    wrong.details = miss->details;
    auto response = refuse_with(wrong);
    response.status = miss->status;
    if (!miss->allow.empty()) response.headers += fmt::format("Allow: {}\r\n", miss->allow);
    return response;
  }
  const auto& match = std::get<RouteMatch>(task.found);
  label = match.route->label;

  auto asked = identify(request, system.model().name);
  if (asked.refused) {
    error = kInvalidToken;
    return std::move(*asked.refused);
  }
  const auto identity = std::move(asked.identity);

  auto body = request.body;
  std::string decoded;
  if (const auto encoding = request.header("Content-Encoding"); !encoding.empty()) {
    auto content = http::decode_content(encoding, body, options_.max_body_bytes);
    if (!content) {
      const bool too_large = content.error().code == ErrorCode::LimitExceeded;
      return refuse_with(problem(too_large ? ProblemKind::TooLarge : ProblemKind::Invalid,
                                 too_large ? kBodyTooLarge : "InvalidEncoding", content.error().message));
    }
    decoded = std::move(*content);
    body = decoded;
  }
  auto outcome = system.run(match, {.request = request,
                                    .path = below(system, request.path),
                                    .query = *query,
                                    .body = body,
                                    .identity = identity.get()});
  if (!outcome && outcome.problem().kind == ProblemKind::Unavailable) {
    static log::Limit limit(5, std::chrono::seconds(1));  // a database that is away is away for every request
    if (const auto left_out = limit.admit()) {
      log::warning("database_unavailable", {{"system", system.model().name},
                                            {"operation", label},
                                            {"code", outcome.problem().code},
                                            {"message", outcome.problem().message},
                                            {"left_out", *left_out}});
    }
    return refuse_with(without_whereabouts(outcome.problem(), request));
  }
  if (!outcome) return refuse_with(outcome.problem());
  if (outcome->status >= 400) error = "Refused";
  return std::move(outcome).value();
}

http::Response Service::preflight(const http::Request& request) const {
  http::Response response{
      .status = 204, .content_type = {}, .headers = cors_headers(request.header("Origin")), .body = {}, .close = false};
  constexpr std::string_view kMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
  if (response.headers.empty()) {
    response.headers = fmt::format("Allow: {}\r\n", kMethods);
    return response;
  }
  response.headers += fmt::format("Access-Control-Allow-Methods: {}\r\nAccess-Control-Max-Age: 86400\r\n", kMethods);
  if (const auto wanted = request.header("Access-Control-Request-Headers"); !wanted.empty()) {
    response.headers += fmt::format("Access-Control-Allow-Headers: {}\r\n", wanted);
  }
  return response;
}

std::string Service::cors_headers(std::string_view origin) const {
  if (origin.empty() || options_.cors_origins.empty()) return {};
  const auto& allowed = options_.cors_origins;
  const bool any = std::ranges::find(allowed, "*") != allowed.end();
  if (!any && std::ranges::find(allowed, origin) == allowed.end()) return {};
  return fmt::format(
      "Access-Control-Allow-Origin: {}\r\nAccess-Control-Expose-Headers: ETag, Location, Allow, Retry-After, "
      "Idempotency-Replayed\r\nVary: Origin\r\n",
      any ? std::string_view("*") : origin);
}

}  // namespace stator::app
