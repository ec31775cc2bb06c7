#include "stator/runtime/consistency/propagation.h"

#include <algorithm>

#include "stator/runtime/problem.h"
#include "stator/value/same.h"

namespace stator::runtime {
namespace {

using model::Entity;
using value::Item;

bool differs(const Item& before, const Item& after, const std::string& name) {
  return !value::same(before.find(name), after.find(name));
}

bool has_counters(const Entity& entity) {
  return std::any_of(entity.attributes.begin(), entity.attributes.end(),
                     [](const model::Attribute& attribute) { return attribute.count || attribute.sum; });
}

// Whether a parent that is created may have children already, and has to count them.
bool counts_anew(const EntityRules& child) {
  return std::any_of(child.relations.begin(), child.relations.end(), [](const RelationRules& relation) {
    return relation.relation->can_precede && !relation.counters.empty();
  });
}

// Keeps the first Invalid problem, of an entity that cannot be made right, for later.  Every other problem is returned.
Result<void, Problem> unless_impossible(Result<void, Problem> outcome, std::optional<Problem>& impossible) {
  if (outcome || outcome.error().kind != ProblemKind::Invalid) return outcome;
  if (!impossible) impossible = outcome.error();
  return {};
}

}  // namespace

bool Propagation::needed(const model::Model& model) {
  const Rules rules(model);
  const bool is_told = model.table.stream == model::StreamView::NewAndOldImages;
  return std::any_of(model.entities.begin(), model.entities.end(), [&](const Entity& entity) {
    const bool copies = std::any_of(entity.attributes.begin(), entity.attributes.end(),
                                    [](const model::Attribute& attribute) { return attribute.copy_of.has_value(); });
    const auto& relations = rules.of(entity).relations;
    const bool follows = std::any_of(relations.begin(), relations.end(),
                                     [](const RelationRules& relation) { return relation.follows_parent(); });
    return copies || follows || entity.expires() || (is_told && counts_anew(rules.of(entity)));
  });
}

// A child that cannot be made right does not stop the others: its problem is returned after them.
template <typename Visit>
Result<void, Problem> Propagation::for_each_child(const Entity& parent, Visit visit) {
  std::optional<Problem> impossible;
  for (const auto* relation : reconciler_.rules().of(parent).children)
    TRY(unless_impossible(visit(*relation), impossible));
  if (impossible) return std::move(*impossible);
  return {};
}

Result<void, Problem> Propagation::propagate(const Change& change, const std::function<bool()>& stopping) {
  const auto before = change.before ? reconciler_.entity_of(*change.before) : std::nullopt;
  const auto after = change.after ? reconciler_.entity_of(*change.after) : std::nullopt;
  if (before && after && before->entity == after->entity) return propagate_modification(*before, *after, stopping);
  if (before) TRY(propagate_removal(*before, change.expired, stopping));
  if (after) TRY(propagate_arrival(*after, stopping));
  if (!before && change.expired && change.before) return propagate_expired_record(*change.before);
  return {};
}

Result<void, Problem> Propagation::propagate_copies(const Change& change) {
  const auto before = change.before ? reconciler_.entity_of(*change.before) : std::nullopt;
  const auto after = change.after ? reconciler_.entity_of(*change.after) : std::nullopt;
  if (!before || !after || before->entity != after->entity) return {};
  return propagate_modification(*before, *after, {});
}

Result<void, Problem> Propagation::propagate_modification(const StoredEntity& before, const StoredEntity& after,
                                                          const std::function<bool()>& stopping) {
  return for_each_child(*after.entity, [&](const RelationRules& relation) -> Result<void, Problem> {
    const bool concerned = std::any_of(relation.copies.begin(), relation.copies.end(), [&](const auto* copy) {
      return differs(before.attributes, after.attributes, copy->copy_of->attribute);
    });
    if (!concerned) return {};
    return reconcile_children(after, relation, false, stopping);
  });
}

Result<void, Problem> Propagation::propagate_arrival(const StoredEntity& after, const std::function<bool()>& stopping) {
  bool counted = false;
  TRY(for_each_child(*after.entity, [&](const RelationRules& relation) -> Result<void, Problem> {
    if (!relation.relation->can_precede) return {};
    counted = counted || !relation.counters.empty();
    return relation.copies.empty() ? Result<void, Problem>() : reconcile_children(after, relation, false, stopping);
  }));
  if (!counted) return {};
  if (const auto current = TRY(reconciler_.read(*after.entity, after.key))) TRY(reconciler_.recount(*current, true));
  return {};
}

Result<void, Problem> Propagation::propagate_removal(const StoredEntity& before, bool expired,
                                                     const std::function<bool()>& stopping) {
  const auto& entity = *before.entity;
  if (!expired && reconciler_.rules().of(entity).children.empty())
    return {};  // the request that removed it did the rest
  // By its name, not by the key of its row: a migration moves rows.
  const auto key = TRY(checked(model::key_of(reconciler_.model(), entity, before.attributes)));
  if (!key) return {};
  auto gone = before;
  gone.key = *key;
  const auto current = TRY(reconciler_.read(entity, *key));
  if (current) {
    ReconcileOptions options;
    options.thorough = true;
    if (expired) TRY(reconciler_.reconcile(*current, options));
    if (has_counters(entity)) TRY(reconciler_.recount(*current, true));
  } else if (expired) {
    TRY(reconciler_.sweep_remains(gone));
  }
  if (expired) TRY(recount_parents(gone));
  return for_each_child(entity, [&](const RelationRules& relation) -> Result<void, Problem> {
    const bool concerned = current ? !relation.copies.empty() : relation.follows_parent();
    if (!concerned) return {};
    return reconcile_children(gone, relation, !current, stopping);
  });
}

// One of the rows of an entity that has several.  If the rules still want the row, with this time, the entity has
// expired.
Result<void, Problem> Propagation::propagate_expired_record(const Item& row) {
  const auto& model = reconciler_.model();
  const auto [entity, record] = reconciler_.type_of(row);
  if (entity == nullptr) return {};
  const auto attributes = model::attributes_of(model, *entity, *record, row);
  const auto key = TRY(checked(model::key_of(model, *entity, attributes)));
  const auto stored = key ? TRY(reconciler_.read(*entity, *key)) : std::nullopt;
  if (!stored) return {};
  const auto rows = TRY(checked(model::rows_of(model, *entity, stored->attributes)));
  const auto expired = std::find_if(rows.begin(), rows.end(), [&](const model::Row& candidate) {
    return candidate.record == record && candidate.key == model::primary_key_of(model.table, row);
  });
  if (expired == rows.end()) return {};  // the entity has changed meanwhile
  const auto& ttl = model.table.ttl_attribute;
  const bool same_time = ttl && !differs(expired->item, row, *ttl);
  ReconcileOptions options;
  options.purge = same_time;
  options.thorough = true;
  TRY(reconciler_.reconcile(*stored, options));
  return {};
}

Result<void, Problem> Propagation::reconcile_children(const StoredEntity& parent, const RelationRules& relation,
                                                      bool removed, const std::function<bool()>& stopping) {
  ReconcileOptions options;
  options.parents = parents_;
  if (removed) options.removed = relation.relation;
  std::optional<Item> start;
  std::optional<Problem> impossible;
  do {
    if (stopping && stopping()) return stopped("propagating a change");
    auto page = TRY(reconciler_.children(parent, relation, start));
    TRY(unless_impossible(reconciler_.reconcile_all(page.children, options), impossible));
    start = std::move(page.next);
  } while (start);
  if (impossible) return std::move(*impossible);
  return {};
}

Result<void, Problem> Propagation::recount_parents(const StoredEntity& child) {
  for (const auto& relation : reconciler_.rules().of(*child.entity).relations) {
    if (relation.counters.empty()) continue;
    const auto key =
        TRY(checked(model::parent_key(reconciler_.model(), *child.entity, *relation.relation, child.attributes)));
    const auto parent = key ? TRY(reconciler_.read(*relation.parent, *key)) : std::nullopt;
    if (parent) TRY(reconciler_.recount(*parent, true));
  }
  return {};
}

}  // namespace stator::runtime
