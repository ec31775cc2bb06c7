#include "stator/model/resolve/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stator/model/next_place.h"
#include "stator/model/resolve/resolver.h"

namespace stator::model {
namespace {

// The model with everything that has a name, so that all names are known from here on.
Model declare(Syntax& syntax, std::string file) {
  Model model;
  model.name = std::move(syntax.name);
  model.description = std::move(syntax.description);
  model.file = std::move(file);
  model.table = std::move(syntax.table.design);
  model.accepted = std::move(syntax.accepted);
  for (auto& grant : syntax.grants) model.grants.push_back(std::move(grant.grant));
  for (auto& entity : syntax.entities) model.entities.push_back(std::move(entity.entity));
  for (auto& pattern : syntax.patterns) model.patterns.push_back(std::move(pattern.pattern));
  for (auto& action : syntax.actions) model.actions.push_back(std::move(action.action));
  return model;
}

// The attributes that name an entity, from the templates of its primary key.
void derive_identity(const TableDesign& table, Entity& entity) {
  const auto add = [&](const std::string& attribute) {
    if (!entity.is_named_by(attribute)) entity.identity.push_back(attribute);
  };
  const auto add_key = [&](const KeyDesign& key) {
    const KeyRule* rule = entity.main().find_key(key.name);
    if (rule == nullptr) return add(key.name);
    for (const auto& alternative : rule->alternatives) {
      for (const auto& attribute : alternative.text.attributes()) add(attribute);
    }
  };
  add_key(table.partition);
  if (table.sort) add_key(*table.sort);
}

// DynamoDB does not take empty text or bytes as a key, so an attribute that is a key needs at least one character or
// byte. A computed attribute that is empty is in no index instead.
void require_content_of_keys(const TableDesign& table, Entity& entity) {
  const auto one = value::Number::from_int(1);
  for_each_key(table, [&](const KeyDesign& key) {
    for (auto& attribute : entity.attributes) {
      const bool can_be_empty = attribute.type.kind == Kind::String || attribute.type.kind == Kind::Binary;
      if (attribute.name != key.name || !can_be_empty || attribute.computed()) continue;
      if (!attribute.type.min || *attribute.type.min < one) attribute.type.min = one;
    }
  });
}

// An attribute that is derived from a count or a sum, directly or not, is not stored: each change of the counter would
// change it.
void mark_when_read(Entity& entity) {
  bool again = true;
  while (std::exchange(again, false)) {
    for (auto& attribute : entity.attributes) {
      if (!attribute.derived || attribute.when_read) continue;
      const auto paths = attribute.derived->paths();
      attribute.when_read = std::any_of(paths.begin(), paths.end(), [&](const std::string& path) {
        const Attribute* read = entity.find_attribute(path);
        return read != nullptr && (read->count || read->sum || read->when_read);
      });
      again = again || attribute.when_read;
    }
  }
}

void resolve_projections(const std::vector<Text>& included, Resolver& resolver) {
  const Model& model = resolver.model;
  std::vector<std::string_view> known;
  for (const auto& entity : model.entities) {
    for (const auto& attribute : entity.attributes) known.push_back(attribute.name);
  }
  for (const auto& name : included) {
    if (std::find(known.begin(), known.end(), name.text) != known.end()) continue;
    if (name.text == model.table.type_attribute || name.text == model.table.version_attribute) continue;
    resolver.report.unknown(name.position, "unknown-attribute",
                            fmt::format("no entity has an attribute {} to project", name.text), name.text, known);
  }
}

// Numbers that are distinct are unique among the rows of their order.
void reserve_numbers(Entity& entity, const Attribute& attribute) {
  const Unique rule{.attributes = {attribute.name},
                    .within = attribute.next->place->scope,
                    .compared = Transform::Escaped,
                    .position = attribute.position};
  const bool known = std::any_of(entity.uniques.begin(), entity.uniques.end(), [&](const Unique& other) {
    return other.attributes == rule.attributes && other.within == rule.within && other.compared == rule.compared;
  });
  if (!known) entity.uniques.push_back(rule);
}

// The patterns in whose order attributes are counted, and where in it.
void resolve_orders(Resolver& resolver) {
  for (auto& entity : resolver.model.entities) {
    for (auto& attribute : entity.attributes) {
      if (!attribute.next || attribute.next->pattern.empty()) continue;
      Next& next = *attribute.next;
      next.order = resolver.model.find_pattern(next.pattern);
      if (next.order == nullptr) {
        resolver.report.unknown(next.position, "unknown-pattern", fmt::format("there is no pattern {}", next.pattern),
                                next.pattern, names_of(resolver.model.patterns));
        continue;
      }
      if (auto place = next_place(resolver.model, entity, attribute)) next.place = std::move(*place);
      if (next.place && next.distinct) reserve_numbers(entity, attribute);
    }
  }
}

// Calls `pass` with each part of the file and its part of the model.
template <typename PartSyntax, typename Part>
void each(const std::vector<PartSyntax>& written, std::vector<Part>& parts,
          void (*pass)(const PartSyntax&, Part&, Resolver&), Resolver& resolver) {
  for (std::size_t i = 0; i < parts.size(); ++i) pass(written[i], parts[i], resolver);
}

}  // namespace

Model resolve(Syntax& syntax, std::string file, Report& report) {
  Model model = declare(syntax, std::move(file));
  Resolver resolver{model, syntax.paths, report};
  // Identities and types must be known before the parts that use them are resolved.
  for (auto& entity : model.entities) {
    derive_identity(model.table, entity);
    entity.owner_attribute = entity.owner ? entity.find_attribute(*entity.owner) : nullptr;
    mark_when_read(entity);
    require_content_of_keys(model.table, entity);
  }
  each(syntax.entities, model.entities, complete_operations, resolver);
  each(syntax.entities, model.entities, resolve_parents, resolver);
  each(syntax.entities, model.entities, resolve_sources, resolver);
  each(syntax.entities, model.entities, complete_copies, resolver);
  resolve_projections(syntax.table.included, resolver);
  each(syntax.entities, model.entities, resolve_granted, resolver);
  each(syntax.grants, model.grants, resolve_grant, resolver);
  each(syntax.entities, model.entities, resolve_entity, resolver);
  each(syntax.patterns, model.patterns, resolve_pattern, resolver);
  each(syntax.actions, model.actions, resolve_action, resolver);
  resolve_orders(resolver);
  complete_bounds(model);
  if (!report.failed()) {
    derive_always_there(model);
    derive_relations(model);
  }
  return model;
}

}  // namespace stator::model
