#include "stator/app/rest/answer.h"

#include <fmt/format.h>

#include <utility>

#include "stator/app/rest/request/target.h"
#include "stator/model/problem_list.h"
#include "stator/model/validate.h"
#include "stator/value/json.h"

namespace stator::app {
namespace {

// The text of a value in a path.
std::string text_of(const value::AttributeValue& value) {
  if (const auto* text = value.as_string()) return *text;
  if (const auto* number = value.as_number()) return number->to_string();
  if (const auto* boolean = value.as_bool()) return *boolean ? "true" : "false";
  return {};
}

// Writes the members of an object one by one, until end().
class Members {
 public:
  explicit Members(std::string& out) : out_(out) { out_ += '{'; }

  std::string& next(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    value::append_json_string(out_, name);
    out_ += ':';
    return out_;
  }
  void end() { out_ += '}'; }

 private:
  std::string& out_;
  bool first_ = true;
};

void append_objects(std::string& out, const model::TableDesign& table, const std::vector<runtime::Object>& objects) {
  out += '[';
  for (const auto& object : objects) {
    if (&object != objects.data()) out += ',';
    append_object(out, table, object);
  }
  out += ']';
}

}  // namespace

runtime::Problem problem(runtime::ProblemKind kind, std::string_view code, std::string_view message) {
  return {.kind = kind, .code = std::string(code), .message = std::string(message), .details = {}};
}

runtime::Problem nothing_there() {
  return problem(runtime::ProblemKind::NotFound, "NotFound", "there is no such thing");
}

int status_of(runtime::ProblemKind kind) {
  using Kind = runtime::ProblemKind;
  switch (kind) {
    case Kind::Invalid: return 400;
    case Kind::Unauthenticated: return 401;
    case Kind::Forbidden: return 403;
    case Kind::NotFound: return 404;
    case Kind::Conflict: return 409;
    case Kind::PreconditionFailed: return 412;
    case Kind::TooLarge: return 413;
    case Kind::Busy: return 429;
    case Kind::Unavailable: return 503;
    case Kind::Internal: return 500;
  }
  return 500;
}

http::Response json_answer(int status, std::string body) {
  return {.status = status, .content_type = kJsonType, .headers = {}, .body = std::move(body), .close = false};
}

http::Response no_content() { return {.status = 204, .content_type = {}, .headers = {}, .body = {}, .close = false}; }

http::Response problem_answer(const runtime::Problem& problem) {
  auto response = json_answer(status_of(problem.kind), {});
  if (response.status == 401) response.headers = "WWW-Authenticate: Bearer\r\n";
  const bool soon = response.status == 429 || response.status == 503 || problem.code == runtime::kStillGoing;
  if (soon) response.headers = "Retry-After: 1\r\n";
  value::JsonWriter json(response.body);
  json.begin_object().key("code").string(problem.code).key("message").string(problem.message);
  json.key("details").begin_array();
  const auto told = model::short_list(problem.details);
  for (const auto* detail : told.first) {
    json.begin_object().key("attribute").string(detail->attribute).key("problem").string(detail->problem).end_object();
  }
  json.end_array();
  if (told.more > 0) json.key("more").integer(static_cast<std::int64_t>(told.more));
  json.end_object();
  return response;
}

void append_object(std::string& out, const model::TableDesign& table, const runtime::Object& object) {
  const auto& entity = *object.entity;
  Members members(out);
  for (const auto& attribute : entity.attributes) {
    if (attribute.hidden || attribute.transient) continue;
    const auto* value = object.attributes.find(attribute.name);
    if (value != nullptr) model::append_plain_json(members.next(attribute.name), *value);
  }
  if (entity.find_attribute(table.type_attribute) == nullptr) {
    value::append_json_string(members.next(table.type_attribute), entity.name);
  }
  if (object.version > 0 && entity.find_attribute(table.version_attribute) == nullptr) {
    members.next(table.version_attribute) += std::to_string(object.version);
  }
  for (const auto& [name, joined] : object.joined) append_object(members.next(name), table, joined);
  if (!object.nested_as.empty()) append_objects(members.next(object.nested_as), table, object.nested);
  if (object.continued) members.next("continued") += "true";
  members.end();
}

std::string list_body(const model::TableDesign& table, const runtime::Page& page, std::string_view next_token) {
  std::string body;
  Members members(body);
  append_objects(members.next("items"), table, page.objects);
  if (!next_token.empty()) value::append_json_string(members.next("nextToken"), next_token);
  members.end();
  return body;
}

std::string etag_of(const runtime::Object& object) {
  return object.version > 0 ? fmt::format("\"{}\"", object.version) : std::string();
}

std::string path_of(const runtime::Object& object) {
  std::string path;
  for (const auto segment : split_path(object.entity->path)) {
    path += '/';
    if (!segment.starts_with('{')) {
      path += segment;
      continue;
    }
    const auto* value = object.attributes.find(segment.substr(1, segment.size() - 2));
    const auto text = value != nullptr ? text_of(*value) : std::string();
    if (text.empty()) return {};
    path += encode_percent(text);
  }
  return path;
}

}  // namespace stator::app
