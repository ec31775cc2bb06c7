#include <fmt/format.h>

#include <algorithm>

#include "stator/model/resolve/resolver.h"

namespace stator::model {
namespace {

// A template of a key reads attributes that are stored: the key is computed again from them at every change.
void check_key_template(const Entity& entity, const Written<Template>& text, Resolver& resolver) {
  resolver.need_attributes(entity, text);
  for (const auto& path : text.value.attributes()) {
    const Attribute* attribute = entity.find_attribute(std::string_view(path).substr(0, path.find('.')));
    if (attribute != nullptr && !is_stored(*attribute))
      resolver.report.error(place_in_template(text.source, path), "not-stored",
                            fmt::format("{} is not stored, so no key can be made from it", path));
  }
}

// A relation clears what it brought, and what requests and actions set; anything else would be there again at once.
void check_clear(const Entity& entity, const Parent& relation, const Text& name, Resolver& resolver) {
  const Attribute* attribute = resolver.need_attribute(entity, name);
  if (attribute == nullptr) return;
  const auto refuse = [&](const std::string& what) {
    resolver.report.error(name.position, "contradiction",
                          fmt::format("{} is {}, so it cannot be cleared", name.text, what));
  };
  const auto identity = entity.identity(resolver.model.table);
  if (attribute->required && !attribute->default_value) refuse("required");
  if (std::find(identity.begin(), identity.end(), name.text) != identity.end()) refuse("in the key of " + entity.name);
  if (attribute->derived) refuse("derived");
  if (attribute->count || attribute->sum || attribute->last) refuse("counted");
  if (attribute->is_numbered()) refuse("a number that its parent gives");
  if (attribute->copy_of && attribute->copy_of->relation != relation.name)
    refuse("a copy through " + attribute->copy_of->relation);
}

// Fills Parent::by: what the file gives, and attributes of the same name for the rest of the parent's key.
void complete_by(const NamePairs& given, const Entity& entity, Parent& parent, Resolver& resolver) {
  Report& report = resolver.report;
  const auto identity = parent.to->identity(resolver.model.table);
  for (const auto& [theirs, own] : given) {
    if (std::find(identity.begin(), identity.end(), theirs.text) == identity.end()) {
      const std::vector<std::string_view> known(identity.begin(), identity.end());
      report.unknown(theirs.position, "unknown-attribute",
                     fmt::format("{} is not in the key of {}, which is made from {}", theirs.text, parent.to->name,
                                 spelled_out(known)),
                     theirs.text, known);
    }
    resolver.need_attribute(entity, own);
  }
  for (const auto& name : identity) {
    const auto pair =
        std::find_if(given.begin(), given.end(), [&](const auto& candidate) { return candidate.first.text == name; });
    if (pair == given.end() && entity.find_attribute(name) == nullptr)
      report.error(parent.position, "unknown-attribute",
                   fmt::format("{} is found by {}, and {} has no attribute of that name; `by` says which one it is",
                               parent.to->name, name, entity.name),
                   fmt::format("by: {{ {}: ... }}", name));
    parent.by.emplace_back(name, pair == given.end() ? name : pair->second.text);
  }
}

// What is transient is there while a request is checked; what is computed when it is read is not.
void resolve_check(const Written<Expression>& that, const Entity& entity, Resolver& resolver) {
  resolver.need_attributes(entity, that);
  visit_names(that, [&](const Expression::Node& node, Position position) {
    const Attribute* read = entity.find_attribute(node.name);
    if (read != nullptr && read->when_read)
      resolver.need_stored(entity, {.text = node.name, .position = position, .lead = 0}, "a check");
  });
}

// Such attributes belong to the model: no request sets them.
void take_over(const TakenOverSyntax& syntax, Entity& entity, Resolver& resolver) {
  const auto& [name, kind, purpose] = syntax;
  if (resolver.need_attribute(entity, name) == nullptr) return;
  auto attribute = std::find_if(entity.attributes.begin(), entity.attributes.end(),
                                [&](const Attribute& candidate) { return candidate.name == syntax.attribute.text; });
  if (attribute->type.kind != kind)
    resolver.report.error(name.position, "wrong-type",
                          fmt::format("{} has to be of type {} for {}", name.text, kind_name(kind), purpose));
  attribute->internal = true;
}

// The route of one entity has to name it: every attribute of its key.
void check_path(const Route& route, const Entity& entity, Resolver& resolver) {
  for (const auto& name : route.parameters)
    resolver.need_attribute(entity, {.text = name, .position = place_in_template(route.text, name), .lead = 0});
  for (const auto& name : entity.identity(resolver.model.table)) {
    if (!gives({route.parameters.begin(), route.parameters.end()}, entity, name))
      resolver.report.error(
          route.text.position, "path-lacks-key",
          fmt::format("the key of {} is made from {}, which the path does not name", entity.name, name),
          fmt::format("/.../{{{}}}", name));
  }
  if (!entity.has_operation("put")) return;
  for (const auto& name : route.parameters) {
    const Attribute* attribute = entity.find_attribute(name);
    if (attribute != nullptr && attribute->computed())
      resolver.report.error(place_in_template(route.text, name), "contradiction",
                            fmt::format("a put creates what its path names, and no caller chooses {}", name));
  }
}

// Every row has all of the table's key: from a template, or as an attribute.
void need_keys(const Entity& entity, Resolver& resolver) {
  const TableDesign& table = resolver.model.table;
  for (const auto& record : entity.records) {
    const auto need_key = [&](const KeyDesign& key) {
      if (record.find_key(key.name) == nullptr && entity.find_attribute(key.name) == nullptr)
        resolver.report.error(
            record.position, "missing-key",
            fmt::format("{} has no {}, which is in the key of the table",
                        entity.records.size() == 1 ? entity.name : fmt::format("{}.{}", entity.name, record.name),
                        key.name),
            fmt::format("{}: \"...\", in `keys`", key.name));
    };
    if (!table.partition.name.empty()) need_key(table.partition);
    if (table.sort) need_key(*table.sort);
  }
}

// The children's relation has to lead here.
void resolve_children(const Entity& entity, std::vector<Children>& children, Resolver& resolver) {
  for (auto& child : children) {
    const Text name{.text = child.entity, .position = child.position, .lead = 0};
    child.child = resolver.need_entity(name);
    if (child.child == nullptr) continue;
    child.through = child.child->find_parent(child.relation);
    const Position place = name.at(child.entity.size() + 1);
    if (child.through == nullptr) {
      resolver.report.unknown(place, "unknown-relation",
                              fmt::format("{} has no parent called {}", child.entity, child.relation), child.relation,
                              names_of(child.child->parents));
    } else if (child.through->to != nullptr && child.through->to != &entity) {
      resolver.report.error(place, "wrong-relation",
                            fmt::format("{}.{} leads to {}, not to {}", child.entity, child.relation,
                                        child.through->entity, entity.name));
    }
  }
}

void resolve_sum(const SumSyntax& syntax, const Entity& entity, Resolver& resolver) {
  const Text& summed = syntax.summed;
  for (const auto& child : entity.attributes[syntax.attribute].sum->of) {
    if (child.child == nullptr) continue;
    const Attribute* number = resolver.need_attribute(*child.child, summed);
    if (number == nullptr) continue;
    if (!is_stored(*number))
      resolver.report.error(summed.position, "not-stored",
                            fmt::format("{}.{} is not stored, so there is nothing to sum", child.entity, summed.text));
    if (!is_number(number->type.kind))
      resolver.report.error(summed.position, "wrong-type",
                            fmt::format("{}.{} is of type {}; only numbers can be summed", child.entity, summed.text,
                                        kind_name(number->type.kind)));
  }
}

// The attribute that a copy is, after all, a copy of; null when there is none or the copies go in a circle.
const Attribute* origin_of(const Attribute& copy) {
  constexpr int kMaxHops = 1000;
  const Attribute* attribute = &copy;
  for (int hop = 0; hop < kMaxHops; ++hop) {
    if (!attribute->copy_of) return attribute;
    attribute = attribute->copy_of->from;
    if (attribute == nullptr) return nullptr;
  }
  return nullptr;
}

// A copy is what its source is.  A limit of its own would be trusted, in keys above all, and kept by nobody.
void check_limits_of_copy(const Attribute& copy, const Attribute& origin, std::string_view source, Report& report) {
  const auto check = [&](std::string_view word, const auto& own, const auto& theirs) {
    if (!own || own == theirs) return;
    report.error(copy.position, "contradiction",
                 fmt::format("{} is a copy of {}, which has {} {}: it cannot have one of its own", copy.name, source,
                             theirs ? "another" : "no", word),
                 fmt::format("leave {} out here, and let {} have it", word, source));
  };
  check("min", copy.type.min, origin.type.min);
  check("max", copy.type.max, origin.type.max);
  check("step", copy.type.step, origin.type.step);
  check("pattern", copy.type.pattern, origin.type.pattern);
  if (copy.type.kind == Kind::Enum && copy.type.values != origin.type.values)
    report.error(copy.position, "contradiction",
                 fmt::format("{} is a copy of {}, which has other values", copy.name, source),
                 fmt::format("leave the type out; it is that of {}", source));
}

// Gives a copy the type of its source.
void complete_type(const CopySyntax& syntax, Attribute& copy, Report& report) {
  const Attribute* origin = copy.copy_of->from == nullptr ? nullptr : origin_of(copy);
  if (origin == nullptr) return;  // a circle is told of with all others
  const auto source = fmt::format("{}.{}", copy.copy_of->through->entity, syntax.source.text);
  if (!is_stored(*origin)) {
    report.error(syntax.source.position, "not-stored",
                 fmt::format("{} is not stored, so there is nothing to copy", source));
    return;
  }
  if (syntax.has_type && copy.type.kind != origin->type.kind) {
    report.error(copy.position, "wrong-type",
                 fmt::format("{} is of type {}, and a copy of {}, which is of type {}", copy.name,
                             kind_name(copy.type.kind), source, kind_name(origin->type.kind)),
                 std::string(kind_name(origin->type.kind)));
    return;
  }
  if (syntax.has_type) check_limits_of_copy(copy, *origin, source, report);
  copy.type = origin->type;
}

}  // namespace

void resolve_parents(const EntitySyntax& syntax, Entity& entity, Resolver& resolver) {
  for (std::size_t i = 0; i < entity.parents.size(); ++i) {
    const auto& [target, by, clear] = syntax.parents[i];
    if (!target) continue;
    entity.parents[i].to = resolver.need_entity(*target);
    if (entity.parents[i].to != nullptr) complete_by(by, entity, entity.parents[i], resolver);
  }
}

void resolve_copies(const EntitySyntax& syntax, Entity& entity, Resolver& resolver) {
  for (const auto& copy : syntax.copies) {
    CopyOf& source = *entity.attributes[copy.attribute].copy_of;
    source.through = entity.find_parent(copy.relation.text);
    if (source.through == nullptr) {
      resolver.report.unknown(copy.relation.position, "unknown-relation",
                              fmt::format("{} has no parent called {}", entity.name, copy.relation.text),
                              copy.relation.text, names_of(entity.parents));
    } else if (source.through->to != nullptr) {
      source.from = resolver.need_attribute(*source.through->to, copy.source);
    }
  }
}

void resolve_numbers(const EntitySyntax& syntax, Entity& entity, Resolver& resolver) {
  for (const auto& number : syntax.numbers) {
    Next& next = *entity.attributes[number.attribute].next;
    next.through = entity.find_parent(number.relation.text);
    if (next.through == nullptr) {
      resolver.report.unknown(number.relation.position, "unknown-relation",
                              fmt::format("{} has no parent called {}", entity.name, number.relation.text),
                              number.relation.text, names_of(entity.parents));
    } else if (next.through->to != nullptr) {
      next.last = resolver.need_attribute(*next.through->to, number.counter);
    }
  }
}

void complete_copies(const EntitySyntax& syntax, Entity& entity, Resolver& resolver) {
  for (const auto& copy : syntax.copies) complete_type(copy, entity.attributes[copy.attribute], resolver.report);
}

void resolve_entity(const EntitySyntax& syntax, Entity& entity, Resolver& resolver) {
  for (auto& attribute : entity.attributes) {
    if (attribute.count) resolve_children(entity, attribute.count->of, resolver);
    if (attribute.sum) resolve_children(entity, attribute.sum->of, resolver);
  }
  for (const auto& sum : syntax.sums) resolve_sum(sum, entity, resolver);
  for (const auto& [name, user] : syntax.names) {
    resolver.need_attribute(entity, name);
    if (!user.empty()) resolver.need_stored(entity, name, user);
  }
  for (const auto& [expression, user] : syntax.expressions) {
    resolver.need_attributes(entity, expression);
    if (!user.empty()) resolver.need_stored(entity, expression, user);
  }
  for (const auto& that : syntax.checks) resolve_check(that, entity, resolver);
  for (const auto& key : syntax.keys) check_key_template(entity, key, resolver);
  for (std::size_t i = 0; i < entity.parents.size(); ++i) {
    for (const auto& name : syntax.parents[i].clear) check_clear(entity, entity.parents[i], name, resolver);
  }
  for (const auto& attribute : syntax.taken_over) take_over(attribute, entity, resolver);
  if (syntax.path) check_path(*syntax.path, entity, resolver);
  if (syntax.is_map) need_keys(entity, resolver);
}

}  // namespace stator::model
