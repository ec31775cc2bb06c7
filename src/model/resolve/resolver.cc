#include "stator/model/resolve/resolver.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace stator::model {
namespace {

// Reports a path that leads to something which values of that type do not have.
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
  if (type.shape.empty()) return;
  const auto inside = std::find_if(type.shape.begin(), type.shape.end(),
                                   [&](const Attribute& candidate) { return candidate.name == member; });
  if (inside == type.shape.end())
    return report.unknown(position, "unknown-attribute", fmt::format("there is no {} in {}", member, what), member,
                          names_of(type.shape));
  check_inside(inside->type, fmt::format("{}.{}", what, member), steps.subspan(1), position, report);
}

std::string_view instead_of(Function generator) {
  switch (generator) {
    case Function::Now: return "an attribute with `generated: now` has the time of its creation";
    case Function::Uuid: return "an attribute with `generated: uuid` has its own";
    default: return "an attribute with `generated: ulid` has its own";
  }
}

}  // namespace

bool gives(const std::vector<std::string_view>& names, const Entity& entity, std::string_view attribute) {
  std::set<std::string_view> seen;
  const std::function<bool(std::string_view)> is_given = [&](std::string_view name) {
    if (name == entity.owner || std::find(names.begin(), names.end(), name) != names.end()) return true;
    const Attribute* found = entity.find_attribute(name);
    if (found == nullptr || !found->derived) return false;
    if (!seen.insert(found->name).second) return true;  // it is being looked at, or has been
    const auto sources = found->derived->paths();
    return std::all_of(sources.begin(), sources.end(), is_given);
  };
  return is_given(attribute);
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

void Resolver::need_path(const Entity& entity, const std::string& attribute, const std::vector<PathStep>& steps,
                         Position position) {
  const Attribute* found = need_attribute(entity, {.text = attribute, .position = position, .lead = 0});
  if (found != nullptr)
    check_inside(found->type, fmt::format("{} of {}", attribute, entity.name), steps, position, report);
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
  visit_generators(expression, [&](Function generator, Position position) {
    report.error(position, "wrong-function",
                 fmt::format("{}() is for the steps of actions; {}", name_of(generator), instead_of(generator)));
  });
}

void Resolver::need_stored(const Entity& entity, const Text& name, std::string_view user) {
  const Attribute* attribute = entity.find_attribute(name.text);
  if (attribute != nullptr && !is_stored(*attribute))
    report.error(name.position, "not-stored",
                 fmt::format("{} is not stored, so {} cannot depend on it", name.text, user),
                 attribute->when_read ? attribute->derived->text() : std::string());
}

void Resolver::need_stored(const Entity& entity, const Written<Expression>& expression, std::string_view user) {
  visit_names(expression, [&](const Expression::Node& node, Position position) {
    if (node.op == Expression::Node::Op::Path)
      need_stored(entity, {.text = node.name, .position = position, .lead = 0}, user);
  });
}

}  // namespace stator::model
