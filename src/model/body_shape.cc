#include "stator/model/body_shape.h"

#include <algorithm>
#include <string>

namespace stator::model {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool is_of_soft_deletion(const Entity& entity, const Attribute& attribute) {
  return entity.soft_delete &&
         (entity.soft_delete->attribute == attribute.name || entity.soft_delete->at == attribute.name);
}

// Whether no key of the entity can be made without the attribute: all alternatives have it.
bool is_in_every_key(const TableDesign& table, const Entity& entity, const std::string& name) {
  const auto needs = [&](const KeyDesign& key) {
    const auto* rule = entity.main().find_key(key.name);
    if (rule == nullptr) return key.name == name;
    return std::all_of(rule->alternatives.begin(), rule->alternatives.end(),
                       [&](const KeyTemplate& one) { return contains(one.text.attributes(), name); });
  };
  return needs(table.partition) || (table.sort && needs(*table.sort));
}

// Whether the request that creates an entity must have it.
bool must_be_given(const Model& model, const Entity& entity, const Attribute& attribute) {
  if (attribute.default_value || attribute.next || entity.owner == attribute.name) return false;
  return attribute.required || is_in_every_key(model.table, entity, attribute.name);
}

// Calls `visit` with each step that creates such an entity, and its action, until it returns false.
template <typename Visit>
bool all_creating_steps(const Model& model, const Entity& entity, const Visit& visit) {
  return std::all_of(model.actions.begin(), model.actions.end(), [&](const Action& action) {
    return std::all_of(action.steps.begin(), action.steps.end(), [&](const Step& step) {
      const bool creates = step.kind == Step::Kind::Create && step.entities.front() == &entity;
      return !creates || visit(action, step);
    });
  });
}

bool assigns(const Step& step, const std::string& name) {
  return std::any_of(step.set.begin(), step.set.end(), [&](const Assignment& one) { return one.attribute == name; });
}

// Whether all who create the entity are known, and are its owners or those who granted it.
bool is_owner_of_all(const Model& model, const Entity& entity, const Attribute& attribute) {
  if (entity.owner != attribute.name || attribute.copy_of || entity.create.anyone) return false;
  return all_creating_steps(model, entity, [&](const Action& action, const Step& step) {
    return !action.access.anyone || assigns(step, attribute.name);
  });
}

// Whether the path of every request that creates the entity names it.
bool is_in_every_address(const Model& model, const Entity& entity, const Attribute& attribute) {
  const bool created = entity.has_operation("create"), put = entity.has_operation("put");
  if (!created && !put) return false;
  if (created && !has_parameter(entity.collection_path(), attribute.name)) return false;
  if (put && !has_parameter(entity.path, attribute.name)) return false;
  return all_creating_steps(model, entity,
                            [&](const Action&, const Step& step) { return assigns(step, attribute.name); });
}

bool can_be_cleared(const Entity& entity, const Attribute& attribute) {
  return std::any_of(entity.parents.begin(), entity.parents.end(),
                     [&](const Parent& relation) { return contains(relation.clear, attribute.name); });
}

}  // namespace

bool has_parameter(std::string_view path, std::string_view name) {
  for (auto at = path.find(name); at != std::string_view::npos; at = path.find(name, at + 1)) {
    const auto end = at + name.size();
    if (at > 0 && path[at - 1] == '{' && end < path.size() && path[end] == '}') return true;
  }
  return false;
}

std::vector<BodyMember> body_members(const Model& model, const Entity& entity, BodyOf of) {
  const auto address = of == BodyOf::Create ? entity.collection_path() : entity.path;
  std::vector<BodyMember> members;
  for (const auto& attribute : entity.attributes) {
    if (attribute.computed() || is_of_soft_deletion(entity, attribute) || has_parameter(address, attribute.name)) {
      continue;
    }
    const bool fixed = attribute.immutable || entity.owner == attribute.name || entity.is_named_by(attribute.name);
    if (of == BodyOf::Update && fixed) continue;
    const bool can_be_empty = !attribute.required || attribute.default_value || attribute.next;
    members.push_back({.attribute = &attribute,
                       .required = of == BodyOf::Create && must_be_given(model, entity, attribute),
                       .nullable = of != BodyOf::Create && !fixed && can_be_empty,
                       .owner = entity.owner == attribute.name});
  }
  std::stable_partition(members.begin(), members.end(), [](const BodyMember& member) { return !member.owner; });
  return members;
}

bool is_always_served(const Model& model, const Entity& entity, const Attribute& attribute) {
  if (!is_served(attribute) || attribute.when_read) return false;
  if (can_be_cleared(entity, attribute) && !attribute.default_value) return false;
  if (is_owner_of_all(model, entity, attribute) || is_in_every_address(model, entity, attribute)) return true;
  const bool names_it = entity.is_named_by(attribute.name);
  if (names_it && is_in_every_key(model.table, entity, attribute.name)) return true;
  const bool named_by_some_keys =
      names_it && !attribute.required && !attribute.default_value && attribute.generated == Generated::No;
  if (attribute.last || (attribute.next && attribute.next->in_every_row())) return true;
  const bool may_have_no_number = attribute.next && !attribute.default_value;
  return !named_by_some_keys && !may_have_no_number && attribute.always_there;
}

}  // namespace stator::model
