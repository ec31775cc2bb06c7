#include "stator/app/rest/request/request_values.h"

#include <algorithm>
#include <utility>

#include "stator/app/rest/answer.h"
#include "stator/app/rest/request/input.h"
#include "stator/model/problem_list.h"
#include "stator/runtime/access.h"

namespace stator::app {

using runtime::Problem;
using runtime::ProblemKind;

const model::Attribute* find_in(const std::vector<model::Attribute>& attributes, std::string_view name) {
  const auto found = std::ranges::find(attributes, name, &model::Attribute::name);
  return found != attributes.end() ? &*found : nullptr;
}

Result<value::Item, Problem> path_values(const RouteMatch& match, const std::vector<model::Attribute>& attributes) {
  value::Item values;
  ValueProblems problems;
  for (const auto& [name, text] : match.captured) {
    const auto* attribute = find_in(attributes, name);
    const model::Type plain;
    auto value = read_url_value(attribute != nullptr ? attribute->type : plain, name, text, problems);
    if (!value) return nothing_there();
    values.set(name, std::move(*value));
  }
  return values;
}

void query_values(const QueryParameters& query, bool may_be_deleted, const std::vector<model::Attribute>& attributes,
                  value::Item& values, ValueProblems& problems) {
  for (const auto& [name, text] : query.all()) {
    if (may_be_deleted && name == kIncludeDeleted) continue;
    const auto* attribute = find_in(attributes, name);
    if (attribute == nullptr || values.find(name) != nullptr) {
      problems.push_back({.attribute = name, .problem = "is not a parameter of this route"});
    } else if (auto value = read_url_value(attribute->type, name, text, problems)) {
      values.set(name, std::move(*value));
    }
  }
}

bool read_include_deleted(const QueryParameters& query, bool taken, ValueProblems& problems) {
  const auto* text = taken ? query.find(kIncludeDeleted) : nullptr;
  if (text == nullptr) return false;
  if (*text != "true" && *text != "false") {
    problems.push_back({.attribute = std::string(kIncludeDeleted), .problem = "must be true or false"});
  }
  return *text == "true";
}

void refuse_others(const QueryParameters& query, std::initializer_list<std::string_view> known,
                   ValueProblems& problems) {
  for (const auto& [name, text] : query.all()) {
    if (std::ranges::find(known, name) == known.end()) {
      problems.push_back({.attribute = name, .problem = "is not a parameter of this route"});
    }
  }
}

Result<model::PlainObject, Problem> body_values(const RestCall& call, const std::vector<model::Attribute>& attributes,
                                                const value::Item& from_path, ValueProblems& problems) {
  auto object = model::read_plain_json(call.body.empty() ? "{}" : call.body, attributes, problems);
  if (!object) {
    const bool too_many = object.error().code == ErrorCode::LimitExceeded;
    return problem(ProblemKind::Invalid, too_many ? "TooManyValues" : "InvalidJson", object.error().message);
  }
  for (const auto& [name, value] : from_path) {
    const auto* repeated = object->values.find(name);
    if (repeated != nullptr && *repeated == value) {
      object->values.erase(name);
    } else if (repeated != nullptr || std::ranges::find(object->nulls, name) != object->nulls.end()) {
      problems.push_back({.attribute = name, .problem = "is given by the path"});
    }
  }
  return std::move(*object);
}

Result<void, Problem> refuse_body(const RestCall& call, ValueProblems& problems) {
  TRY(body_values(call, {}, {}, problems));
  return {};
}

ValueProblems empty_headers(const http::Request& request) {
  ValueProblems problems;
  if (request.method == "GET" || request.method == "HEAD") return problems;
  for (const auto& header : request.headers) {
    const bool decides = http::equal_ignoring_case(header.name, "If-Match") ||
                         (request.method == "POST" && http::equal_ignoring_case(header.name, "Idempotency-Key"));
    if (decides && header.value.empty()) {
      problems.push_back({.attribute = std::string(header.name), .problem = "is empty"});
    }
  }
  return problems;
}

void join_problems(ValueProblems& problems, ValueProblems more) {
  for (auto& one : more) {
    if (const auto counted = model::more_of(one); counted > 0) {
      model::count_more_problems(problems, counted);
    } else if (std::ranges::find(problems, one.attribute, &model::ValueProblem::attribute) == problems.end()) {
      problems.push_back(std::move(one));
    }
  }
}

Problem refusal(ValueProblems problems, const model::Access& access, const runtime::Caller& caller) {
  if (auto let_in = runtime::check_caller(access, caller); !let_in) return std::move(let_in).error();
  return runtime::invalid(std::move(problems));
}

}  // namespace stator::app
