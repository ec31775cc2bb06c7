#include "stator/runtime/settler.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "stator/runtime/child_query.h"
#include "stator/runtime/problems.h"
#include "stator/value/json.h"

namespace stator::runtime {
namespace {

using model::Entity;
using model::Row;
using value::AttributeValue;
using value::Item;

constexpr unsigned kAttempts = 12;        // to settle something that others keep changing
constexpr unsigned kPatientAttempts = 2;  // to see children stand still
constexpr unsigned kMaxDepth = 8;         // of counters that are summed up by their parents' parents
constexpr unsigned kChildrenPage = 100;
// Where batches end, of the hundred rows that a transaction may have: others wait behind a large one, and small ones are hardly slower.
constexpr std::size_t kPlannedRows = 25;
// After each batch there is a pause of this many times what the batch took, up to a limit: three quarters of the database are for
// others, and what comes during a batch seldom waits for a second one.
constexpr int kPausePerWork = 3;
constexpr std::chrono::milliseconds kLongestPause{60};
constexpr std::string_view kOwner = "Of";

std::string json_of(const AttributeValue* content) {
  std::string text;
  if (content != nullptr) value::append_json(text, *content);
  return text;
}

void assign(Item& item, const std::string& name, const AttributeValue* content) {
  if (content != nullptr) {
    item.set(name, *content);
  } else {
    item.erase(name);
  }
}

bool same(const AttributeValue* a, const AttributeValue* b) { return a == nullptr || b == nullptr ? a == b : *a == *b; }

// Whether that changes anything: what is cleared has its default again.
bool clear_attribute(Item& item, const model::Attribute& attribute) {
  const auto* content = attribute.default_value ? &*attribute.default_value : nullptr;
  if (same(item.find(attribute.name), content)) return false;
  assign(item, attribute.name, content);
  return true;
}

Requirement is(std::string attribute, const AttributeValue* content) {
  Requirement requirement{.kind = Requirement::Kind::Is, .attribute = std::move(attribute)};
  if (content != nullptr) requirement.value = *content;
  return requirement;
}
Requirement exists() { return {.kind = Requirement::Kind::Exists}; }
Requirement absent() { return {.kind = Requirement::Kind::Absent}; }

// The key attributes of the table and its indexes, the type, and the TTL: what only rules write.
std::set<std::string> ruled_attributes(const model::Table& table) {
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

value::Number number_at(const Item& attributes, const std::string& name) {
  const auto* content = attributes.find(name);
  const auto* number = content != nullptr ? content->as_number() : nullptr;
  return number != nullptr ? *number : value::Number();
}

const Row* find_row(const std::vector<Row>& rows, const Item& key) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.key == key; });
  return found != rows.end() ? &*found : nullptr;
}

// Computes derived attributes anew.  What was derived from something that is not stored stays as it was made.
Outcome<Done> derive_again(const Entity& entity, Item& attributes) {
  const auto stored = attributes;
  ATTEMPT(checked(model::derive(entity, attributes)));
  for (const auto& attribute : entity.attributes) {
    if (!attribute.derived) continue;
    const auto inputs = attribute.derived->paths();
    const bool transient = std::any_of(inputs.begin(), inputs.end(), [&](const std::string& name) {
      const auto* input = entity.find_attribute(name);
      return input != nullptr && input->transient;
    });
    if (transient) assign(attributes, attribute.name, stored.find(attribute.name));
  }
  return Done{};
}

}  // namespace

std::string_view finding_name(Finding::Kind kind) {
  switch (kind) {
    case Finding::Kind::Copy: return "copy";
    case Finding::Kind::Derived: return "derived";
    case Finding::Kind::Key: return "key";
    case Finding::Kind::Record: return "record";
    case Finding::Kind::Counter: return "counter";
    case Finding::Kind::Reservation: return "reservation";
    case Finding::Kind::Orphan: return "orphan";
  }
  return {};
}

std::string key_text(const Item& key) {
  std::string text;
  value::append_json(text, key);
  return text;
}

Settler::Settler(const model::Model& model, Dynamo& dynamo, Random& random)
    : model_(model), dynamo_(dynamo), random_(random), rules_(model) {}

// ------------------------------------------------------------------------------------------------------------------- reading

void Settler::accept_type(const std::string& type, const Entity& entity, const model::Record& record) {
  accepted_types_.emplace(type, std::pair(&entity, &record));
}

std::pair<const Entity*, const model::Record*> Settler::type_of(const Item& row) const {
  const auto* content = row.find(model_.table.type_attribute);
  const auto* type = content != nullptr ? content->as_string() : nullptr;
  if (type == nullptr) return {nullptr, nullptr};
  const auto accepted = accepted_types_.find(*type);
  return accepted != accepted_types_.end() ? accepted->second : model_.find_row_type(*type);
}

std::optional<StoredEntity> Settler::entity_of(const Item& row) const {
  const auto [entity, record] = type_of(row);
  if (entity == nullptr || record != &entity->main()) return std::nullopt;
  return StoredEntity{.entity = entity,
                      .key = model::primary_key_of(model_.table, row),
                      .row = row,
                      .attributes = model::attributes_of(model_, *entity, *record, row)};
}

Outcome<std::optional<StoredEntity>> Settler::read(const Entity& entity, const Item& key) {
  const auto row = ATTEMPT(dynamo_.get(model_.table.name, key));
  auto stored = row ? entity_of(*row) : std::nullopt;
  if (stored && stored->entity != &entity) stored.reset();
  return stored;
}

Outcome<Done> Settler::fetch(Work& work, const std::vector<Item>& keys) {
  std::vector<Item> missing;
  for (const auto& key : keys) {
    if (work.rows.try_emplace(key_text(key)).second) missing.push_back(key);
  }
  if (missing.empty()) return Done{};
  for (auto& row : ATTEMPT(dynamo_.batch_get(model_.table.name, missing))) {
    work.rows[key_text(model::primary_key_of(model_.table, row))] = std::move(row);
  }
  return Done{};
}

Outcome<const std::optional<Item>*> Settler::row(Work& work, const Item& key) {
  ATTEMPT(fetch(work, {key}));
  return &std::as_const(work.rows.at(key_text(key)));
}

Outcome<std::optional<StoredEntity>> Settler::entity_at(Work& work, const Entity& entity, const Item& key) {
  const auto* found = ATTEMPT(row(work, key));
  auto stored = *found ? entity_of(**found) : std::nullopt;
  if (stored && stored->entity != &entity) stored.reset();
  return stored;
}

// ------------------------------------------------------------------------------------------------------- what it should be

Outcome<Settler::Expectation> Settler::expect(Work& work, const StoredEntity& stored, const SettleOptions& options) {
  const auto& entity = *stored.entity;
  Expectation expectation;
  expectation.gone = options.purge;
  expectation.attributes = stored.attributes;
  auto& attributes = expectation.attributes;
  if (options.adapt) options.adapt(entity, attributes);

  const bool looks_up = options.parents != SettleOptions::Parents::Ignored;
  for (bool cleared = looks_up; cleared && !expectation.gone;) {
    cleared = false;
    for (const auto& rules : rules_.of(entity).relations) {
      const auto& relation = *rules.relation;
      const bool follows =
          relation.on_delete == model::OnDelete::Cascade || relation.on_delete == model::OnDelete::Clear;
      // Where parents need not exist, a child without a copy may have come after its parent went.
      const bool removed = &relation == options.removed && rules.copies.empty();
      const bool enforced = follows && options.parents == SettleOptions::Parents::Enforced &&
                            (removed || has_had_parent(rules, stored.attributes));
      if (rules.copies.empty() && !enforced) continue;
      const auto key = ATTEMPT(checked(model::parent_key(model_, entity, relation, attributes)));
      if (!key) {
        for (const auto* copy : rules.copies) attributes.erase(copy->name);
        continue;
      }
      const auto parent = ATTEMPT(entity_at(work, *rules.parent, *key));
      expectation.parents.push_back({.rules = &rules, .key = *key, .attributes = {}});
      if (parent) {
        expectation.parents.back().attributes = parent->attributes;
        for (const auto* copy : rules.copies) {
          assign(attributes, copy->name, parent->attributes.find(copy->copy_of->attribute));
        }
      } else if (enforced && relation.on_delete == model::OnDelete::Cascade) {
        expectation.gone = true;
        break;
      } else if (enforced) {
        for (const auto& name : relation.clear) {
          cleared = clear_attribute(attributes, *entity.find_attribute(name)) || cleared;
        }
        if (cleared) break;  // other relations may have gone with it
      }
    }
  }
  if (!expectation.gone) ATTEMPT(derive_again(entity, attributes));
  return expectation;
}

Outcome<Done> Settler::plan(Work& work, const StoredEntity& stored, const SettleOptions& options) {
  const auto expectation = ATTEMPT(expect(work, stored, options));
  std::optional<Item> to;
  if (!expectation.gone) to = expectation.attributes;
  const bool changes = ATTEMPT(plan_change(work, stored, to, options, 0));
  if (!changes) return Done{};
  for (const auto& parent : expectation.parents) {
    if (!parent.attributes) {
      work.plan.require(parent.key, absent());
      continue;
    }
    work.plan.require(parent.key, exists());
    for (const auto* copy : parent.rules->copies) {
      const auto& source = copy->copy_of->attribute;
      work.plan.require(parent.key, is(source, parent.attributes->find(source)));
    }
  }
  return Done{};
}

// --------------------------------------------------------------------------------------------------- from what is to what should be

Outcome<bool> Settler::plan_change(Work& work, const StoredEntity& stored, const std::optional<Item>& to,
                                   const SettleOptions& options, unsigned depth) {
  const auto& entity = *stored.entity;
  // Where a damaged row cannot say what its other rows are, there are none to look for; verification meets them by themselves.
  const auto from_rows = model::rows_of(model_, entity, stored.attributes);
  std::vector<Row> to_rows;
  bool changes = false;
  bool moved = false;
  if (to) {
    to_rows = ATTEMPT(checked(model::rows_of(model_, entity, *to)));
    moved = to_rows.front().key != stored.key;
    changes = moved ? ATTEMPT(plan_move(work, stored, to_rows.front())) : plan_main_row(work, stored, to_rows.front());
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
  changes = ATTEMPT(plan_records(work, stored, from_rows ? *from_rows : std::vector<Row>(), to_rows)) || changes;
  changes = ATTEMPT(plan_reservations(work, stored, to, options.thorough || moved)) || changes;
  if (options.parents != SettleOptions::Parents::Ignored) {
    changes = ATTEMPT(plan_counters(work, stored, to, depth)) || changes;
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

Outcome<bool> Settler::plan_move(Work& work, const StoredEntity& stored, const Row& to) {
  Finding finding{.kind = Finding::Kind::Key,
                  .entity = stored.entity->name,
                  .key = stored.key,
                  .what = "primary key",
                  .expected = key_text(to.key),
                  .found = key_text(stored.key)};
  finding.repairable = !ATTEMPT(row(work, to.key))->has_value();
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

Outcome<bool> Settler::plan_records(Work& work, const StoredEntity& stored, const std::vector<Row>& from,
                                    const std::vector<Row>& to) {
  const auto& type_attribute = model_.table.type_attribute;
  const auto is_main = [&](const Row& row) { return row.record == &stored.entity->main(); };
  std::vector<Item> keys;
  for (const auto* rows : {&from, &to}) {
    for (const auto& row : *rows) {
      if (!is_main(row)) keys.push_back(row.key);
    }
  }
  ATTEMPT(fetch(work, keys));

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

Outcome<bool> Settler::plan_reservations(Work& work, const StoredEntity& stored, const std::optional<Item>& to,
                                         bool thorough) {
  const auto& entity = *stored.entity;
  if (entity.uniques.empty()) return false;
  std::vector<model::Reservation> from_claims, to_claims;
  if (auto claims = model::reservations_of(model_, entity, stored.attributes)) from_claims = std::move(*claims);
  if (to) to_claims = ATTEMPT(checked(model::reservations_of(model_, entity, *to)));
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
  ATTEMPT(fetch(work, keys));

  bool changes = false;
  const auto find = [&](const model::Reservation& claim, std::string expected, std::string found) {
    work.findings.push_back({.kind = Finding::Kind::Reservation,
                             .entity = entity.name,
                             .key = claim.key,
                             .what = fmt::format("{}", claim.rule->attributes.front()),
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

Outcome<bool> Settler::plan_counters(Work& work, const StoredEntity& stored, const std::optional<Item>& to,
                                     unsigned depth) {
  const auto& entity = *stored.entity;
  const auto counted = [&](const Item& attributes, const model::Parent& relation) -> Outcome<std::optional<Item>> {
    if (!is_live(entity, attributes)) return std::optional<Item>();
    auto key = model::parent_key(model_, entity, relation, attributes);
    return key ? std::move(*key) : std::optional<Item>();  // what cannot name a parent was not counted by one
  };
  bool changes = false;
  for (const auto& rules : rules_.of(entity).relations) {
    if (rules.counters.empty()) continue;
    const auto from_parent = ATTEMPT(counted(stored.attributes, *rules.relation));
    const auto to_parent = to ? ATTEMPT(counted(*to, *rules.relation)) : std::nullopt;
    if (from_parent && from_parent == to_parent) {
      const bool moves = std::any_of(rules.counters.begin(), rules.counters.end(), [&](const Counter& counter) {
        return !counter.summed.empty() &&
               number_at(stored.attributes, counter.summed) != number_at(*to, counter.summed);
      });
      if (!moves) continue;
      ATTEMPT(count(work, rules, *from_parent, &stored.attributes, &*to, depth));
      changes = true;
      continue;
    }
    if (from_parent) ATTEMPT(count(work, rules, *from_parent, &stored.attributes, nullptr, depth));
    if (to_parent) ATTEMPT(count(work, rules, *to_parent, nullptr, &*to, depth));
    changes = changes || from_parent || to_parent;
  }
  return changes;
}

Outcome<Done> Settler::count(Work& work, const RelationRules& rules, const Item& parent_key, const Item* from,
                             const Item* to, unsigned depth) {
  auto parent = ATTEMPT(entity_at(work, *rules.parent, parent_key));
  if (!parent) {
    work.plan.require(parent_key, absent());
    return Done{};
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
    const auto amount = ATTEMPT(checked(weight(to).subtract(weight(from))));
    if (amount.is_zero()) continue;
    const auto& name = counter.attribute->name;
    if (plain.contains(name)) {
      work.plan.add(parent_key, name, amount);
      continue;
    }
    attributes.set(name, AttributeValue(ATTEMPT(checked(number_at(attributes, name).add(amount)))));
    computed = true;
  }
  if (!computed) return Done{};
  // Keys, other rows or sums further up are computed from it.
  if (depth == kMaxDepth) return invalid("counters sum each other up too deeply");
  ATTEMPT(derive_again(*rules.parent, attributes));
  const auto kept = work.findings.size();
  if (work.pending.contains(text)) parent->attributes = work.pending.at(text);
  ATTEMPT(plan_change(work, *parent, attributes, {}, depth + 1));
  work.findings.resize(kept);  // a consequence, not something that was wrong
  work.pending[text] = std::move(attributes);
  return Done{};
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

// ------------------------------------------------------------------------------------------------------------------ settling

Outcome<std::vector<Finding>> Settler::examine(const StoredEntity& stored, const SettleOptions& options) {
  Work work(model_.table);
  ATTEMPT(plan(work, stored, options));
  return std::move(work.findings);
}

Outcome<std::vector<Finding>> Settler::settle(const StoredEntity& stored, const SettleOptions& options) {
  std::optional<StoredEntity> current = stored;
  for (unsigned attempt = 1; attempt <= kAttempts; ++attempt) {
    Work work(model_.table);
    ATTEMPT(plan(work, *current, options));
    const auto commit = ATTEMPT(work.plan.commit(dynamo_));
    if (commit == WritePlan::Commit::Written) return std::move(work.findings);
    back_off(attempt, random_);
    current = ATTEMPT(read(*stored.entity, stored.key));
    if (!current) return std::vector<Finding>();
  }
  return contention();
}

Outcome<Done> Settler::settle_all(const std::vector<StoredEntity>& stored, const SettleOptions& options) {
  std::optional<Problem> impossible;
  for (std::size_t begin = 0; begin < stored.size();) {
    const auto began = std::chrono::steady_clock::now();
    Work work(model_.table);
    auto end = begin;
    // Always one; and as many more as certainly fit.
    std::size_t widest = 0;
    bool planned = true;
    while (planned && end < stored.size() && work.plan.size() + widest <= kPlannedRows) {
      const auto before = work.plan.size();
      planned = plan(work, stored[end++], options).ok();
      widest = std::max(widest, work.plan.size() - before);
    }
    const auto commit = planned && end - begin > 1 ? work.plan.commit(dynamo_) : WritePlan::Commit::Stale;
    if (!commit || *commit != WritePlan::Commit::Written) {
      for (auto one = begin; one < end; ++one) {
        const auto settled = settle(stored[one], options);
        if (settled) continue;
        if (settled.problem().kind != ProblemKind::Invalid) return settled.problem();
        if (!impossible) impossible = invalid(key_text(stored[one].key) + ": " + settled.problem().message);
      }
    }
    const bool was_batch = end - begin > 1;
    begin = end;
    if (was_batch) {
      const auto took = std::chrono::steady_clock::now() - began;
      std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(took * kPausePerWork, kLongestPause));
    }
  }
  if (impossible) return std::move(*impossible);
  return Done{};
}

// ------------------------------------------------------------------------------------------------------------------ children

Outcome<Settler::ChildPage> Settler::children(const StoredEntity& parent, const Entity& child,
                                              const model::Parent& relation, const std::optional<Item>& start) {
  const auto plan = ATTEMPT(checked(model::plan_children(model_, child, relation, parent.attributes)));
  auto found = ATTEMPT(query_children(dynamo_, model_.table, plan, kChildrenPage, start));
  ChildPage page{.children = {}, .next = std::move(found.last_key)};
  for (const auto& row : found.items) {
    auto stored = entity_of(row);
    if (!stored || stored->entity != &child) continue;
    const auto key = model::parent_key(model_, child, relation, stored->attributes);
    if (key && *key == parent.key) page.children.push_back(std::move(*stored));
  }
  return page;
}

// ------------------------------------------------------------------------------------------------------------------ counters

Outcome<Settler::Collection> Settler::collect(const StoredEntity& parent) {
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
        auto page = ATTEMPT(children(parent, child, *relation.relation, start));
        for (const auto& found : page.children) {
          if (!is_live(child, found.attributes)) continue;
          auto seen = key_text(found.key);
          for (const auto& counter : relation.counters) {
            const auto weight =
                counter.summed.empty() ? value::Number::from_int(1) : number_at(found.attributes, counter.summed);
            auto& total = collection.totals[counter.attribute->name];
            total = ATTEMPT(checked(total.add(weight)));
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

Outcome<std::vector<Finding>> Settler::recount(const StoredEntity& stored, bool repair,
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
  for (unsigned attempt = 1; attempt <= kAttempts; ++attempt) {
    const bool hurried = any_unkept && attempt > kPatientAttempts;
    if (hurried) std::erase_if(counters, [&](const auto* counter) { return !is_unkept(counter); });
    auto collection = ATTEMPT(collect(*current));
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

    const auto again = ATTEMPT(read(*stored.entity, stored.key));
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
    ATTEMPT(derive_again(*stored.entity, attributes));
    for (const auto* counter : counters) {
      work.plan.require(stored.key, is(counter->name, current->row.find(counter->name)));
    }
    ATTEMPT(plan_change(work, *current, attributes, {}, 0));
    const auto commit = ATTEMPT(work.plan.commit(dynamo_));
    if (commit == WritePlan::Commit::Written) return findings;
    back_off(attempt, random_);
    current = ATTEMPT(read(*stored.entity, stored.key));
    if (!current) return std::vector<Finding>();
    last.reset();
  }
  return contention();
}

// ------------------------------------------------------------------------------------------------------------------- remains

Outcome<std::vector<Finding>> Settler::sweep_remains(const StoredEntity& gone) {
  for (unsigned attempt = 1; attempt <= kAttempts; ++attempt) {
    Work work(model_.table);
    const auto rows = ATTEMPT(checked(model::rows_of(model_, *gone.entity, gone.attributes)));
    bool changes = ATTEMPT(plan_records(work, gone, rows, {}));
    changes = ATTEMPT(plan_reservations(work, gone, std::nullopt, true)) || changes;
    if (!changes) return std::vector<Finding>();
    work.plan.require(gone.key, absent());
    const auto commit = ATTEMPT(work.plan.commit(dynamo_));
    if (commit == WritePlan::Commit::Written) return std::move(work.findings);
    // Somebody made it anew meanwhile: then nothing remains, and what there is belongs to the new one.
    if (ATTEMPT(read(*gone.entity, gone.key))) return std::vector<Finding>();
    back_off(attempt, random_);
  }
  return contention();
}

}  // namespace stator::runtime
