#include "stator/app/rest/request/body_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "stator/app/rest/answer.h"
#include "stator/app/rest/request/input.h"

namespace stator::app {
namespace {

bool is_json(std::string_view type) {
  constexpr std::string_view kSuffix = "+json";
  return http::equal_ignoring_case(type, kJsonType) ||
         (type.size() > kSuffix.size() &&
          http::equal_ignoring_case(type.substr(type.size() - kSuffix.size()), kSuffix));
}

// The types that a route takes; none: it takes JSON.
const std::vector<std::string>& file_types(const Route& route) {
  static const std::vector<std::string> none;
  return takes_files(route) ? std::get<const model::Action*>(route.target)->accepts : none;
}

}  // namespace

std::optional<http::Response> refuse_body_type(const Route& route, const http::Request& head) {
  const auto type = http::media_type(head.header("Content-Type"));
  const auto& accepts = file_types(route);
  const bool taken = accepts.empty() ? is_json(type) : std::ranges::any_of(accepts, [&](const std::string& one) {
    return http::equal_ignoring_case(one, type);
  });
  if (taken) return std::nullopt;
  auto answer = problem_answer(problem(
      runtime::ProblemKind::Invalid, "UnsupportedMediaType",
      accepts.empty() ? "the body must be JSON, and Content-Type must be application/json"
                      : fmt::format("Content-Type must name the type of the body: {}", fmt::join(accepts, ", "))));
  answer.status = 415;
  return answer;
}

}  // namespace stator::app
