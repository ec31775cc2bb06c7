#include "stator/app/rest/rest_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <optional>
#include <utility>

#include "stator/app/openapi/openapi.h"
#include "stator/app/rest/answer.h"
#include "stator/app/rest/request/body_memory.h"
#include "stator/app/rest/request/file_body.h"
#include "stator/app/rest/request/input.h"
#include "stator/base/log.h"
#include "stator/base/log_limit.h"
#include "stator/http/browser/page.h"
#include "stator/http/message/content_coding.h"
#include "stator/value/json.h"

namespace stator::app {
namespace {

using runtime::Problem;
using runtime::ProblemKind;

constexpr std::size_t kCompressAbove = 1024;
constexpr std::string_view kRoot = "/systems";
// A body above this is looked at closely: whether the memory for its values is there.
constexpr std::size_t kCountedBody = std::size_t{8} << 10;
constexpr std::string_view kNoRoute = "none";  // the label of what found no route
constexpr std::chrono::seconds kPatience{20};  // a request that waited longer for a worker is refused

bool reads(const http::Request& request) { return request.method == "GET" || request.method == "HEAD"; }

// Callers do not learn where the database is or what is wrong with it.
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
    case 503: return kOverloaded;
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

Problem overloaded() {
  return problem(ProblemKind::Unavailable, kOverloaded,
                 "there is no memory left for this request: try again in a moment");
}

Problem too_much_waits() { return problem(ProblemKind::Unavailable, kOverloaded, "too many requests wait already"); }

// The length of the body by the request's head; nullopt if the head does not give it.
std::optional<std::size_t> announced_length(const http::Request& head) {
  const auto text = head.header("Content-Length");
  std::size_t length = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), length);
  return !text.empty() && read.ec == std::errc() ? std::optional(length) : std::nullopt;
}

http::Response encoding_refused() {
  return problem_answer(problem(ProblemKind::Invalid, "InvalidEncoding", http::unknown_coding().message));
}

http::CorsRules cors_rules(std::vector<std::string> origins) {
  constexpr std::string_view kMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
  return {.origins = std::move(origins),
          .exposed_headers = "ETag, Location, Allow, Retry-After, Idempotency-Replayed",
          .server_methods = kMethods,
          .page_methods = kMethods,
          .preflight_age = std::chrono::hours(24)};
}

}  // namespace

RestService::RestService(std::vector<System*> systems, TokenVerifier& tokens, const Clock& clock,
                         RestServiceOptions options)
    : systems_(std::move(systems)),
      tokens_(tokens),
      clock_(clock),
      options_(std::move(options)),
      cors_(cors_rules(options_.cors_origins)),
      workers_(options_.workers, options_.queue) {}

std::optional<http::Response> RestService::quick_answer(const http::Request& request) const {
  if (request.method == "OPTIONS") return cors_.preflight(request);
  const auto* system = find_system(request.path);
  const bool about_it = system != nullptr && reads(request) &&
                        (below(*system, request.path).size() <= 1 || below(*system, request.path) == "/openapi.json");
  if (system != nullptr && !about_it) return std::nullopt;
  return finished(plain_answer(request), request);
}

bool RestService::is_guarded_info(const http::Request& request) const {
  if (options_.public_info || request.method == "OPTIONS") return false;
  if (const auto* system = find_system(request.path)) {
    return reads(request) && below(*system, request.path) == "/openapi.json";
  }
  return request.path != "/health";
}

void RestService::answer_info(const http::Request& request, http::Responder responder) {
  auto shared = std::make_shared<http::Responder>(std::move(responder));
  // On a worker, because checking a token may have to read the key set.
  WorkerPool::Job job = [this, request, shared] {
    RequestLabels labels;
    const auto verified = identify(request, true);
    auto refusal = refuse_token(verified, request, labels);
    if (!refusal && *verified == nullptr) {
      refusal = problem_answer(problem(ProblemKind::Unauthenticated, "Unauthenticated",
                                       "this needs a token, because other machines can reach this server; the setting "
                                       "public_info opens it to everybody"));
      refusal->headers = "WWW-Authenticate: Bearer\r\n";
    }
    shared->send(finished(refusal ? std::move(*refusal) : plain_answer(request), request));
  };
  if (!workers_.submit(job)) shared->send(problem_answer(too_much_waits()));
}

http::Response RestService::finished(http::Response response, const http::Request& request) const {
  response.headers += cors_.headers(request);
  if (http::compress(response, request.header("Accept-Encoding"), kCompressAbove)) {
    response.headers += "Vary: Accept-Encoding\r\n";
  }
  return response;
}

RestService::Task RestService::task_of(System& system, const http::Request& request) const {
  Task task{.system = &system,
            .request = request,
            .query = QueryParameters::parse(request.query),
            .found = RouteMiss(),
            .start = clock_.steady_now()};
  if (options_.traffic != nullptr) options_.traffic->note_request(task.start);
  if (task.query) task.found = system.router().find(request.method, below(system, request.path), *task.query);
  return task;
}

void RestService::handle(const http::Request& request, http::Responder responder) {
  if (is_guarded_info(request)) return answer_info(request, std::move(responder));
  if (auto response = quick_answer(request)) return responder.send(std::move(*response));
  auto& system = *find_system(request.path);
  auto task = task_of(system, request);
  if (is_quick(task)) return work(task, std::move(responder));
  auto shared = std::make_shared<http::Responder>(std::move(responder));
  const auto refuse = [this, shared, name = std::string_view(system.model().name)] {
    requests_.record("overload", name, kOverloaded, {});
    shared->send(problem_answer(too_much_waits()));
  };
  WorkerPool::Job job = [this, task = std::move(task), shared, refuse] {
    const bool too_late = shared->watch().has_gone() || clock_.steady_now() - task.start > kPatience;
    return too_late ? refuse() : work(task, std::move(*shared));
  };
  if (!workers_.submit(job)) refuse();
}

// Runs on an event loop, so it reads no keys.  A token of an unknown key may be one of a key set that has not been read
// yet: a worker reads it, and a request with a small body comes through and is decided on a worker.  One with a large
// body, or of unknown length, is refused, to be sent again in a second.  Otherwise strangers with made-up keys could
// send bodies while the set is being read.
http::Admission RestService::admit(const http::Request& head) {
  if (is_guarded_info(head)) return {.refusal = {}, .body_bytes = MemoryBudget::kSmallBytes};
  if (auto response = quick_answer(head)) return {.refusal = std::move(response)};
  const auto task = task_of(*find_system(head.path), head);
  RequestLabels labels{.label = std::string(kNoRoute), .error = {}};
  http::Admission admission;
  auto verified = Verified(nullptr);
  const auto decide = [&]() -> std::optional<http::Response> {
    if (auto refusal = refuse_route(task, labels)) return refusal;
    const auto& route = *task.found->route;
    const auto length = announced_length(head);
    admission.body_bytes = body_limit(route);
    verified = identify(head, false);
    if (!verified && verified.error().code == ErrorCode::Busy) {
      WorkerPool::Job job = [this] { tokens_.read_keys_again(); };
      workers_.submit(job);
      if (length && *length <= MemoryBudget::kSmallBytes) return std::nullopt;
      labels.error = "KeysNotRead";
      return problem_answer(problem(ProblemKind::Unavailable, labels.error,
                                    "the keys that tokens are signed with are being read: try again in a moment"));
    }
    if (auto refusal = refuse_token(verified, head, labels)) return refusal;
    const bool typed = length ? *length > 0 : !head.header("Content-Type").empty();
    if (auto refusal = task.system->refuse_by_head(route, head, typed, verified->get())) {
      labels.error = "Refused";
      return refusal;
    }
    if (http::content_coding_of(head.header("Content-Encoding"))) return std::nullopt;
    labels.error = "InvalidEncoding";
    return encoding_refused();
  };
  admission.refusal = decide();
  if (!admission.refusal) return admission;
  admission.refusal->headers += cors_.headers(head);
  record(task, labels, admission.refusal->status);
  return admission;
}

std::size_t RestService::body_limit(const Route& route) const {
  return takes_files(route) ? options_.max_body_bytes : std::min(options_.max_body_bytes, options_.max_rest_body_bytes);
}

bool RestService::is_quick(const Task& task) const {
  const auto* action = task.found ? std::get_if<const model::Action*>(&task.found->route->target) : nullptr;
  return options_.at_once && (action == nullptr || !(*action)->native);
}

http::Response RestService::refuse(int status, std::string_view reason) {
  std::string message(reason);
  if (status == 413) {
    message += fmt::format(": the limit is {} bytes (the setting max_rest_body_bytes), for files {} (max_body_bytes)",
                           options_.max_rest_body_bytes, options_.max_body_bytes);
  }
  auto response = problem_answer(problem(ProblemKind::Invalid, code_of(status), message));
  response.status = status;
  return response;
}

void RestService::print_metrics(std::string& out) const {
  requests_.print(out);
  if (options_.more_metrics) options_.more_metrics(out);
}

System* RestService::find_system(std::string_view path) const {
  for (auto* system : systems_) {
    const auto& prefix = system->prefix();
    if (path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/')) return system;
  }
  return nullptr;
}

http::Response RestService::plain_answer(const http::Request& request) const {
  if (const auto* system = find_system(request.path)) {
    if (below(*system, request.path) == "/openapi.json") return text_answer(kJsonType, system->openapi());
    return http::page_answer(kTryPage);
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

void RestService::work(const Task& task, http::Responder responder) {
  const auto& system = *task.system;
  const auto& request = task.request;
  RequestLabels labels{.label = std::string(kNoRoute), .error = {}};
  http::Response response;
  try {
    response = answer(task, labels);
  } catch (const std::exception& exception) {
    // One of the edges where exceptions end: a request must not take the server with it.
    log::error("rest_request_failed",
               {{"system", system.model().name}, {"operation", labels.label}, {"what", exception.what()}});
    labels.error = "Internal";
    response = problem_answer(problem(ProblemKind::Internal, "Internal", "something went wrong inside"));
  }
  response = finished(std::move(response), request);
  if (response.body.size() > MemoryBudget::kSmallBytes) {
    response.memory = MemoryClaim(options_.memory, MemoryPart::Answers);
    const bool held = response.memory.resize(response.body.size());
    // A change is done already, so its answer is sent without regard to the limit.
    if (!held && reads(request)) {
      labels.error = kOverloaded;
      response = problem_answer(overloaded());
      response.headers += cors_.headers(request);
    }
  }
  record(task, labels, response.status);
  responder.send(std::move(response));
}

void RestService::record(const Task& task, const RequestLabels& labels, int status) {
  const auto took = clock_.steady_now() - task.start;
  requests_.record(labels.label, task.system->model().name, labels.error, took);
  if (!options_.access_log) return;
  log::info("request", {{"method", task.request.method},
                        {"path", task.request.path},
                        {"operation", labels.label},
                        {"status", status},
                        {"microseconds", std::chrono::duration_cast<std::chrono::microseconds>(took).count()}});
}

std::optional<http::Response> RestService::refuse_route(const Task& task, RequestLabels& labels) const {
  if (!task.query) {
    labels.error = "Invalid";
    return problem_answer(problem(ProblemKind::Invalid, "Invalid", task.query.error().message));
  }
  if (task.found) {
    labels.label = task.found->route->label;
    return std::nullopt;
  }
  const auto& miss = task.found.error();
  const auto kind = miss.status == 404 ? ProblemKind::NotFound : ProblemKind::Invalid;
  labels.error = miss.status == 404 ? "NotFound" : miss.status == 405 ? "MethodNotAllowed" : "Invalid";
  auto wrong = problem(kind, labels.error, miss.message);
  wrong.details = miss.details;
  auto response = problem_answer(wrong);
  response.status = miss.status;
  if (!miss.allow.empty()) response.headers += fmt::format("Allow: {}\r\n", miss.allow);
  return response;
}

RestService::Verified RestService::identify(const http::Request& request, bool may_block) {
  // Another server in between may have looked at the other one.
  if (request.repeats("Authorization")) return validation_error("there is more than one Authorization header");
  const auto authorization = request.header("Authorization");
  if (authorization.empty()) return Verified(nullptr);
  const auto token = bearer_token(authorization);
  if (!token) return validation_error("Authorization must be `Bearer` and a token");
  return may_block ? tokens_.verify(*token) : tokens_.verify_at_once(*token);
}

std::optional<http::Response> RestService::refuse_token(const Verified& verified, const http::Request& request,
                                                        RequestLabels& labels) const {
  if (verified) return std::nullopt;
  labels.error = "InvalidToken";
  static log::Limit limit(5, std::chrono::seconds(1));
  if (const auto left_out = limit.admit()) {
    log::warning("token_refused", {{"operation", labels.label},
                                   {"reason", verified.error().message},
                                   {"client", request.client},
                                   {"left_out", *left_out}});
  }
  auto response = problem_answer(problem(ProblemKind::Unauthenticated, labels.error, verified.error().message));
  response.headers = "WWW-Authenticate: Bearer error=\"invalid_token\"\r\n";
  return response;
}

http::Response RestService::answer(const Task& task, RequestLabels& labels) {
  auto& system = *task.system;
  const auto& request = task.request;
  if (auto refusal = refuse_route(task, labels)) return std::move(*refusal);
  const auto& match = *task.found;
  const auto verified = identify(request, true);
  if (auto refusal = refuse_token(verified, request, labels)) return std::move(*refusal);
  const auto* user = verified->get();
  const auto refuse_with = [&](const Problem& wrong) {
    labels.error = wrong.code;
    return problem_answer(wrong);
  };

  auto body = request.body;
  const auto limit = body_limit(*match.route);
  const std::string_view setting = limit == options_.max_body_bytes ? "max_body_bytes" : "max_rest_body_bytes";
  if (body.size() > limit) return refuse_with(unreadable(naming_setting(http::body_too_large(limit), setting)));
  MemoryClaim inflated(options_.memory, MemoryPart::Bodies), values(options_.memory, MemoryPart::Values);
  std::string decoded;
  const auto encoding = request.header("Content-Encoding");
  if (!http::content_coding_of(encoding)) return refuse_with(unreadable(http::unknown_coding()));
  if (!takes_files(*match.route)) {
    if (!encoding.empty()) {
      if (auto refusal = system.refuse_by_head(*match.route, request, !body.empty(), user)) {
        labels.error = "Refused";
        return std::move(*refusal);
      }
      auto content = http::decode_content(encoding, body, limit, &inflated);
      if (!content) return refuse_with(unreadable(naming_setting(content.error(), setting)));
      decoded = std::move(*content);
      body = decoded;
    }
    if (body.size() > kCountedBody && !values.resize(bytes_of_values(body))) return refuse_with(overloaded());
  }
  auto outcome = system.run(match, {.request = request,
                                    .path = below(system, request.path),
                                    .query = *task.query,
                                    .body = body,
                                    .user = user,
                                    .max_file_bytes = limit,
                                    .memory = options_.memory});
  if (!outcome && outcome.error().kind == ProblemKind::Unavailable && outcome.error().code != kOverloaded) {
    static log::Limit lines(5, std::chrono::seconds(1));  // a database that is away is away for every request
    if (const auto left_out = lines.admit()) {
      log::warning("database_unavailable", {{"system", system.model().name},
                                            {"operation", labels.label},
                                            {"code", outcome.error().code},
                                            {"message", outcome.error().message},
                                            {"left_out", *left_out}});
    }
    return refuse_with(without_whereabouts(outcome.error(), request));
  }
  if (!outcome) return refuse_with(outcome.error());
  if (outcome->status >= 400) labels.error = "Refused";
  return std::move(outcome).value();
}

}  // namespace stator::app
