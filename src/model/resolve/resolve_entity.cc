#include <fmt/format.h>

#include <algorithm>

#include "stator/model/resolve/resolver.h"

namespace stator::model {
namespace {

// Fills Parent::by: what the file gives, and attributes of the same name for the rest of the parent's key.
void complete_by(const NamePairs& given, const Entity& entity, Parent& parent, Resolver& resolver) {
  Report& report = resolver.report;
  const auto& identity = parent.to->identity;
  for (const auto& [theirs, own] : given) {
    if (!parent.to->is_named_by(theirs.text)) {
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
                   fmt::format("{} is found by {}, and {} has no attribute of that name; name its attribute with `by`",
                               parent.to->name, name, entity.name),
                   fmt::format("by: {{ {}: ... }}", name));
    parent.by.emplace_back(name, pair == given.end() ? name : pair->second.text);
  }
}

// Such attributes belong to the model: no request sets them.
void take_over(const TakenOverSyntax& syntax, Entity& entity, Resolver& resolver) {
  resolver.need_attribute(entity, syntax.attribute);
  for (auto& attribute : entity.attributes) {
    if (attribute.name == syntax.attribute.text) attribute.internal = true;
  }
}

void resolve_children(std::vector<Children>& children, Resolver& resolver) {
  for (auto& child : children) {
    const Text name{.text = child.entity, .position = child.position, .lead = 0};
    const Text relation{.text = child.relation, .position = name.at(child.entity.size() + 1), .lead = 0};
    child.child = resolver.need_entity(name);
    if (child.child != nullptr) child.through = resolver.need_parent(*child.child, relation);
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

// The words of `keys` are key attributes of the table and its indexes.
void resolve_keys(const EntitySyntax& syntax, Resolver& resolver) {
  std::vector<std::string_view> known;
  for_each_key(resolver.model.table, [&](const KeyDesign& key) { known.push_back(key.name); });
  for (const auto& word : syntax.key_attributes) {
    if (std::find(known.begin(), known.end(), word.text) != known.end()) continue;
    resolver.report.unknown(
        word.position, "unknown-key",
        fmt::format("{} is not in the key of the table or of an index; those are {}", word.text, spelled_out(known)),
        word.text, known);
  }
  for (const auto position : syntax.callers_in_keys)
    resolver.report.error(
        position, "unknown-attribute",
        "{me} is the caller, and only patterns can use it; a key is made from the entity's attributes");
}

}  // namespace

void complete_operations(const EntitySyntax& syntax, Entity& entity, Resolver&) {
  const auto add = [&](std::string_view operation) {
    if (entity.can_have_operation(operation) && !entity.has_operation(operation))
      entity.operations.emplace_back(operation);
  };
  if (syntax.operations) {
    for (const auto& name : syntax.operations->names) add(name.text);
  } else if (!entity.path.empty()) {
    for (const auto operation : kOperations) {
      if (operation != "put") add(operation);
    }
  }
}

void resolve_parents(const EntitySyntax& syntax, Entity& entity, Resolver& resolver) {
  for (std::size_t i = 0; i < entity.parents.size(); ++i) {
    const auto& [target, by, clear] = syntax.parents[i];
    if (!target) continue;
    entity.parents[i].to = resolver.need_entity(*target);
    if (entity.parents[i].to != nullptr) complete_by(by, entity, entity.parents[i], resolver);
  }
}

void resolve_sources(const EntitySyntax& syntax, Entity& entity, Resolver& resolver) {
  const auto resolve = [&](const FromParentSyntax& written, const Parent*& through, const Attribute*& source) {
    through = resolver.need_parent(entity, written.relation);
    const Entity* parent = through == nullptr ? nullptr : through->to;
    if (parent != nullptr) source = resolver.need_attribute(*parent, written.source);
  };
  for (const auto& written : syntax.copies) {
    CopyOf& copy = *entity.attributes[written.attribute].copy_of;
    resolve(written, copy.through, copy.from);
  }
  for (const auto& written : syntax.numbers) {
    Next& next = *entity.attributes[written.attribute].next;
    resolve(written, next.through, next.last);
  }
}

void complete_copies(const EntitySyntax& syntax, Entity& entity, Resolver&) {
  for (const auto& copy : syntax.copies) {
    Attribute& attribute = entity.attributes[copy.attribute];
    attribute.copy_of->origin = origin_of(attribute);
    if (attribute.copy_of->origin != nullptr) attribute.type = attribute.copy_of->origin->type;
  }
}

void resolve_entity(const EntitySyntax& syntax, Entity& entity, Resolver& resolver) {
  resolve_keys(syntax, resolver);
  for (auto& attribute : entity.attributes) {
    if (attribute.count) resolve_children(attribute.count->of, resolver);
    if (attribute.sum) resolve_children(attribute.sum->of, resolver);
  }
  for (const auto& sum : syntax.sums) {
    for (const auto& children : entity.attributes[sum.attribute].sum->of) {
      if (children.child != nullptr) resolver.need_attribute(*children.child, sum.summed);
    }
  }
  for (const auto& name : syntax.names) resolver.need_attribute(entity, name.what);
  for (const auto& expression : syntax.expressions) resolver.need_attributes(entity, expression.what);
  for (const auto& that : syntax.checks) resolver.need_attributes(entity, that);
  for (const auto& key : syntax.keys) resolver.need_attributes(entity, key);
  for (std::size_t i = 0; i < entity.parents.size(); ++i) {
    for (const auto& name : syntax.parents[i].clear)
      entity.parents[i].cleared.push_back(resolver.need_attribute(entity, name));
  }
  for (const auto& attribute : syntax.taken_over) take_over(attribute, entity, resolver);
  if (!syntax.path) return;
  for (const auto& name : syntax.path->parameters)
    resolver.need_attribute(entity, {.text = name, .position = place_in_template(syntax.path->text, name), .lead = 0});
}

}  // namespace stator::model
