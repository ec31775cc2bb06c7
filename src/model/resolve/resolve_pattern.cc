#include <fmt/format.h>

#include <algorithm>

#include "stator/model/resolve/resolver.h"

namespace stator::model {
namespace {

// The index that the query names; the other words of the query are attributes of its key.
void resolve_query(const PatternSyntax& syntax, Pattern& pattern, Resolver& resolver) {
  const auto& table = resolver.model.table;
  if (syntax.index) {
    pattern.index = table.find_index(syntax.index->text);
    if (pattern.index == nullptr)
      return resolver.report.unknown(syntax.index->position, "unknown-index",
                                     fmt::format("the table has no index {}", syntax.index->text), syntax.index->text,
                                     names_of(table.indexes));
  }
  const auto key = table.key_of(pattern.index);
  auto known = names_of(key.partition);
  for (const auto& attribute : key.sort) known.push_back(attribute.name);
  for (const auto& word : syntax.key_attributes) {
    if (std::find(known.begin(), known.end(), word.text) != known.end()) continue;
    resolver.report.unknown(
        word.position, "unknown-key",
        fmt::format("{} is not in the key of {}, which is {}", word.text,
                    pattern.index != nullptr ? pattern.index->name : "the table", spelled_out(known)),
        word.text, known);
  }
}

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

// An expression over returned rows reads attributes that one of the entities has.
void resolve_row_condition(const Written<Expression>& expression, const Pattern& pattern, Resolver& resolver) {
  const auto entities = returned_entities(pattern);
  if (entities.empty()) return;
  visit_names(expression, [&](const Expression::Node& node, Position position) {
    if (node.op != Expression::Node::Op::Path || node.name == resolver.model.table.type_attribute) return;
    const auto has = [&](const Entity* entity) { return entity->find_attribute(node.name) != nullptr; };
    const auto found = std::find_if(entities.begin(), entities.end(), has);
    if (found != entities.end()) return resolver.need_path(**found, node.name, node.steps, position);
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

void resolve_nest(const NestSyntax& names, Nest& nest, Resolver& resolver) {
  nest.parent = names.parent ? resolver.need_entity(*names.parent) : nullptr;
  for (const auto& child_name : names.children) {
    const Entity* child = resolver.need_entity(child_name);
    const bool is_related = child != nullptr && nest.parent != nullptr && names.relation;
    const Parent* relation = is_related ? resolver.need_parent(*child, *names.relation) : nullptr;
    nest.children.push_back({.entity = child, .through = relation});
  }
}

void resolve_join(const JoinSyntax& names, Join& join, const Pattern& pattern, Resolver& resolver) {
  if (!names.relation) return;
  const auto entities = returned_entities(pattern);
  std::vector<std::string_view> known;
  for (const Entity* entity : entities) {
    for (const auto& parent : entity->parents) known.push_back(parent.name);
    const Parent* parent = entity->find_parent(names.relation->text);
    if (parent == nullptr) continue;
    join.returned.push_back({.entity = entity, .through = parent});
    if (parent->to == nullptr) continue;
    for (const auto& attribute : names.attributes) resolver.need_attribute(*parent->to, attribute);
  }
  if (join.returned.empty() && !entities.empty())
    resolver.report.unknown(
        names.relation->position, "unknown-relation",
        fmt::format("no entity that {} returns has a parent called {}", pattern.name, names.relation->text),
        names.relation->text, known);
}

// ---------------------------------------------------------------------------------------------------------- parameters

// Whether a name is known from the entity that a pattern works within, once that has been found by the rest of its key.
bool is_given_by(const Entity& within, const std::string& name) {
  const Attribute* attribute = within.find_attribute(name);
  const bool finds_it = name != within.owner && within.is_named_by(name);
  // Derived parts of the key are found by their sources.
  return attribute != nullptr && (!finds_it || attribute->derived);
}

// Adds parameters that are attributes of returned entities, and reports unknown names.
void infer_parameters(const std::vector<ParameterUse>& uses, Pattern& pattern, Report& report) {
  const Entity* within = pattern.within;
  auto entities = returned_entities(pattern);
  if (within != nullptr) entities.push_back(within);
  const auto find = [&](std::string_view name) {
    return std::find_if(pattern.parameters.begin(), pattern.parameters.end(),
                        [&](const Attribute& parameter) { return parameter.name == name; });
  };
  for (const auto& use : uses) {
    const auto known = find(use.name);
    if (known != pattern.parameters.end()) {
      const bool is_needed = use.where != ParameterUse::Where::Elsewhere;
      known->required = known->required || (is_needed && !known->default_value);
      continue;
    }
    if (within != nullptr && use.where != ParameterUse::Where::Route && is_given_by(*within, use.name)) continue;
    const Attribute* attribute = nullptr;
    std::vector<std::string_view> names;
    for (const Entity* entity : entities) {
      if (attribute == nullptr) attribute = entity->find_attribute(use.name);
      for (const auto& candidate : entity->attributes) names.push_back(candidate.name);
    }
    if (attribute == nullptr) {
      report.unknown(use.position, "unknown-parameter",
                     fmt::format("{} is unknown: no entity that {} returns has such an attribute, and "
                                 "`parameters` does not list it",
                                 use.name, pattern.name),
                     use.name, names);
      continue;
    }
    pattern.parameters.push_back(parameter_from(*attribute, true, use.position));
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

void resolve_pattern(const PatternSyntax& syntax, Pattern& pattern, Resolver& resolver) {
  resolve_query(syntax, pattern, resolver);
  resolve_returns(syntax.returns, pattern, resolver);
  for (const Entity* entity : returned_entities(pattern)) {
    for (const auto& attribute : syntax.sorted_by) resolver.need_attribute(*entity, attribute);
  }
  for (const auto& condition : syntax.row_conditions) resolve_row_condition(condition, pattern, resolver);
  if (syntax.nest) resolve_nest(*syntax.nest, *pattern.nest, resolver);
  for (std::size_t i = 0; i < syntax.joins.size(); ++i)
    resolve_join(syntax.joins[i], pattern.joins[i], pattern, resolver);
  if (syntax.within) pattern.within = resolver.need_entity(*syntax.within);
  infer_parameters(syntax.uses, pattern, resolver.report);
  pattern.own_access = syntax.has_access;
  if (syntax.has_access) {
    pattern.access.grants = resolver.need_grants(syntax.grants);
  } else {
    pattern.access = infer_access(pattern);
  }
}

}  // namespace stator::model
