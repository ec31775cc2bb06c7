#include "stator/app/rest/routes/router.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

namespace stator::app {
namespace {

using Part = Route::Part;

Result<Part> read_part(std::string_view text, std::string_view whole) {
  if (text.starts_with('{') && text.ends_with('}') && text.size() > 2) {
    return Part{.name = {}, .text = {}, .capture = std::string(text.substr(1, text.size() - 2))};
  }
  if (text.empty() || text.find_first_of("{}?&=") != text.npos) {
    return validation_error(fmt::format("{} is not a path of names and {{captures}}", whole));
  }
  return Part{.name = {}, .text = std::string(text), .capture = {}};
}

Result<Route> make_route(std::string_view method, std::string_view path, std::string label, RouteTarget target) {
  const auto question = std::min(path.find('?'), path.size());
  Route route{.method = std::string(method),
              .path = std::string(path.substr(0, question)),
              .label = std::move(label),
              .segments = {},
              .query = {},
              .target = target};
  if (!path.starts_with('/')) return validation_error(fmt::format("{} does not begin with a slash", path));
  for (const auto segment : split_path(route.path)) route.segments.push_back(TRY(read_part(segment, path)));
  auto query = path.substr(std::min(question + 1, path.size()));
  while (!query.empty()) {
    const auto end = std::min(query.find('&'), query.size());
    const auto equals = std::min(query.find('='), end);
    auto part = TRY(read_part(query.substr(std::min(equals + 1, end), end - std::min(equals + 1, end)), path));
    part.name = query.substr(0, equals);
    route.query.push_back(std::move(part));
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return route;
}

EntityOperation operation_of(std::string_view word) {
  if (word == "create") return EntityOperation::Create;
  if (word == "put") return EntityOperation::Put;
  if (word == "update") return EntityOperation::Update;
  if (word == "delete") return EntityOperation::Delete;
  if (word == "restore") return EntityOperation::Restore;
  if (word == "purge") return EntityOperation::Purge;
  return EntityOperation::Get;
}

// Literals before captures, from left to right; then more query parts, and among those literals, before fewer.
bool more_specific(const Route& a, const Route& b) {
  const auto literals = [](const std::vector<Part>& parts) {
    return std::ranges::count_if(parts, [](const Part& part) { return part.capture.empty(); });
  };
  if (a.segments.size() != b.segments.size()) return a.segments.size() < b.segments.size();
  for (std::size_t i = 0; i < a.segments.size(); ++i) {
    const bool literal = a.segments[i].capture.empty();
    if (literal != b.segments[i].capture.empty()) return literal;
  }
  if (a.query.size() != b.query.size()) return a.query.size() > b.query.size();
  return literals(a.query) > literals(b.query);
}

// Whether every request that one of them answers could be the other's.
bool same_requests(const Route& a, const Route& b) {
  const auto same = [](const Part& x, const Part& y) {
    return x.name == y.name && x.text == y.text && x.capture.empty() == y.capture.empty();
  };
  return a.method == b.method && std::ranges::equal(a.segments, b.segments, same) && a.query.size() == b.query.size() &&
         std::ranges::all_of(a.query, [&](const Part& part) {
           return std::ranges::any_of(b.query, [&](const Part& other) { return same(part, other); });
         });
}

bool path_fits(const Route& route, const std::vector<std::string>& segments) {
  return std::ranges::equal(route.segments, segments, [](const Part& part, const std::string& segment) {
    return part.capture.empty() ? part.text == segment : !segment.empty();
  });
}

// The query parts that are not there, or are others.
std::vector<const Part*> lacking_parts(const Route& route, const QueryParameters& query) {
  std::vector<const Part*> lacking;
  for (const auto& part : route.query) {
    const auto* text = query.find(part.name);
    if (text == nullptr || (part.capture.empty() && *text != part.text)) lacking.push_back(&part);
  }
  return lacking;
}

std::string must_be(const std::vector<std::string_view>& words) {
  return fmt::format("must be {}", fmt::join(words, " or "));
}

// The smallest set of query parts that a request lacks for one of these routes.
std::vector<model::ValueProblem> needs(const std::vector<std::vector<const Part*>>& lacking) {
  const auto least = std::ranges::min(lacking, {}, &std::vector<const Part*>::size).size();
  std::vector<std::vector<std::string_view>> choices;  // names, of which one of the lists has to be there
  std::map<std::string_view, std::vector<std::string_view>> words;
  const auto add = [](auto& list, const auto& one) {
    if (std::ranges::find(list, one) == list.end()) list.push_back(one);
  };
  for (const auto& parts : lacking) {
    if (parts.size() != least) continue;
    std::vector<std::string_view> names;
    for (const auto* part : parts) {
      names.push_back(part->name);
      if (part->capture.empty()) add(words[part->name], std::string_view(part->text));
    }
    add(choices, names);
  }
  std::vector<model::ValueProblem> problems;
  for (const auto name : choices.front()) {
    problems.push_back({std::string(name), words[name].empty() ? "is required" : must_be(words[name])});
  }
  if (choices.size() == 1) return problems;
  std::vector<std::string> others;
  for (std::size_t i = 1; i < choices.size(); ++i) others.push_back(fmt::format("{}", fmt::join(choices[i], " and ")));
  problems.back().problem = fmt::format("or {} is required", fmt::join(others, " or "));
  return problems;
}

RouteMatch captured_by(const Route& route, std::vector<std::string> segments, const QueryParameters& query) {
  RouteMatch match{.route = &route, .captured = {}};
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (const auto& name = route.segments[i].capture; !name.empty()) {
      match.captured.emplace_back(name, std::move(segments[i]));
    }
  }
  for (const auto& part : route.query) {
    if (!part.capture.empty()) match.captured.emplace_back(part.capture, *query.find(part.name));
  }
  return match;
}

}  // namespace

Result<Router> Router::make(const model::Model& model) {
  Router router;
  auto& routes = router.routes_;
  for (const auto& entity : model.entities) {
    for (const auto& [word, method, path] : entity.routes()) {
      routes.push_back(TRY(make_route(method, path, fmt::format("{}.{}", entity.name, word),
                                      EntityTarget{.entity = &entity, .operation = operation_of(word)})));
    }
  }
  for (const auto& pattern : model.patterns) {
    if (!pattern.path.empty()) routes.push_back(TRY(make_route("GET", pattern.path, pattern.name, &pattern)));
  }
  for (const auto& action : model.actions) {
    if (!action.path.empty()) routes.push_back(TRY(make_route(action.method, action.path, action.name, &action)));
  }
  std::ranges::stable_sort(routes, more_specific);
  for (std::size_t i = 0; i < routes.size(); ++i) {
    for (std::size_t j = i + 1; j < routes.size(); ++j) {
      if (!same_requests(routes[i], routes[j])) continue;
      return validation_error(fmt::format("{} and {} have the same route: {} {}", routes[i].label, routes[j].label,
                                          routes[i].method, routes[i].path));
    }
  }
  return router;
}

Result<RouteMatch, RouteMiss> Router::find(std::string_view method, std::string_view path,
                                           const QueryParameters& query) const {
  std::vector<std::string> segments;
  for (const auto segment : split_path(path)) {
    auto decoded = decode_percent(segment);
    if (!decoded) return RouteMiss{.status = 400, .message = "the path is not percent-encoded UTF-8", .allow = {}};
    segments.push_back(std::move(*decoded));
  }
  const auto wanted = method == "HEAD" ? "GET" : method;
  std::vector<std::vector<const Part*>> lacking;  // by route
  std::vector<std::string_view> allowed;
  for (const auto& route : routes_) {
    if (route.segments.size() != segments.size() || !path_fits(route, segments)) continue;
    if (route.method != wanted) {
      allowed.push_back(route.method);
    } else if (auto parts = lacking_parts(route, query); !parts.empty()) {
      lacking.push_back(std::move(parts));
    } else {
      return captured_by(route, std::move(segments), query);
    }
  }
  if (!lacking.empty()) {
    auto problems = needs(lacking);
    auto message = problems.size() == 1 ? fmt::format("{} {}", problems.front().attribute, problems.front().problem)
                                        : fmt::format("{} query parameters are missing or wrong", problems.size());
    return RouteMiss{.status = 400, .message = std::move(message), .allow = {}, .details = std::move(problems)};
  }
  if (allowed.empty()) return RouteMiss{.status = 404, .message = "there is nothing at this path", .allow = {}};
  if (std::ranges::find(allowed, "GET") != allowed.end()) allowed.push_back("HEAD");
  std::ranges::sort(allowed);
  const auto repeated = std::ranges::unique(allowed);
  allowed.erase(repeated.begin(), repeated.end());
  return RouteMiss{.status = 405,
                   .message = fmt::format("{} is not possible here", method),
                   .allow = fmt::format("{}", fmt::join(allowed, ", "))};
}

std::string Router::why_not(const Route& route, std::string_view name, std::string_view text) const {
  std::vector<std::string_view> words;
  bool taken = false;
  for (const auto& other : routes_) {
    if (other.method != route.method || other.path != route.path) continue;
    for (const auto& part : other.query) {
      if (part.name != name) continue;
      taken = taken || !part.capture.empty() || part.text == text;
      if (std::ranges::find(words, part.text) == words.end()) words.push_back(part.text);
    }
  }
  if (taken) return "cannot be combined with the other parameters";
  return words.empty() ? "is not a parameter of this route" : must_be(words);
}

}  // namespace stator::app
