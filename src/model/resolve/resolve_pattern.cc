#include <fmt/format.h>

#include <algorithm>

#include "stator/model/resolve/resolver.h"

namespace stator::model {
namespace {

void resolve_returns(const NamePairs& returns, Pattern& pattern, Resolver& resolver) {
  for (const auto& [entity_name, record_name] : returns) {
    const Entity* entity = resolver.need_entity(entity_name);
    if (entity == nullptr) continue;
    const Record* record = record_name.text.empty() ? &entity->main() : entity->find_record(record_name.text);
    if (record == nullptr) {
      resolver.report.unknown(record_name.position, "unknown-record",
                              fmt::format("{} has no record {}", entity->name, record_name.text), record_name.text,
                              names_of(entity->records));
      continue;
    }
    const bool is_repeated = std::any_of(pattern.returns.begin(), pattern.returns.end(),
                                         [&](const Returned& earlier) { return earlier.record == record; });
    if (is_repeated)
      resolver.report.error(entity_name.position, "repeated-word", fmt::format("{} is returned twice", entity->name));
    pattern.returns.push_back({.entity = entity, .record = record, .position = entity_name.position});
  }
}

// The returned entities, each once.
std::vector<const Entity*> returned_entities(const Pattern& pattern) {
  std::vector<const Entity*> entities;
  for (const auto& returned : pattern.returns) {
    if (std::find(entities.begin(), entities.end(), returned.entity) == entities.end())
      entities.push_back(returned.entity);
  }
  return entities;
}

// Whether one of the rows that a pattern returns has the attribute in it.
bool returns_attribute(const Pattern& pattern, const std::string& name) {
  return std::any_of(pattern.returns.begin(), pattern.returns.end(), [&](const Returned& returned) {
    const auto& held = returned.record->attributes;
    const Attribute* attribute = returned.entity->find_attribute(name);
    return attribute != nullptr && is_stored(*attribute) &&
           (held.empty() || std::find(held.begin(), held.end(), name) != held.end());
  });
}

// An expression over returned rows reads attributes that one of the entities has, and one of the rows.
void resolve_row_condition(const Written<Expression>& expression, const Pattern& pattern, Resolver& resolver) {
  const auto entities = returned_entities(pattern);
  if (entities.empty()) return;
  visit_names(expression, [&](const Expression::Node& node, Position position) {
    if (node.op != Expression::Node::Op::Path || node.name == resolver.model.table.type_attribute) return;
    const auto has = [&](const Entity* entity) { return entity->find_attribute(node.name) != nullptr; };
    const auto found = std::find_if(entities.begin(), entities.end(), has);
    if (found != entities.end()) {
      resolver.need_path(**found, node.name, node.steps, position);
      if (!returns_attribute(pattern, node.name))
        resolver.report.error(
            position, "not-stored",
            fmt::format("no row that {} returns holds {}, so none can be chosen by it", pattern.name, node.name));
      return;
    }
    std::vector<std::string_view> known;
    for (const Entity* entity : entities) {
      for (const auto& attribute : entity->attributes) known.push_back(attribute.name);
    }
    resolver.report.unknown(position, "unknown-attribute",
                            fmt::format("no entity that {} returns has an attribute {}", pattern.name, node.name),
                            node.name, known);
  });
}

// --------------------------------------------------------------------------------------------------- nesting and joins

void resolve_nest(const NestSyntax& names, Pattern& pattern, Resolver& resolver) {
  Report& report = resolver.report;
  Nest& nest = *pattern.nest;
  const auto need_returned = [&](const Text& name) -> const Entity* {
    const Entity* entity = resolver.need_entity(name);
    const bool is_returned = std::any_of(pattern.returns.begin(), pattern.returns.end(),
                                         [&](const Returned& returned) { return returned.entity == entity; });
    if (entity != nullptr && !is_returned)
      report.error(name.position, "not-returned",
                   fmt::format("{} does not return {}, so it cannot nest it", pattern.name, name.text));
    return entity;
  };
  nest.parent = names.parent ? need_returned(*names.parent) : nullptr;
  if (nest.parent != nullptr && names.as && nest.parent->find_attribute(names.as->text) != nullptr)
    report.error(names.as->position, "contradiction",
                 fmt::format("{} has an attribute {} already", nest.parent->name, names.as->text));
  for (const auto& child_name : names.children) {
    const Entity* child = need_returned(child_name);
    if (child == nullptr || nest.parent == nullptr || !names.relation) continue;
    const Parent* relation = child->find_parent(names.relation->text);
    nest.children.push_back({.entity = child, .through = relation});
    if (relation == nullptr) {
      report.unknown(names.relation->position, "unknown-relation",
                     fmt::format("{} has no parent called {}", child->name, names.relation->text), names.relation->text,
                     names_of(child->parents));
    } else if (relation->to != nest.parent) {
      report.error(names.relation->position, "wrong-relation",
                   fmt::format("{}.{} leads to {}, not to {}", child->name, relation->name, relation->entity,
                               nest.parent->name));
    }
  }
}

void resolve_join(const JoinSyntax& join, const Pattern& pattern, Resolver& resolver) {
  if (!join.relation) return;
  const auto entities = returned_entities(pattern);
  std::vector<std::string_view> known;
  bool is_found = false;
  for (const Entity* entity : entities) {
    for (const auto& parent : entity->parents) known.push_back(parent.name);
    const Parent* parent = entity->find_parent(join.relation->text);
    if (parent == nullptr) continue;
    is_found = true;
    if (parent->to == nullptr) continue;
    for (const auto& attribute : join.attributes) resolver.need_attribute(*parent->to, attribute);
  }
  if (!is_found && !entities.empty())
    resolver.report.unknown(
        join.relation->position, "unknown-relation",
        fmt::format("no entity that {} returns has a parent called {}", pattern.name, join.relation->text),
        join.relation->text, known);
}

// ---------------------------------------------------------------------------------------------------------- parameters

// Whether a name is known from the entity that a pattern works within, once that has been found by the rest of its key.
bool is_given_by(const Entity& within, const std::string& name, const TableDesign& table) {
  const auto identity = within.identity(table);
  const Attribute* attribute = within.find_attribute(name);
  const bool finds_it = name != within.owner && std::find(identity.begin(), identity.end(), name) != identity.end();
  // What a part of the key is derived from finds it as well.
  return attribute != nullptr && (!finds_it || attribute->derived);
}

// Completes the parameters with those that are attributes of what is returned, and reports names that nothing explains.
void infer_parameters(const std::vector<ParameterUse>& uses, const Entity* within, Pattern& pattern,
                      Resolver& resolver) {
  Report& report = resolver.report;
  auto entities = returned_entities(pattern);
  if (within != nullptr) entities.push_back(within);
  const auto find = [&](std::string_view name) {
    return std::find_if(pattern.parameters.begin(), pattern.parameters.end(),
                        [&](const Attribute& parameter) { return parameter.name == name; });
  };
  for (const auto& parameter : pattern.parameters) {
    const bool is_used =
        std::any_of(uses.begin(), uses.end(), [&](const ParameterUse& use) { return use.name == parameter.name; });
    if (!is_used)
      report.error(parameter.position, "unused-parameter",
                   fmt::format("{} is in no route, key or filter of {}", parameter.name, pattern.name));
  }
  for (const auto& use : uses) {
    const auto known = find(use.name);
    if (known != pattern.parameters.end()) {
      const bool is_needed = use.where != ParameterUse::Where::Elsewhere;
      known->required = known->required || (is_needed && !known->default_value);
      continue;
    }
    if (within != nullptr && use.where != ParameterUse::Where::Route &&
        is_given_by(*within, use.name, resolver.model.table))
      continue;
    const Attribute* attribute = nullptr;
    std::vector<std::string_view> names;
    for (const Entity* entity : entities) {
      if (attribute == nullptr) attribute = entity->find_attribute(use.name);
      for (const auto& candidate : entity->attributes) names.push_back(candidate.name);
    }
    if (attribute == nullptr) {
      report.unknown(use.position, "unknown-parameter",
                     fmt::format("nothing says what {} is: no entity that {} returns has such an attribute, and "
                                 "`parameters` does not list it",
                                 use.name, pattern.name),
                     use.name, names);
      continue;
    }
    Attribute parameter;
    parameter.name = attribute->name;
    parameter.description = attribute->description;
    parameter.type = attribute->type;
    parameter.required = true;
    parameter.position = use.position;
    pattern.parameters.push_back(std::move(parameter));
  }
}

// Without a word of its own, a pattern is for those who may read everything it returns.
Access infer_access(const Pattern& pattern) {
  Access access;
  const auto entities = returned_entities(pattern);
  for (std::size_t i = 0; i < entities.size(); ++i)
    access = i == 0 ? entities[i]->read : intersection(access, entities[i]->read);
  return access;
}

}  // namespace

const Entity* resolve_within(const Text& entity_name, const std::vector<Attribute>& parameters, Resolver& resolver) {
  const Entity* entity = resolver.need_entity(entity_name);
  if (entity == nullptr) return nullptr;
  for (const auto& name : entity->identity(resolver.model.table)) {
    if (!gives(names_of(parameters), *entity, name))
      resolver.report.error(entity_name.position, "within-unnamed",
                            fmt::format("the key of {} is made from {}, which nothing here gives", entity->name, name),
                            fmt::format("{{{}}}, in the route", name));
  }
  return entity;
}

void resolve_pattern(const PatternSyntax& syntax, Pattern& pattern, Resolver& resolver) {
  resolve_returns(syntax.returns, pattern, resolver);
  for (const Entity* entity : returned_entities(pattern)) {
    for (const auto& attribute : syntax.sorted_by) resolver.need_attribute(*entity, attribute);
  }
  for (const auto& condition : syntax.row_conditions) resolve_row_condition(condition, pattern, resolver);
  if (syntax.nest) resolve_nest(*syntax.nest, pattern, resolver);
  for (const auto& join : syntax.joins) resolve_join(join, pattern, resolver);
  infer_parameters(syntax.uses, syntax.within ? resolver.model.find_entity(syntax.within->text) : nullptr, pattern,
                   resolver);
  if (syntax.within) pattern.within = resolve_within(*syntax.within, pattern.parameters, resolver);
  pattern.own_access = syntax.has_access;
  if (!syntax.has_access) pattern.access = infer_access(pattern);
}

}  // namespace stator::model
