// An entity and those it belongs to: whether it is present, what it copies from its parents, and what it changes in
// them.
#include <algorithm>

#include "stator/runtime/problem.h"
#include "stator/runtime/read/child_query.h"
#include "stator/runtime/rules/climb.h"
#include "stator/runtime/rules/requirements.h"
#include "stator/runtime/write/transaction.h"

namespace stator::runtime {
namespace {

using model::Entity;
using value::AttributeValue;
using value::Item;

constexpr unsigned kOrphansPage = 25;  // rows that are read at once

}  // namespace

// Looks at one generation after another, and at each ancestor once: there may be several ways to it, and cycles.
Result<Presence, Problem> Transaction::presence(const Draft& draft) {
  Presence presence;
  std::vector<const Draft*> generation = {&draft};
  std::set<const Draft*> seen = {&draft};
  for (unsigned depth = 0; !generation.empty(); ++depth) {
    std::vector<const Draft*> parents;
    for (const auto* one : generation) {
      const auto& entity = *one->entity;
      if (!one->after || !is_finished(entity, *one->after)) return Presence{.gone = true, .deleted = {}};
      if (!is_live(entity, *one->after)) presence.deleted.insert(one);
      for (const auto& rules : rules_.of(entity).relations) {
        if (!rules.vanishes() || depth > kMaxAncestors) continue;
        const auto key = TRY(checked(model::parent_key(model_, entity, *rules.relation, *one->after)));
        if (!key) continue;
        const auto* parent = TRY(load_key(*rules.parent, *key));
        if (parent == nullptr && rules.relation->cascades) return Presence{.gone = true, .deleted = {}};
        if (parent == nullptr) continue;
        // A deletion of the parent at the same moment makes this transaction start again.
        if (rules.parent->soft_delete) depend_on(*parent, {rules.parent->soft_delete->attribute});
        if (seen.insert(parent).second) parents.push_back(parent);
      }
    }
    generation = std::move(parents);
  }
  return presence;
}

Result<bool, Problem> Transaction::is_present(const Draft& draft) { return TRY(presence(draft)).there(); }

// Children that need their parent cannot be created while it is missing, and other children have no copies of it.  So
// no orphan is added after this look.
Result<bool, Problem> Transaction::has_orphans(const Entity& entity, const Item& key, const Item& attributes) {
  if (entity.never_recreated) return false;
  for (const auto* rules : rules_.of(entity).children) {
    const auto& relation = *rules->relation;
    if (!relation.cascades || (!relation.must_exist && rules->copies.empty())) continue;
    const auto plan = model::plan_children(model_, *rules->child, relation, attributes);
    if (!plan) continue;                            // no key finds the children, so nothing removes them either
    if (TRY(read(key))->has_value()) return false;  // the entity exists, and the children are its own
    const auto is_orphan = [&](const Item& found) { return has_had_parent(*rules, found); };
    if (TRY(has_child(*plan, key, is_orphan))) return true;
  }
  return false;
}

Result<bool, Problem> Transaction::has_child(const model::ChildPlan& plan, const Item& key,
                                             const std::function<bool(const Item&)>& wanted) {
  looked_at_.insert(plan.child);
  const auto is_child = [&](const Item& row) {
    return row.text(model_.table.type_attribute) == plan.child->main().type;
  };
  std::optional<Item> start;
  do {
    auto page = TRY(read_children(context_.dynamo, model_, plan, key, kOrphansPage, start, is_child));
    for (const auto& found : page.rows) {
      if (wanted(found.attributes)) return true;
    }
    start = std::move(page.next);
  } while (start);
  return false;
}

// Counters include all children but those that existed before the parent: these are counted a moment after it is
// created.
Result<void, Problem> Transaction::check_unused(const Draft& draft) {
  if (!draft.after) return {};
  const auto& entity = *draft.entity;
  for (const auto* rules : rules_.of(entity).children) {
    const auto& child = *rules->child;
    const auto& relation = *rules->relation;
    if (relation.on_delete != model::OnDelete::Restrict || !relation.can_precede) continue;
    const auto plan = model::plan_children(model_, child, relation, *draft.after);
    if (!plan) continue;
    const auto lives = [&](const Item& found) { return is_live(child, found); };
    if (!TRY(has_child(*plan, draft.key, lives))) continue;
    return in_use(entity, {child.name, "belongs to it"});
  }
  return {};
}

Result<void, Problem> Transaction::derive(const Entity& entity, const std::optional<Item>& from, Item& to) {
  const auto derived = derive_attributes(entity, from ? &*from : nullptr, to);
  if (derived) return {};
  auto problems = explain_underivable(entity, from ? &*from : nullptr, to);
  if (problems.empty()) return invalid(derived.error().message);
  return invalid(std::move(problems));
}

Result<void, Problem> Transaction::compute(const Entity& entity, const std::optional<Item>& from, Item& to) {
  TRY(derive(entity, from, to));
  for (const auto& rules : rules_.of(entity).relations) {
    if (!rules.copies.empty()) TRY(copy(entity, rules, from, to));
  }
  return derive(entity, from, to);
}

Result<void, Problem> Transaction::copy(const Entity& entity, const RelationRules& rules,
                                        const std::optional<Item>& from, Item& to) {
  const auto key = TRY(checked(model::parent_key(model_, entity, *rules.relation, to)));
  if (from && key == TRY(checked(model::parent_key(model_, entity, *rules.relation, *from)))) return {};
  const Draft* source = key ? TRY(load_key(*rules.parent, *key)) : nullptr;
  if (key && source == nullptr) {
    if (rules.relation->must_exist) return missing_parent(entity, rules);
    TRY(depend_on_absence_at(*rules.parent, *key));
  }
  copy_attributes(rules, source == nullptr ? nullptr : &*source->after, to);
  if (source == nullptr || !source->before) return {};
  for (auto& requirement : copy_requirements(rules, *source->before)) {
    plan_.require(source->key, std::move(requirement));
  }
  return {};
}

Result<void, Problem> Transaction::apply(Draft& draft, std::optional<Item> to) {
  const auto from = std::exchange(draft.after, std::move(to));
  const auto change = [&](const ParentEffect& effect) -> Result<std::optional<ChangedParent>, Problem> {
    if (effect.required) TRY(require_parent(*effect.rules->child, *effect.rules, effect.key));
    if (effect.counters.empty()) return std::optional<ChangedParent>();
    return adjust_counters(effect);
  };
  return climb(rules_, *draft.entity, from ? &*from : nullptr, draft.after ? &*draft.after : nullptr, change);
}

Result<void, Problem> Transaction::require_parent(const Entity& child, const RelationRules& rules, const Item& key) {
  looked_at_.insert(rules.parent);
  const auto problem = missing_parent(child, rules);
  const auto& further = rules_.of(*rules.parent).relations;
  if (std::any_of(further.begin(), further.end(), [](const RelationRules& one) { return one.vanishes(); })) {
    const auto* parent = TRY(load_key(*rules.parent, key));
    if (parent != nullptr && !TRY(is_present(*parent))) return problem;
  }
  const auto* known = find(key);
  if (known != nullptr) {
    const bool there = known->entity == rules.parent && known->after && is_live(*known->entity, *known->after);
    if (!there) return problem;
    if (!known->before) return {};  // this transaction creates it
  }
  // If this transaction has read the parent, a deletion since then makes it start again.  So the caller gets the answer
  // of the step that reads the parent, the same as a moment later.
  const auto require = [&](Requirement requirement) {
    plan_.require(key, known != nullptr ? std::move(requirement) : otherwise(std::move(requirement), problem));
  };
  require(attribute_is(model_.table.type_attribute, AttributeValue::string(rules.parent->main().type)));
  if (const auto& soft = rules.parent->soft_delete) {
    require(attribute_is_not(soft->attribute, AttributeValue::boolean(true)));
  }
  return {};
}

Result<std::optional<ChangedParent>, Problem> Transaction::adjust_counters(const ParentEffect& effect) {
  const auto& parent_entity = *effect.rules->parent;
  const bool unread = effect.required && find(effect.key) == nullptr &&
                      std::all_of(effect.counters.begin(), effect.counters.end(),
                                  [](const CounterChange& change) { return change.plain; });
  if (unread) {
    for (const auto& change : effect.counters) plan_.add(effect.key, change.counter->name, change.amount);
    return std::optional<ChangedParent>();
  }
  auto* parent = TRY(load_key(parent_entity, effect.key));
  if (parent == nullptr) {
    // A parent that is gone has no counters.  One that is created meanwhile would be counted without this change.
    if (effect.rules->relation->can_precede) TRY(depend_on_absence_at(parent_entity, effect.key));
    return std::optional<ChangedParent>();
  }
  auto to = *parent->after;
  TRY(checked(add_to_counters(effect.counters, to)));
  TRY(derive(parent_entity, parent->after, to));
  auto from = std::exchange(parent->after, std::move(to));
  return std::optional(ChangedParent{.from = std::move(*from), .to = &*parent->after});
}

}  // namespace stator::runtime
