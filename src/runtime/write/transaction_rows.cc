// From what an entity was and is going to be to the writes of its rows and reservations.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stator/runtime/problem.h"
#include "stator/runtime/write/transaction.h"

namespace stator::runtime {
namespace {

using model::Entity;
using model::Row;
using value::AttributeValue;
using value::Item;

std::optional<AttributeValue> value_at(const Item& item, const std::string& name) {
  const auto* found = item.find(name);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

// Names of the attributes that differ.
std::set<std::string> differences(const Item& a, const Item& b) {
  std::set<std::string> names;
  for (const auto& entry : a) {
    const auto* other = b.find(entry.name);
    if (other == nullptr || *other != entry.value) names.insert(entry.name);
  }
  for (const auto& entry : b) {
    if (a.find(entry.name) == nullptr) names.insert(entry.name);
  }
  return names;
}

bool holds_attribute(const model::Record& record, const std::string& name) {
  return record.attributes.empty() ||
         std::find(record.attributes.begin(), record.attributes.end(), name) != record.attributes.end();
}

Row* row_of(std::vector<Row>& rows, const model::Record* record) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.record == record; });
  return found == rows.end() ? nullptr : &*found;
}

Problem duplicate(const Entity& entity, const model::Unique& rule) {
  std::vector<model::ValueProblem> details;
  for (const auto& attribute : rule.attributes) details.push_back({attribute, "is taken"});
  return conflict("Duplicate", fmt::format("another {} has this {}", entity.name, fmt::join(rule.attributes, " and ")),
                  std::move(details));
}

}  // namespace

Result<void, Problem> Transaction::plan(const Draft& draft) {
  if (!draft.changed()) return {};
  TRY(plan_rows(draft));
  return plan_reservations(draft);
}

Result<void, Problem> Transaction::plan_rows(const Draft& draft) {
  const auto& entity = *draft.entity;
  std::vector<Row> old_rows, new_rows;
  if (draft.before) old_rows = TRY(checked(model::rows_of(model_, entity, *draft.before)));
  if (draft.after) {
    new_rows = TRY(checked(draft.before ? model::rows_of(model_, entity, *draft.after)  // its key may change
                                        : model::rows_of(model_, entity, *draft.after, draft.key)));
  }
  if (draft.before) require_unchanged(draft);

  const auto absent = [&](const Item& key) {
    plan_.require(key, {.kind = Requirement::Kind::Absent,
                        .attribute = {},
                        .value = {},
                        .otherwise = conflict("Exists", "this " + entity.name + " is there already")});
  };
  for (const auto& record : entity.records) {
    const auto* from = row_of(old_rows, &record);
    auto* to = row_of(new_rows, &record);
    if (from != nullptr && to != nullptr && from->key == to->key) {
      plan_difference(entity, *from, *to);
      continue;
    }
    if (from != nullptr) plan_.remove(from->key);
    if (to == nullptr) continue;
    // A row that appears or moves is written whole: with counters and copies as they were read.
    if (draft.before) {
      for (const auto& name : context_.rules.of(entity).drifting) {
        if (!holds_attribute(record, name)) continue;
        plan_.require(draft.key,
                      {.kind = Requirement::Kind::Is, .attribute = name, .value = value_at(*draft.before, name)});
      }
    }
    absent(to->key);
    plan_.put(to->key, std::move(to->item));
  }
  return {};
}

void Transaction::plan_difference(const Entity& entity, const Row& from, const Row& to) {
  for (const auto& name : differences(from.item, to.item)) {
    const auto* attribute = entity.find_attribute(name);
    const auto old_value = value_at(from.item, name);
    const auto new_value = value_at(to.item, name);
    if (attribute != nullptr && (attribute->count || attribute->sum)) {
      // Added rather than set: others count at the same time.
      const auto was = old_value && old_value->as_number() != nullptr ? *old_value->as_number() : value::Number();
      const auto is = new_value && new_value->as_number() != nullptr ? *new_value->as_number() : value::Number();
      if (const auto difference = is.subtract(was); difference.ok()) {
        plan_.add(to.key, name, *difference);
        continue;
      }
    }
    if (new_value)
      plan_.set(to.key, name, *new_value);
    else
      plan_.clear(to.key, name);
  }
}

void Transaction::require_unchanged(const Draft& draft) {
  const auto& entity = *draft.entity;
  const auto& rules = context_.rules.of(entity);
  const bool by_version = draft.by_user && entity.versioned;
  const auto require = [&](const std::string& name, std::optional<AttributeValue> seen) {
    plan_.require(draft.key, {.kind = Requirement::Kind::Is, .attribute = name, .value = std::move(seen)});
  };
  require(model_.table.type_attribute, AttributeValue::string(entity.main().type));
  if (by_version) {
    require(model_.table.version_attribute, value_at(*draft.before, model_.table.version_attribute));
  }
  const auto changed = draft.after ? differences(*draft.before, *draft.after) : std::set<std::string>();
  for (const auto& inputs : rules.computed) {
    const bool anew = !draft.after || std::any_of(inputs.begin(), inputs.end(),
                                                  [&](const std::string& name) { return changed.contains(name); });
    if (!anew) continue;
    for (const auto& name : inputs) {
      const bool by_its_version = by_version && rules.comes_once && !rules.drifting.contains(name);
      if (rules.identity.contains(name) || by_its_version) continue;
      require(name, value_at(*draft.before, name));
    }
  }
  // What drifts is guarded by no version.
  for (const auto& name : changed) {
    const auto* attribute = entity.find_attribute(name);
    if (attribute != nullptr && attribute->drifts) require(name, value_at(*draft.before, name));
  }
  // A row that children hold on to stays.
  const bool goes = !draft.after || (is_live(entity, *draft.before) && !is_live(entity, *draft.after));
  if (!goes) return;
  for (const auto& counter : rules.restricting) {
    plan_.require(draft.key,
                  {.kind = Requirement::Kind::AtMostZero,
                   .attribute = counter,
                   .value = {},
                   .otherwise = conflict("InUse", "this " + entity.name + " is in use", {{counter, "is not zero"}})});
  }
}

Result<void, Problem> Transaction::plan_reservations(const Draft& draft) {
  const auto& entity = *draft.entity;
  if (entity.uniques.empty()) return {};
  std::vector<model::Reservation> old_ones, new_ones;
  if (draft.before) old_ones = TRY(checked(model::reservations_of(model_, entity, *draft.before, draft.key)));
  if (draft.after) {
    new_ones = TRY(checked(draft.before ? model::reservations_of(model_, entity, *draft.after)
                                        : model::reservations_of(model_, entity, *draft.after, draft.key)));
  }
  const auto has = [](const std::vector<model::Reservation>& list, const Item& key) {
    return std::any_of(list.begin(), list.end(), [&](const model::Reservation& one) { return one.key == key; });
  };
  for (const auto& freed : old_ones) {
    if (!has(new_ones, freed.key)) plan_.remove(freed.key);
  }
  for (auto& claimed : new_ones) {
    if (has(old_ones, claimed.key)) continue;
    plan_.require(claimed.key, {.kind = Requirement::Kind::Absent,
                                .attribute = {},
                                .value = {},
                                .otherwise = duplicate(entity, *claimed.rule)});
    plan_.put(claimed.key, std::move(claimed.item));
  }
  return {};
}

}  // namespace stator::runtime
