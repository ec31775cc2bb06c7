// From what an entity is to what it should be: its main row, its other records, its reservations.
#include <algorithm>
#include <set>

#include "stator/runtime/consistency/settler.h"
#include "stator/runtime/consistency/settler_parts.h"
#include "stator/runtime/problem.h"
#include "stator/value/json.h"

namespace stator::runtime {
namespace {

using model::Entity;
using model::Row;
using value::AttributeValue;
using value::Item;

constexpr std::string_view kOwner = "Of";

std::string json_of(const AttributeValue* content) {
  std::string text;
  if (content != nullptr) value::append_json(text, *content);
  return text;
}

// The key attributes of the table and its indexes, the type, and the TTL: what only rules write.
std::set<std::string> ruled_attributes(const model::TableDesign& table) {
  std::set<std::string> names = {table.partition.name, table.type_attribute};
  if (table.sort) names.insert(table.sort->name);
  if (table.ttl_attribute) names.insert(*table.ttl_attribute);
  for (const auto& index : table.indexes) {
    for (const auto& key : index.partition) names.insert(key.name);
    for (const auto& key : index.sort) names.insert(key.name);
  }
  return names;
}

Finding::Kind kind_of_attribute(const Entity& entity, std::string_view name) {
  const auto* attribute = entity.find_attribute(name);
  if (attribute == nullptr) return Finding::Kind::Key;
  if (attribute->copy_of) return Finding::Kind::Copy;
  if (attribute->derived) return Finding::Kind::Derived;
  return Finding::Kind::Orphan;  // nothing else is changed, unless a parent that is gone clears it
}

const Row* find_row(const std::vector<Row>& rows, const Item& key) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.key == key; });
  return found != rows.end() ? &*found : nullptr;
}

}  // namespace

Result<bool, Problem> Settler::plan_change(Work& work, const StoredEntity& stored, const std::optional<Item>& to,
                                           const SettleOptions& options, unsigned depth) {
  const auto& entity = *stored.entity;
  // Where a damaged row cannot say what its other rows are, there are none to look for; verification meets them by themselves.
  const auto from_rows = model::rows_of(model_, entity, stored.attributes);
  std::vector<Row> to_rows;
  bool changes = false;
  bool moved = false;
  if (to) {
    to_rows = TRY(checked(model::rows_of(model_, entity, *to)));
    moved = to_rows.front().key != stored.key;
    changes = moved ? TRY(plan_move(work, stored, to_rows.front())) : plan_main_row(work, stored, to_rows.front());
    if (moved && !changes) return false;  // there is no room where it should be
  } else {
    work.findings.push_back({.kind = Finding::Kind::Orphan,
                             .entity = entity.name,
                             .key = stored.key,
                             .what = {},
                             .expected = {},
                             .found = key_text(stored.row)});
    require_unchanged(work, stored, false);
    work.plan.remove(stored.key);
    changes = true;
  }
  changes = TRY(plan_records(work, stored, from_rows ? *from_rows : std::vector<Row>(), to_rows)) || changes;
  changes = TRY(plan_reservations(work, stored, to, options.thorough || moved)) || changes;
  if (options.parents != SettleOptions::Parents::Ignored) {
    changes = TRY(plan_counters(work, stored, to, depth)) || changes;
  }
  if (changes && to && !moved) require_unchanged(work, stored, false);
  return changes;
}

bool Settler::plan_main_row(Work& work, const StoredEntity& stored, const Row& to) {
  auto names = ruled_attributes(model_.table);
  for (const auto& attribute : stored.entity->attributes) names.insert(attribute.name);
  names.insert(model_.table.version_attribute);
  bool changes = false;
  for (const auto& name : names) {
    const auto* found = stored.row.find(name);
    const auto* expected = to.item.find(name);
    if (same(found, expected)) continue;
    changes = true;
    work.findings.push_back({.kind = kind_of_attribute(*stored.entity, name),
                             .entity = stored.entity->name,
                             .key = stored.key,
                             .what = name,
                             .expected = json_of(expected),
                             .found = json_of(found)});
    work.plan.require(stored.key, is(name, found));
    if (expected != nullptr) {
      work.plan.set(stored.key, name, *expected);
    } else {
      work.plan.clear(stored.key, name);
    }
  }
  return changes;
}

Result<bool, Problem> Settler::plan_move(Work& work, const StoredEntity& stored, const Row& to) {
  Finding finding{.kind = Finding::Kind::Key,
                  .entity = stored.entity->name,
                  .key = stored.key,
                  .what = "primary key",
                  .expected = key_text(to.key),
                  .found = key_text(stored.key)};
  finding.repairable = !TRY(row(work, to.key))->has_value();
  work.findings.push_back(finding);
  if (!finding.repairable) return false;
  // What the model does not know moves along.
  auto moved = to.item;
  const auto ruled = ruled_attributes(model_.table);
  for (const auto& [name, content] : stored.row) {
    if (stored.entity->find_attribute(name) == nullptr && !ruled.contains(name) && moved.find(name) == nullptr) {
      moved.set(name, content);
    }
  }
  require_unchanged(work, stored, true);
  work.plan.remove(stored.key);
  work.plan.require(to.key, absent());
  work.plan.put(to.key, std::move(moved));
  return true;
}

Result<bool, Problem> Settler::plan_records(Work& work, const StoredEntity& stored, const std::vector<Row>& from,
                                            const std::vector<Row>& to) {
  const auto& type_attribute = model_.table.type_attribute;
  const auto is_main = [&](const Row& row) { return row.record == &stored.entity->main(); };
  std::vector<Item> keys;
  for (const auto* rows : {&from, &to}) {
    for (const auto& row : *rows) {
      if (!is_main(row)) keys.push_back(row.key);
    }
  }
  TRY(fetch(work, keys));

  bool changes = false;
  const auto find = [&](const Row& row, std::string expected, std::string found) {
    work.findings.push_back({.kind = Finding::Kind::Record,
                             .entity = stored.entity->name,
                             .key = row.key,
                             .what = row.record->name,
                             .expected = std::move(expected),
                             .found = std::move(found)});
    changes = true;
  };
  for (const auto& row : to) {
    if (is_main(row)) continue;
    const auto& found = work.rows.at(key_text(row.key));
    if (!found) {
      find(row, key_text(row.item), {});
      work.plan.require(row.key, absent());
      work.plan.put(row.key, row.item);
    } else if (!same(found->find(type_attribute), row.item.find(type_attribute))) {
      find(row, key_text(row.item), key_text(*found));  // somebody else's row is there
      work.findings.back().repairable = false;
      changes = false;
      return false;
    } else if (*found != row.item) {
      find(row, key_text(row.item), key_text(*found));
      work.plan.require(row.key, exists());
      for (const auto& [name, content] : row.item) {
        if (same(found->find(name), &content)) continue;
        work.plan.require(row.key, is(name, found->find(name)));
        work.plan.set(row.key, name, content);
      }
      for (const auto& [name, content] : *found) {
        if (row.item.find(name) != nullptr) continue;
        work.plan.require(row.key, is(name, &content));
        work.plan.clear(row.key, name);
      }
    }
  }
  for (const auto& row : from) {
    if (is_main(row) || find_row(to, row.key) != nullptr) continue;
    const auto& found = work.rows.at(key_text(row.key));
    if (!found || !same(found->find(type_attribute), row.item.find(type_attribute))) continue;
    find(row, {}, key_text(*found));
    work.plan.require(row.key, is(type_attribute, found->find(type_attribute)));
    work.plan.remove(row.key);
  }
  return changes;
}

Result<bool, Problem> Settler::plan_reservations(Work& work, const StoredEntity& stored, const std::optional<Item>& to,
                                                 bool thorough) {
  const auto& entity = *stored.entity;
  if (entity.uniques.empty()) return false;
  std::vector<model::Reservation> from_claims, to_claims;
  if (auto claims = model::reservations_of(model_, entity, stored.attributes)) from_claims = std::move(*claims);
  if (to) to_claims = TRY(checked(model::reservations_of(model_, entity, *to)));
  const auto claimed = [](const std::vector<model::Reservation>& claims, const Item& key) {
    return std::any_of(claims.begin(), claims.end(), [&](const auto& claim) { return claim.key == key; });
  };
  std::vector<model::Reservation> wanted, unwanted;
  for (auto& claim : to_claims) {
    if (thorough || !claimed(from_claims, claim.key)) wanted.push_back(claim);
  }
  for (auto& claim : from_claims) {
    if (!claimed(to_claims, claim.key)) unwanted.push_back(claim);
  }
  std::vector<Item> keys;
  for (const auto* claims : {&wanted, &unwanted}) {
    for (const auto& claim : *claims) keys.push_back(claim.key);
  }
  TRY(fetch(work, keys));

  bool changes = false;
  const auto find = [&](const model::Reservation& claim, std::string expected, std::string found) {
    work.findings.push_back({.kind = Finding::Kind::Reservation,
                             .entity = entity.name,
                             .key = claim.key,
                             .what = claim.rule->attributes.front(),
                             .expected = std::move(expected),
                             .found = std::move(found)});
  };
  const auto here = AttributeValue(key_text(stored.key));  // how a row that is not where it should be has claimed it
  for (const auto& claim : wanted) {
    const auto& found = work.rows.at(key_text(claim.key));
    const auto* owner = claim.item.find(kOwner);
    const auto* holder = found ? found->find(kOwner) : nullptr;
    if (found && same(holder, owner)) continue;
    find(claim, json_of(owner), json_of(holder));
    if (!found) {
      work.plan.require(claim.key, absent());
      work.plan.put(claim.key, claim.item);
      changes = true;
    } else if (same(holder, &here)) {
      work.plan.require(claim.key, is(std::string(kOwner), holder));
      work.plan.set(claim.key, std::string(kOwner), *owner);
      changes = true;
    } else {
      work.findings.back().repairable = false;
    }
  }
  for (const auto& claim : unwanted) {
    const auto& found = work.rows.at(key_text(claim.key));
    const auto* holder = found ? found->find(kOwner) : nullptr;
    if (!found || !(same(holder, claim.item.find(kOwner)) || same(holder, &here))) continue;
    find(claim, {}, json_of(holder));
    work.plan.require(claim.key, is(std::string(kOwner), holder));
    work.plan.remove(claim.key);
    changes = true;
  }
  return changes;
}

void Settler::require_unchanged(Work& work, const StoredEntity& stored, bool wholly) {
  work.plan.require(stored.key, exists());
  if (wholly) {
    for (const auto& [name, content] : stored.row) work.plan.require(stored.key, is(name, &content));
    return;
  }
  const auto& rules = rules_.of(*stored.entity);
  std::set<std::string> names;
  for (const auto& thing : rules.computed) names.insert(thing.begin(), thing.end());
  for (const auto& relation : rules.relations) {
    for (const auto& counter : relation.counters) {
      if (!counter.summed.empty()) names.insert(counter.summed);
    }
  }
  for (const auto& name : names) work.plan.require(stored.key, is(name, stored.row.find(name)));
}

}  // namespace stator::runtime
