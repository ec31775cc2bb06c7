#include "stator/model/loading.h"

#include <fmt/format.h>

#include <algorithm>

#include "stator/base/assert.h"

namespace stator::model {
namespace {

template <typename T>
T& member_called(std::vector<T>& list, std::string_view name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const T& member) { return member.name == name; });
  STATOR_ASSERT(found != list.end(), "what has been read is in the model");
  return *found;
}

}  // namespace

void Loading::run_rounds() {
  for (const auto& work : types_) work();
  for (const auto& work : names_) work();
}

Entity& Loading::entity(std::string_view name) { return member_called(model.entities, name); }
Pattern& Loading::pattern(std::string_view name) { return member_called(model.patterns, name); }
Action& Loading::action(std::string_view name) { return member_called(model.actions, name); }

const Entity* Loading::need_entity(const Text& name) {
  const Entity* found = model.find_entity(name.text);
  if (found == nullptr)
    report.unknown(name.position, "unknown-entity", fmt::format("there is no entity {}", name.text), name.text,
                   names_of(model.entities));
  return found;
}

const Attribute* Loading::need_attribute(const Entity& entity, const Text& name) {
  const Attribute* found = entity.find_attribute(name.text);
  if (found == nullptr)
    report.unknown(name.position, "unknown-attribute", fmt::format("{} has no attribute {}", entity.name, name.text),
                   name.text, names_of(entity.attributes));
  return found;
}

const Attribute* Loading::need_path(const Entity& entity, std::string_view path, Position position) {
  const auto dot = path.find('.');
  const Attribute* found =
      need_attribute(entity, {.text = std::string(path.substr(0, dot)), .position = position, .lead = 0});
  std::string_view rest = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  while (found != nullptr && !rest.empty()) {
    const auto next = rest.find('.');
    const std::string_view member = rest.substr(0, next);
    rest = next == std::string_view::npos ? std::string_view() : rest.substr(next + 1);
    const Type& type = found->type;
    if (type.kind == Kind::Any || (type.kind == Kind::Map && type.shape.empty()))
      return found;  // anything may be inside
    const auto inside = std::find_if(type.shape.begin(), type.shape.end(),
                                     [&](const Attribute& candidate) { return candidate.name == member; });
    if (inside == type.shape.end()) {
      report.unknown(position, "unknown-attribute",
                     fmt::format("there is no {} in {} of {}", member, found->name, entity.name), member,
                     names_of(type.shape));
      return nullptr;
    }
    found = &*inside;
  }
  return found;
}

void Loading::need_attributes(const Entity& entity, const Written<Template>& text) {
  for (const auto& path : text.value.attributes()) need_path(entity, path, place_in_template(text.source, path));
}

void Loading::need_attributes(const Entity& entity, const Written<Expression>& expression) {
  for (const auto& name : expression.value.paths())
    need_attribute(entity, {.text = name, .position = place_in_expression(expression.source, name), .lead = 0});
  for (const auto& input : expression.value.inputs()) {
    report.error(
        place_in_expression(expression.source, fmt::format(":{}", input)), "unknown-input",
        fmt::format("there are no inputs here, so :{} stands for nothing; an attribute is written without colon",
                    input),
        entity.find_attribute(input) != nullptr ? input : std::string());
  }
}

}  // namespace stator::model
