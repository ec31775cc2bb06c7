#include "stator/console/model_run.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "stator/app/rest/answer.h"
#include "stator/base/log.h"
#include "stator/client/traced_client.h"
#include "stator/console/answers.h"
#include "stator/value/json.h"

namespace stator::console {
namespace {

constexpr std::size_t kMostRequestTarget = 8 << 10;
constexpr std::size_t kMostSubjectBytes = 1024;

// A request to a system, with the text that its views point to.
struct AskedRequest {
  std::string method, path, query, content_type, body;  // the body is followed by kBodyPadding bytes
  std::size_t body_bytes = 0;
  std::optional<app::TokenUser> user;
};

std::vector<std::string> texts_of(value::JsonElement element) {
  std::vector<std::string> texts;
  std::string_view text;
  if (element.get(text)) texts.emplace_back(text);
  for (const auto each : element.array()) {
    if (each.get(text)) texts.emplace_back(text);
  }
  return texts;
}

Result<std::optional<app::TokenUser>> read_user(value::JsonElement as, const std::string& roles_claim) {
  if (!as || as.is_null()) return std::optional<app::TokenUser>();
  const auto subject = as.object().get<std::string_view>("subject");
  if (!subject || subject->empty() || subject->size() > kMostSubjectBytes) {
    return validation_error("as must be null or have a subject, which is not empty.");
  }
  app::TokenUser user;
  user.caller.subject = std::string(*subject);
  const auto claims = as["claims"].object();
  user.caller.roles = texts_of(claims[roles_claim]);
  user.name = claims.get<std::string_view>("name").value_or("");
  user.email = claims.get<std::string_view>("email").value_or("");
  return std::optional(std::move(user));
}

Result<void> add_query(std::string& query, value::JsonElement asked) {
  for (const auto [name, value] : asked.object()) {
    std::string text;
    if (std::string_view string; value.get(string)) {
      text = string;
    } else if (value.is_number() || value.is_bool()) {
      text = value::json_text(value);
    } else {
      return validation_error(fmt::format("The parameter {} must be a text, a number or a boolean.", name));
    }
    query += fmt::format("{}{}={}", query.empty() ? "" : "&", app::encode_percent(name), app::encode_percent(text));
  }
  return {};
}

Result<AskedRequest> read_asked(std::string_view body, const ModelRunOptions& options) {
  value::JsonParser parser;
  const auto json = parser.parse(body);
  if (!json || !json->is_object()) return validation_error("The body must be a JSON object.");
  const auto object = json->object();
  const auto method = object.get<std::string_view>("method");
  const auto path = object.get<std::string_view>("path");
  if (!method || !path || !path->starts_with('/')) {
    return validation_error("method and path must be texts, and path begins with a slash.");
  }
  AskedRequest asked;
  asked.method = *method;
  asked.path = path->substr(0, path->find('?'));
  asked.query = asked.path.size() < path->size() ? path->substr(asked.path.size() + 1) : "";
  TRY(add_query(asked.query, object["query"]));
  if (asked.path.size() + asked.query.size() > kMostRequestTarget) {
    return validation_error(fmt::format("Path and query have at most {} bytes.", kMostRequestTarget));
  }
  asked.content_type = object.get<std::string_view>("contentType").value_or("application/json");
  if (const auto sent = object["body"]; sent && !sent.is_null()) {
    std::string_view text;
    asked.body = sent.get(text) ? std::string(text) : value::json_text(sent);
  }
  asked.body_bytes = asked.body.size();
  if (asked.body_bytes > options.max_body_bytes) {
    return validation_error(fmt::format("The body of the request has at most {} bytes.", options.max_body_bytes));
  }
  asked.body.append(http::kBodyPadding, '\0');
  asked.user = TRY(read_user(object["as"], options.roles_claim));
  return asked;
}

http::Response missed(const app::RouteMiss& miss) {
  const auto kind = miss.status == 404 ? runtime::ProblemKind::NotFound : runtime::ProblemKind::Invalid;
  auto problem = app::problem(kind, miss.status == 404 ? "NotFound" : "Invalid", miss.message);
  problem.details = miss.details;
  auto response = app::problem_answer(problem);
  response.status = miss.status;
  return response;
}

http::Response answer_of(const ServedModel& served, const AskedRequest& asked, const ModelRunOptions& options) {
  const auto query = app::QueryParameters::parse(asked.query);
  if (!query) return app::problem_answer(app::problem(runtime::ProblemKind::Invalid, "Invalid", query.error().message));
  const auto found = served.system->router().find(asked.method, asked.path, *query);
  if (!found) return missed(found.error());
  std::vector<http::Header> headers;
  if (asked.body_bytes > 0) headers.push_back({.name = "Content-Type", .value = asked.content_type});
  const auto target = served.system->prefix() + asked.path;
  const http::Request request{.method = asked.method,
                              .target = target,
                              .path = target,
                              .query = asked.query,
                              .headers = headers,
                              .body = std::string_view(asked.body).substr(0, asked.body_bytes)};
  try {
    auto outcome = served.system->run(*found, {.request = request,
                                               .path = asked.path,
                                               .query = *query,
                                               .body = request.body,
                                               .user = asked.user ? &*asked.user : nullptr,
                                               .max_file_bytes = options.max_body_bytes,
                                               .memory = options.memory});
    return outcome ? std::move(*outcome) : app::problem_answer(outcome.error());
  } catch (const std::exception& exception) {
    // One of the edges where exceptions end: a request must not take the server with it.
    log::error("console_run_failed", {{"system", served.model().name}, {"what", exception.what()}});
    return app::problem_answer(app::problem(runtime::ProblemKind::Internal, "Internal", "something went wrong inside"));
  }
}

void write_headers(value::JsonWriter& json, const http::Response& response) {
  json.key("headers").begin_object();
  if (!response.content_type.empty()) json.key("Content-Type").string(response.content_type);
  std::string_view rest = response.headers;
  while (!rest.empty()) {
    const auto line = rest.substr(0, rest.find("\r\n"));
    rest.remove_prefix(std::min(rest.size(), line.size() + 2));
    const auto colon = line.find(": ");
    if (colon != std::string_view::npos) json.key(line.substr(0, colon)).string(line.substr(colon + 2));
  }
  json.end_object();
}

void write_call(value::JsonWriter& json, const client::TracedCall& call) {
  json.begin_object().key("operation").string(call.operation).key("request").raw(call.request);
  json.key("response").raw(call.response.empty() ? "null" : call.response);
  if (!call.error.empty()) json.key("error").string(call.error);
  json.key("micros").integer(call.took.count());
  if (call.capacity) json.key("capacity").real(*call.capacity);
  json.end_object();
}

}  // namespace

http::Response run_request(const ServedModel& served, std::string_view body, const Rights& rights, const Clock& clock,
                           const ModelRunOptions& options) {
  const auto asked = read_asked(body, options);
  if (!asked) return bad_request(asked.error().message);
  if (asked->user && !rights.impersonate) {
    return forbidden(
        "Only a session of an access key, or anybody on this machine while there are no keys, may run "
        "requests as a user, and nobody where the setting jwks is set.");
  }
  const bool reads = asked->method == "GET" || asked->method == "HEAD";
  if (!reads && !rights.write) return forbidden("The console is read-only, so it runs only GET requests.");
  const auto trace = std::make_shared<client::Trace>(!rights.write);
  const auto start = clock.steady_now();
  http::Response answer;
  {
    const client::TraceScope scope(trace);
    answer = answer_of(served, *asked, options);
  }
  const auto took = clock.steady_now() - start;
  std::string out;
  value::JsonWriter json(out);
  json.begin_object().key("status").integer(answer.status);
  write_headers(json, answer);
  const bool is_json = http::media_type(answer.content_type).ends_with("json");
  json.key("body");
  if (answer.body.empty()) {
    json.null();
  } else if (is_json) {
    json.raw(answer.body);
  } else {
    json.string(answer.body);
  }
  json.key("text").string(answer.body);
  json.key("micros").integer(std::chrono::duration_cast<std::chrono::microseconds>(took).count());
  json.key("requests").begin_array();
  for (const auto& call : trace->calls()) write_call(json, call);
  json.end_array().key("leftOut").integer(static_cast<std::int64_t>(trace->left_out())).end_object();
  return json_answer(std::move(out));
}

}  // namespace stator::console
