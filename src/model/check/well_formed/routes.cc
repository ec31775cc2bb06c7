#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "stator/model/check/well_formed/well_formed.h"
#include "stator/model/syntax/syntax.h"

namespace stator::model {
namespace {

struct Routed {
  std::string method;
  std::string path;
  std::string what;
  Position position;
};

}  // namespace

void check_routes(const Model& model, Report& report) {
  std::vector<Routed> routes;
  for (const auto& entity : model.entities) {
    for (auto& [operation, method, path] : entity.routes()) {
      routes.push_back({.method = std::string(method),
                        .path = std::move(path),
                        .what = fmt::format("{} of {}", operation, entity.name),
                        .position = entity.position});
    }
  }
  for (const auto& pattern : model.patterns) {
    if (!pattern.path.empty())
      routes.push_back({.method = "GET", .path = pattern.path, .what = pattern.name, .position = pattern.position});
  }
  for (const auto& action : model.actions) {
    if (!action.path.empty())
      routes.push_back(
          {.method = action.method, .path = action.path, .what = action.name, .position = action.position});
  }
  std::map<std::string, const Routed*> taken;
  for (const auto& route : routes) {
    const auto [earlier, first] = taken.emplace(route_shape(route.method, route.path), &route);
    if (!first)
      report.error(route.position, "same-route",
                   fmt::format("{} and {} would both answer {} {}", route.what, earlier->second->what, route.method,
                               route.path));
  }
}

}  // namespace stator::model
