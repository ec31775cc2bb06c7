#include "stator/model/resolve/resolver.h"

#include <fmt/format.h>

#include <algorithm>

namespace stator::model {
namespace {

// Reports a member that a map of that shape does not have.
void need_members(const Type& type, const std::string& what, std::span<const PathStep> steps, Position position,
                  Report& report) {
  if (steps.empty()) return;
  if (const auto* index = std::get_if<std::size_t>(&steps.front())) {
    if (type.kind == Kind::List && type.element)
      need_members(*type.element, fmt::format("{}[{}]", what, *index), steps.subspan(1), position, report);
    return;
  }
  const auto& member = std::get<std::string>(steps.front());
  if (type.kind != Kind::Map || type.shape.empty()) return;
  const auto inside = std::find_if(type.shape.begin(), type.shape.end(),
                                   [&](const Attribute& candidate) { return candidate.name == member; });
  if (inside == type.shape.end())
    return report.unknown(position, "unknown-attribute", fmt::format("there is no {} in {}", member, what), member,
                          names_of(type.shape));
  need_members(inside->type, fmt::format("{}.{}", what, member), steps.subspan(1), position, report);
}

}  // namespace

Attribute parameter_from(const Attribute& attribute, bool required, Position position) {
  Attribute parameter;
  parameter.name = attribute.name;
  parameter.description = attribute.description;
  parameter.type = attribute.type;
  parameter.required = required;
  parameter.position = position;
  return parameter;
}

const Entity* Resolver::need_entity(const Text& name) {
  const Entity* found = model.find_entity(name.text);
  if (found == nullptr)
    report.unknown(name.position, "unknown-entity", fmt::format("there is no entity {}", name.text), name.text,
                   names_of(model.entities));
  return found;
}

const Attribute* Resolver::need_attribute(const Entity& entity, const Text& name) {
  const Attribute* found = entity.find_attribute(name.text);
  if (found == nullptr)
    report.unknown(name.position, "unknown-attribute", fmt::format("{} has no attribute {}", entity.name, name.text),
                   name.text, names_of(entity.attributes));
  return found;
}

const Parent* Resolver::need_parent(const Entity& entity, const Text& relation) {
  const Parent* found = entity.find_parent(relation.text);
  if (found == nullptr)
    report.unknown(relation.position, "unknown-relation",
                   fmt::format("{} has no parent called {}", entity.name, relation.text), relation.text,
                   names_of(entity.parents));
  return found;
}

void Resolver::need_path(const Entity& entity, const std::string& attribute, const std::vector<PathStep>& steps,
                         Position position) {
  const Attribute* found = need_attribute(entity, {.text = attribute, .position = position, .lead = 0});
  if (found == nullptr || steps.empty()) return;
  paths.push_back({.what = fmt::format("{} of {}", attribute, entity.name),
                   .attribute = found,
                   .steps = steps,
                   .position = position});
  need_members(found->type, paths.back().what, steps, position, report);
}

void Resolver::need_attributes(const Entity& entity, const Written<Template>& text) {
  for (const auto& path : text.value.attributes()) {
    std::vector<PathStep> steps;
    const auto first_dot = std::min(path.find('.'), path.size());
    for (auto at = first_dot; at < path.size();) {
      const auto end = std::min(path.find('.', at + 1), path.size());
      steps.emplace_back(path.substr(at + 1, end - at - 1));
      at = end;
    }
    need_path(entity, path.substr(0, first_dot), steps, place_in_template(text.source, path));
  }
}

void Resolver::need_attributes(const Entity& entity, const Written<Expression>& expression) {
  visit_names(expression, [&](const Expression::Node& node, Position position) {
    if (node.op == Expression::Node::Op::Path) return need_path(entity, node.name, node.steps, position);
    report.error(
        position, "unknown-input",
        fmt::format("there are no inputs here, so :{} stands for nothing; an attribute is written without colon",
                    node.name),
        entity.find_attribute(node.name) != nullptr ? node.name : std::string());
  });
}

}  // namespace stator::model
