#include <fmt/format.h>

#include <algorithm>

#include "stator/model/syntax/parse.h"

namespace stator::model {
namespace {

bool is_literal(std::string_view part) {
  return !part.empty() && part != "." && part != ".." && std::all_of(part.begin(), part.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.' || c == '~';
  });
}

// The name in "{name}"; nullopt when it is something else.
std::optional<std::string_view> hole(std::string_view part) {
  if (part.size() < 3 || part.front() != '{' || part.back() != '}') return std::nullopt;
  const auto name = part.substr(1, part.size() - 2);
  return is_name(name) ? std::optional(name) : std::nullopt;
}

// The pieces of `text` between separators, from `begin` on, each with its offset.
std::vector<std::pair<std::string_view, std::size_t>> split(std::string_view text, char separator, std::size_t begin) {
  std::vector<std::pair<std::string_view, std::size_t>> parts;
  for (std::size_t start = begin; start <= text.size();) {
    const auto end = std::min(text.find(separator, start), text.size());
    parts.emplace_back(text.substr(start, end - start), start);
    start = end + 1;
  }
  return parts;
}

}  // namespace

std::string route_shape(std::string_view method, std::string_view path) {
  const auto question = std::min(path.find('?'), path.size());
  std::string shape = fmt::format("{} ", method);
  for (const auto& [part, offset] : split(path.substr(0, question), '/', 1)) {
    shape += '/';
    shape += hole(part) ? "{}" : part;
  }
  if (question < path.size()) {
    std::vector<std::string> query;
    for (const auto& [part, offset] : split(path, '&', question + 1)) {
      const auto equals = part.find('=');
      query.push_back(hole(part.substr(equals + 1)) ? fmt::format("{}={{}}", part.substr(0, equals))
                                                    : std::string(part));
    }
    std::sort(query.begin(), query.end());
    shape += fmt::format("?{}", fmt::join(query, "&"));
  }
  return shape;
}

std::optional<RouteSyntax> parse_route(const YamlNode& node, QueryString query, Report& report) {
  const auto text = read_text(node, "a route", report);
  if (!text) return std::nullopt;
  RouteSyntax route{.text = *text, .parameters = {}};
  const std::string_view path = route.text.text;
  bool ok = true;
  const auto refuse = [&](std::size_t offset, std::string message) {
    report.error(text->at(offset), "bad-route", std::move(message));
    ok = false;
  };
  const auto take = [&](std::string_view name, std::size_t offset) {
    if (std::find(route.parameters.begin(), route.parameters.end(), name) != route.parameters.end())
      refuse(offset, fmt::format("{{{}}} is in the route twice", name));
    route.parameters.emplace_back(name);
  };
  if (!path.starts_with('/')) {
    refuse(0, fmt::format("a route begins with a slash: \"{}\" does not", path));
    return std::nullopt;
  }
  const auto question = std::min(path.find('?'), path.size());
  for (const auto& [part, offset] : split(path.substr(0, question), '/', 1)) {
    if (const auto name = hole(part)) {
      take(*name, offset);
    } else if (!is_literal(part)) {
      refuse(offset, fmt::format("a part of a route is a word or one {{name}}; \"{}\" is neither", part));
    }
  }
  if (question < path.size() && query == QueryString::Refused) {
    refuse(question, "only the route of a pattern has a query string");
  } else if (question < path.size()) {
    for (const auto& [part, offset] : split(path, '&', question + 1)) {
      const auto equals = part.find('=');
      const auto key = part.substr(0, equals);
      const auto value = equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1);
      const auto name = hole(value);
      if (name && is_name(key)) {
        take(*name, offset + equals + 1);
      } else if (!is_name(key) || !is_literal(value)) {
        refuse(offset, fmt::format("a query string has name={{name}} or name=word; \"{}\" is neither", part));
      }
    }
  }
  return ok ? std::optional(std::move(route)) : std::nullopt;
}

}  // namespace stator::model
