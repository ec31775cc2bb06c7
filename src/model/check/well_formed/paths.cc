#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "stator/model/check/well_formed/well_formed.h"

// Paths lead into lists and maps.
namespace stator::model {
namespace {

// A member that a map does not have has been reported as an unknown name.
void check_inside(const Type& type, const std::string& what, std::span<const PathStep> steps, Position position,
                  Report& report) {
  if (steps.empty() || type.kind == Kind::Any) return;
  if (const auto* index = std::get_if<std::size_t>(&steps.front())) {
    if (type.kind != Kind::List)
      return report.error(position, "wrong-type", fmt::format("{} is not a list, so it has no [{}]", what, *index));
    if (type.element)
      check_inside(*type.element, fmt::format("{}[{}]", what, *index), steps.subspan(1), position, report);
    return;
  }
  const auto& member = std::get<std::string>(steps.front());
  if (type.kind != Kind::Map)
    return report.error(position, "wrong-type", fmt::format("{} is not a map, so there is no {} in it", what, member));
  const auto inside = std::find_if(type.shape.begin(), type.shape.end(),
                                   [&](const Attribute& candidate) { return candidate.name == member; });
  if (inside != type.shape.end())
    check_inside(inside->type, fmt::format("{}.{}", what, member), steps.subspan(1), position, report);
}

}  // namespace

void check_paths(const Syntax& syntax, Report& report) {
  for (const auto& path : syntax.paths) {
    if (path.attribute == nullptr)
      report.error(path.position, "wrong-type", fmt::format("{} is an entity, not a list", path.what));
    else
      check_inside(path.attribute->type, path.what, path.steps, path.position, report);
  }
}

}  // namespace stator::model
