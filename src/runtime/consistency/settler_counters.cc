// Counts and sums: what a change of an entity adds to those of its parents, and what they are when all children are counted.
#include <algorithm>

#include "stator/runtime/consistency/settler.h"
#include "stator/runtime/consistency/settler_parts.h"
#include "stator/runtime/problem.h"

namespace stator::runtime {
namespace {

using value::AttributeValue;
using value::Item;

constexpr unsigned kPatientAttempts = 2;  // to see children stand still
constexpr unsigned kMaxDepth = 8;         // of counters that are summed up by their parents' parents

}  // namespace

Result<bool, Problem> Settler::plan_counters(Work& work, const StoredEntity& stored, const std::optional<Item>& to,
                                             unsigned depth) {
  const auto& entity = *stored.entity;
  const auto counted = [&](const Item& attributes,
                           const model::Parent& relation) -> Result<std::optional<Item>, Problem> {
    if (!is_live(entity, attributes)) return std::optional<Item>();
    auto key = model::parent_key(model_, entity, relation, attributes);
    return key ? std::move(*key) : std::optional<Item>();  // what cannot name a parent was not counted by one
  };
  bool changes = false;
  for (const auto& rules : rules_.of(entity).relations) {
    if (rules.counters.empty()) continue;
    const auto from_parent = TRY(counted(stored.attributes, *rules.relation));
    const auto to_parent = to ? TRY(counted(*to, *rules.relation)) : std::nullopt;
    if (from_parent && from_parent == to_parent) {
      const bool moves = std::any_of(rules.counters.begin(), rules.counters.end(), [&](const Counter& counter) {
        return !counter.summed.empty() &&
               number_at(stored.attributes, counter.summed) != number_at(*to, counter.summed);
      });
      if (!moves) continue;
      TRY(count(work, rules, *from_parent, &stored.attributes, &*to, depth));
      changes = true;
      continue;
    }
    if (from_parent) TRY(count(work, rules, *from_parent, &stored.attributes, nullptr, depth));
    if (to_parent) TRY(count(work, rules, *to_parent, nullptr, &*to, depth));
    changes = changes || from_parent || to_parent;
  }
  return changes;
}

Result<void, Problem> Settler::count(Work& work, const RelationRules& rules, const Item& parent_key, const Item* from,
                                     const Item* to, unsigned depth) {
  auto parent = TRY(entity_at(work, *rules.parent, parent_key));
  if (!parent) {
    work.plan.require(parent_key, absent());
    return {};
  }
  work.plan.require(parent_key, exists());
  const auto& plain = rules_.of(*rules.parent).plain_counters;
  const auto text = key_text(parent_key);
  auto attributes = work.pending.contains(text) ? work.pending.at(text) : parent->attributes;
  bool computed = false;
  for (const auto& counter : rules.counters) {
    const auto weight = [&](const Item* child) {
      if (child == nullptr) return value::Number();
      return counter.summed.empty() ? value::Number::from_int(1) : number_at(*child, counter.summed);
    };
    const auto amount = TRY(checked(weight(to).subtract(weight(from))));
    if (amount.is_zero()) continue;
    const auto& name = counter.attribute->name;
    if (plain.contains(name)) {
      work.plan.add(parent_key, name, amount);
      continue;
    }
    attributes.set(name, AttributeValue(TRY(checked(number_at(attributes, name).add(amount)))));
    computed = true;
  }
  if (!computed) return {};
  // Keys, other rows or sums further up are computed from it.
  if (depth == kMaxDepth) return invalid("counters sum each other up too deeply");
  TRY(derive_again(*rules.parent, attributes));
  const auto kept = work.findings.size();
  if (work.pending.contains(text)) parent->attributes = work.pending.at(text);
  TRY(plan_change(work, *parent, attributes, {}, depth + 1));
  work.findings.resize(kept);  // a consequence, not something that was wrong
  work.pending[text] = std::move(attributes);
  return {};
}

Result<Settler::Collection, Problem> Settler::collect(const StoredEntity& parent) {
  Collection collection;
  for (const auto& child : model_.entities) {
    for (const auto& relation : rules_.of(child).relations) {
      if (relation.parent != parent.entity || relation.counters.empty()) continue;
      if (!model::plan_children(model_, child, *relation.relation, parent.attributes)) {
        for (const auto& counter : relation.counters) collection.unknown.insert(counter.attribute->name);
        continue;
      }
      std::optional<Item> start;
      do {
        auto page = TRY(children(parent, child, *relation.relation, start));
        for (const auto& found : page.children) {
          if (!is_live(child, found.attributes)) continue;
          auto seen = key_text(found.key);
          for (const auto& counter : relation.counters) {
            const auto weight =
                counter.summed.empty() ? value::Number::from_int(1) : number_at(found.attributes, counter.summed);
            auto& total = collection.totals[counter.attribute->name];
            total = TRY(checked(total.add(weight)));
            seen += weight.to_string();
          }
          // A sum, because an index brings them in no particular order.
          collection.fingerprint += std::hash<std::string>()(seen);
        }
        start = std::move(page.next);
      } while (start);
    }
  }
  return collection;
}

Result<std::vector<Finding>, Problem> Settler::recount(const StoredEntity& stored, bool repair,
                                                       const std::set<const model::Attribute*>* unkept) {
  std::vector<const model::Attribute*> counters;
  for (const auto& attribute : stored.entity->attributes) {
    if (attribute.count || attribute.sum) counters.push_back(&attribute);
  }
  if (counters.empty()) return std::vector<Finding>();

  const auto is_unkept = [&](const auto* counter) { return unkept != nullptr && unkept->contains(counter); };
  const bool any_unkept = std::any_of(counters.begin(), counters.end(), is_unkept);
  std::optional<StoredEntity> current = stored;
  std::optional<Collection> last;
  for (unsigned attempt = 1; attempt <= kSettleAttempts; ++attempt) {
    const bool hurried = any_unkept && attempt > kPatientAttempts;
    if (hurried) std::erase_if(counters, [&](const auto* counter) { return !is_unkept(counter); });
    auto collection = TRY(collect(*current));
    std::vector<Finding> findings;
    auto attributes = current->attributes;
    for (const auto* counter : counters) {
      const auto expected = collection.totals[counter->name];
      const bool known = !collection.unknown.contains(counter->name);
      if (!known || number_at(current->attributes, counter->name) == expected) continue;
      findings.push_back({.kind = Finding::Kind::Counter,
                          .entity = stored.entity->name,
                          .key = stored.key,
                          .what = counter->name,
                          .expected = expected.to_string(),
                          .found = number_at(current->attributes, counter->name).to_string()});
      attributes.set(counter->name, AttributeValue(expected));
    }
    if (findings.empty()) return findings;

    const auto again = TRY(read(*stored.entity, stored.key));
    if (!again) return std::vector<Finding>();
    const bool stood_still = std::all_of(counters.begin(), counters.end(), [&](const auto* counter) {
      return same(again->attributes.find(counter->name), current->attributes.find(counter->name));
    });
    const bool confirmed = hurried || (stood_still && last && last->fingerprint == collection.fingerprint);
    last = stood_still ? std::optional(std::move(collection)) : std::nullopt;
    if (!confirmed) {
      current = again;
      continue;
    }
    if (!repair) return findings;
    Work work(model_.table);
    TRY(derive_again(*stored.entity, attributes));
    for (const auto* counter : counters) {
      work.plan.require(stored.key, is(counter->name, current->row.find(counter->name)));
    }
    TRY(plan_change(work, *current, attributes, {}, 0));
    const auto commit = TRY(work.plan.commit(dynamo_));
    if (commit == WritePlan::Commit::Written) return findings;
    back_off(attempt, random_, dynamo_.clock());
    current = TRY(read(*stored.entity, stored.key));
    if (!current) return std::vector<Finding>();
    last.reset();
  }
  return contention();
}

}  // namespace stator::runtime
