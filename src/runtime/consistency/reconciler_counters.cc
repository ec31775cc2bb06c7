// Counts, sums and last numbers: how a change of an entity adjusts its parents' counters, and how all children are
// counted.
#include <algorithm>

#include "stator/runtime/consistency/reconciler.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/rules/requirements.h"

namespace stator::runtime {
namespace {

using value::AttributeValue;
using value::Item;

constexpr unsigned kPatientAttempts = 2;  // to see two collections of children agree

}  // namespace

Result<bool, Problem> Reconciler::plan_counters(Reconciliation& work, const model::Entity& entity, const Item& from,
                                                const Item* to) {
  bool changes = false;
  const auto change = [&](const ParentEffect& effect) -> Result<std::optional<ChangedParent>, Problem> {
    if (effect.counters.empty()) return std::optional<ChangedParent>();
    changes = true;
    return adjust_counters(work, effect);
  };
  TRY(climb(work.rules(), entity, &from, to, change));
  return changes;
}

Result<std::optional<ChangedParent>, Problem> Reconciler::adjust_counters(Reconciliation& work,
                                                                          const ParentEffect& effect) {
  const auto& entity = *effect.rules->parent;
  const auto parent = TRY(entity_at(work, entity, effect.key));
  if (!parent) {
    work.plan.require(effect.key, entity_absent(model_.table, entity, *TRY(row(work, effect.key))));
    return std::optional<ChangedParent>();
  }
  work.plan.require(effect.key, row_exists());
  std::vector<CounterChange> computed;
  for (const auto& change : effect.counters) {
    if (change.plain)
      work.plan.add(effect.key, change.counter->name, change.amount);
    else
      computed.push_back(change);
  }
  if (computed.empty()) return std::optional<ChangedParent>();
  const auto [known, is_new] = work.parents.try_emplace(
      key_text(effect.key), Reconciliation::Parent{.stored = *parent, .attributes = parent->attributes});
  auto& attributes = known->second.attributes;
  auto before = attributes;
  TRY(checked(add_to_counters(computed, attributes)));
  TRY(checked(derive_attributes(entity, &before, attributes)));
  return std::optional(ChangedParent{.from = std::move(before), .to = &attributes});
}

Result<void, Problem> Reconciler::plan_parents(Reconciliation& work) {
  ReconcileOptions options;
  options.parents = ReconcileOptions::Parents::Ignored;  // adjust_counters() has been further up already
  const auto findings = work.findings.size();
  for (const auto& [key, parent] : work.parents) TRY(plan_change(work, parent.stored, &parent.attributes, options));
  work.findings.resize(findings);  // these follow from the changes; they were not wrong before
  return {};
}

std::size_t Reconciler::rows_of_parents(const Reconciliation& work) {
  std::size_t rows = 0;  // beside main rows: a row or a reservation can leave one place and come to another
  for (const auto& [key, parent] : work.parents) {
    rows += 2 * (parent.stored.entity->records.size() - 1 + parent.stored.entity->uniques.size());
  }
  return rows;
}

Result<Reconciler::Collection, Problem> Reconciler::collect(const StoredEntity& parent) {
  Collection collection;
  for (const auto* relation : rules_.of(*parent.entity).children) {
    if (relation->counters.empty() && relation->numbers.empty()) continue;
    if (!model::plan_children(model_, *relation->child, *relation->relation, parent.attributes)) {
      for (const auto& counter : relation->counters) collection.unknown.insert(counter.attribute->name);
      for (const auto* number : relation->numbers) collection.unknown.insert(number->next->counter);
      continue;
    }
    std::optional<Item> start;
    do {
      auto page = TRY(children(parent, *relation, start));
      for (const auto& found : page.children) {
        auto seen = key_text(found.key);
        for (const auto* attribute : relation->numbers) {  // also of one that is deleted softly
          const auto number = counter_value(found.attributes, attribute->name);
          auto& greatest = collection.totals[attribute->next->counter];
          greatest = std::max(greatest, number);
          seen += number.to_string();
        }
        if (!is_live(*relation->child, found.attributes)) continue;
        for (const auto& counter : relation->counters) {
          const auto amount = counted_amount(counter, found.attributes);
          auto& total = collection.totals[counter.attribute->name];
          total = TRY(checked(total.add(amount)));
          seen += amount.to_string();
        }
        // The hashes are added up, because an index returns children in no particular order.
        collection.fingerprint += std::hash<std::string>()(seen);
      }
      start = std::move(page.next);
    } while (start);
  }
  return collection;
}

Result<std::vector<RowFinding>, Problem> Reconciler::recount(const StoredEntity& stored, bool repair,
                                                             const std::set<const model::Attribute*>* unkept) {
  std::vector<const model::Attribute*> counters;
  for (const auto& attribute : stored.entity->attributes) {
    if (attribute.count || attribute.sum || attribute.last) counters.push_back(&attribute);
  }
  if (counters.empty()) return std::vector<RowFinding>();

  const auto is_unkept = [&](const auto* counter) { return unkept != nullptr && unkept->contains(counter); };
  const bool any_unkept = std::any_of(counters.begin(), counters.end(), is_unkept);
  std::optional<StoredEntity> current = stored;
  std::optional<Collection> last;
  for (unsigned attempt = 1; attempt <= kCommitAttempts; ++attempt) {
    const bool hurried = any_unkept && attempt > kPatientAttempts;
    if (hurried) std::erase_if(counters, [&](const auto* counter) { return !is_unkept(counter); });
    auto collection = TRY(collect(*current));
    std::vector<RowFinding> findings;
    auto attributes = current->attributes;
    for (const auto* counter : counters) {
      const auto expected = collection.totals[counter->name];
      const bool known = !collection.unknown.contains(counter->name);
      const auto found = counter_value(current->attributes, counter->name);
      if (!known || (counter->last ? found >= expected : found == expected)) continue;
      findings.push_back({.kind = RowFinding::Kind::Counter,
                          .entity = stored.entity->name,
                          .key = stored.key,
                          .what = counter->name,
                          .expected = expected.to_string(),
                          .found = found.to_string()});
      attributes.set(counter->name, AttributeValue(expected));
    }
    if (findings.empty()) return findings;

    const auto again = TRY(read(*stored.entity, stored.key));
    if (!again) return std::vector<RowFinding>();
    const bool stood_still = std::all_of(counters.begin(), counters.end(), [&](const auto* counter) {
      return counter_value(again->attributes, counter->name) == counter_value(current->attributes, counter->name);
    });
    const bool confirmed = hurried || (stood_still && last && last->fingerprint == collection.fingerprint);
    last = stood_still ? std::optional(std::move(collection)) : std::nullopt;
    if (!confirmed) {
      current = again;
      continue;
    }
    if (!repair) return findings;
    auto work = TRY(begin_reconciliation());
    TRY(checked(derive_attributes(*stored.entity, &current->attributes, attributes)));
    for (const auto* counter : counters) {
      work.plan.require(stored.key, attribute_is(counter->name, current->row.find(counter->name)));
    }
    TRY(plan_change(work, *current, &attributes, {}));
    TRY(plan_parents(work));
    const auto commit = TRY(work.plan.commit(dynamo_));
    if (commit == WritePlan::Commit::Written) return findings;
    back_off(attempt, random_, dynamo_.clock());
    current = TRY(read(*stored.entity, stored.key));
    if (!current) return std::vector<RowFinding>();
    last.reset();
  }
  return contention();
}

}  // namespace stator::runtime
