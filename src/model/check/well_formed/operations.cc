#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "stator/model/check/well_formed/well_formed.h"

namespace stator::model {
namespace {

// What every list takes beside its own parameters.
constexpr std::array<std::string_view, 2> kPageParameters{"limit", "nextToken"};

void check_parameters(const Pattern& pattern, Report& report) {
  for (const auto& parameter : pattern.parameters) {
    const bool is_taken =
        std::find(kPageParameters.begin(), kPageParameters.end(), parameter.name) != kPageParameters.end() ||
        (pattern.order == Order::Asked && parameter.name == "order");
    if (is_taken)
      report.error(parameter.position, "reserved-name",
                   fmt::format("{} means something else in the query string of every list", parameter.name));
  }
}

bool assigns(const std::vector<Assignment>& assignments, const std::string& attribute) {
  return std::any_of(assignments.begin(), assignments.end(),
                     [&](const Assignment& assignment) { return assignment.attribute == attribute; });
}

// A read needs all that names the entity.
void check_key(const Model& model, const Step& step, const Entity& entity, Report& report) {
  for (const auto& name : entity.identity(model.table)) {
    if (name != entity.owner && !assigns(step.key, name))
      report.error(step.position, "missing-key",
                   fmt::format("the key of {} is made from {}, which `key` does not give", entity.name, name),
                   fmt::format("{}: \":{}\"", name, name));
  }
}

// A create that leaves out what is required fails every time.
void check_complete(const Step& step, const Entity& entity, Report& report) {
  for (const auto& attribute : entity.attributes) {
    const bool is_filled = attribute.default_value || attribute.generated != Generated::No || attribute.updated ||
                           attribute.derived || attribute.count || attribute.sum || attribute.copy_of ||
                           attribute.next || attribute.name == entity.owner;
    if (attribute.required && !assigns(step.set, attribute.name) && !is_filled)
      report.error(step.position, "missing-attribute",
                   fmt::format("{}.{} is required, and `set` does not give it", entity.name, attribute.name),
                   fmt::format("{}: \"...\"", attribute.name));
  }
}

}  // namespace

void check_operations(const Model& model, Report& report) {
  for (const auto& pattern : model.patterns) check_parameters(pattern, report);
  for (const auto& action : model.actions) {
    for (const auto& step : action.steps) {
      for (const auto* entity : step.entities) {
        if (step.kind == Step::Kind::Read) check_key(model, step, *entity, report);
        if (step.kind == Step::Kind::Create) check_complete(step, *entity, report);
      }
    }
  }
}

}  // namespace stator::model
