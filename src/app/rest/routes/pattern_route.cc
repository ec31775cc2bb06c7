#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "stator/app/rest/answer.h"
#include "stator/app/rest/request/input.h"
#include "stator/app/rest/request/request_values.h"
#include "stator/app/rest/routes/routes.h"

// Routes that run an access pattern.
namespace stator::app {
namespace {

std::optional<unsigned> read_limit(std::string_view text, unsigned most) {
  unsigned limit = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (error != std::errc() || end != text.data() + text.size() || limit < 1 || limit > most) return std::nullopt;
  return limit;
}

// Names parameters as the query string does: `?country={shop_country}` is country.
ValueProblems as_written(const Route& route, ValueProblems problems) {
  for (auto& problem : problems) {
    const auto part = std::ranges::find(route.query, problem.attribute, &Route::Part::capture);
    if (part != route.query.end()) problem.attribute = part->name;
  }
  return problems;
}

// The input of a pattern, read from the URL of a request.
class PatternInput {
 public:
  PatternInput(const RouteContext& system, const model::Pattern& pattern, const RouteMatch& match, const RestCall& call)
      : system_(system), pattern_(pattern), match_(match), call_(call) {}

  value::Item parameters = {};
  runtime::PageOptions page = {};
  ValueProblems problems = {};

  // The captures of the route.  False: the path names nothing.
  bool read_captures() {
    const auto in_path = static_cast<std::size_t>(
        std::ranges::count_if(match_.route->segments, [](const Route::Part& part) { return !part.capture.empty(); }));
    for (std::size_t i = 0; i < match_.captured.size(); ++i) {
      read(match_.captured[i].first, match_.captured[i].second);
      if (i < in_path && !problems.empty()) return false;
    }
    return true;
  }

  // The rest of the query string.
  void read_query() {
    const bool may_be_deleted = takes_include_deleted(*match_.route);
    page.include_deleted = read_include_deleted(call_.query, may_be_deleted, problems);
    for (const auto& [name, text] : call_.query.all()) {
      const bool in_route =
          std::ranges::any_of(match_.route->query, [&](const Route::Part& part) { return part.name == name; });
      if (!in_route && !(may_be_deleted && name == kIncludeDeleted)) read_parameter(name, text);
    }
  }

  // The values that the page tokens of this request are bound to.
  PageBinding binding() const {
    return {.system = system_.model.name,
            .pattern = pattern_.name,
            .parameters = parameters,
            .subject = call_.caller().subject};
  }

  // Where the page begins.  The token is bound to the parameters, so those are read first.
  void open_token() {
    if (token_ == nullptr || !problems.empty()) return;
    if (auto start = system_.page_tokens.open(*token_, binding())) {
      page.start = std::move(*start);
    } else {
      problems.push_back({.attribute = "nextToken", .problem = start.error().message});
    }
  }

 private:
  void read_parameter(const std::string& name, const std::string& text) {
    if (!pattern_.single && name == "limit") {
      page.limit = read_limit(text, pattern_.max_limit);
      if (!page.limit) {
        problems.push_back(
            {.attribute = name, .problem = fmt::format("must be a whole number from 1 to {}", pattern_.max_limit)});
      }
    } else if (!pattern_.single && name == "nextToken") {
      token_ = &text;
    } else if (pattern_.order == model::Order::Asked && name == "order") {
      if (text != "asc" && text != "desc") problems.push_back({.attribute = name, .problem = "must be asc or desc"});
      parameters.set(name, value::AttributeValue::string(text));
    } else if (find_in(pattern_.parameters, name) != nullptr && parameters.find(name) == nullptr) {
      read(name, text);
    } else {
      problems.push_back({.attribute = name, .problem = system_.router.why_not(*match_.route, name, text)});
    }
  }

  void read(std::string_view name, std::string_view text) {
    const auto* parameter = find_in(pattern_.parameters, name);
    const model::Type plain;
    if (auto value = read_url_value(parameter != nullptr ? parameter->type : plain, name, text, problems)) {
      parameters.set(name, std::move(*value));
    }
  }

  const RouteContext& system_;
  const model::Pattern& pattern_;
  const RouteMatch& match_;
  const RestCall& call_;
  const std::string* token_ = nullptr;
};

}  // namespace

RestAnswer run_target(const RouteContext& system, const model::Pattern* pattern, const RouteMatch& match,
                      const RestCall& call) {
  PatternInput input(system, *pattern, match, call);
  if (!input.read_captures()) return nothing_there();
  input.read_query();
  input.open_token();
  if (!input.problems.empty()) {
    return refusal(as_written(*match.route, std::move(input.problems)), pattern->access, call.caller());
  }
  auto found = system.repository.run(*pattern, input.parameters, call.caller(), input.page);
  if (!found) {
    auto why = std::move(found).error();
    why.details = as_written(*match.route, std::move(why.details));
    return why;
  }
  if (pattern->single) {
    if (found->objects.empty()) return nothing_there();
    return object_answer(system, 200, std::move(found->objects.front()), call);
  }
  for (auto& object : found->objects) redact(system.additions, object, call.caller());
  const auto next = found->next ? system.page_tokens.seal(*found->next, input.binding()) : std::string();
  return json_answer(200, list_body(system.model.table, *found, next));
}

}  // namespace stator::app
