#include "stator/runtime/consistency/settler.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "stator/runtime/consistency/settler_parts.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/read/child_query.h"
#include "stator/value/json.h"

namespace stator::runtime {
namespace {

using model::Entity;
using model::Row;
using value::AttributeValue;
using value::Item;

constexpr unsigned kChildrenPage = 100;
// Where batches end, of the hundred rows that a transaction may have: others wait behind a large one.  Smaller ones take longer in
// all, on disk above all.
constexpr std::size_t kPlannedRows = 12;
// After each batch there is a pause of this many times what the batch took, up to a limit: three quarters of the database are for
// others, and what comes during a batch seldom waits for a second one.
constexpr int kPausePerWork = 3;
constexpr std::chrono::milliseconds kLongestPause{60};

// Whether that changes anything: what is cleared has its default again.
bool clear_attribute(Item& item, const model::Attribute& attribute) {
  const auto* content = attribute.default_value ? &*attribute.default_value : nullptr;
  if (same(item.find(attribute.name), content)) return false;
  assign(item, attribute.name, content);
  return true;
}

}  // namespace

Result<void, Problem> derive_again(const Entity& entity, Item& attributes) {
  const auto stored = attributes;
  TRY(checked(model::derive(entity, attributes)));
  for (const auto& attribute : entity.attributes) {
    if (!attribute.derived) continue;
    const auto inputs = attribute.derived->paths();
    const bool transient = std::any_of(inputs.begin(), inputs.end(), [&](const std::string& name) {
      const auto* input = entity.find_attribute(name);
      return input != nullptr && input->transient;
    });
    if (transient) assign(attributes, attribute.name, stored.find(attribute.name));
  }
  return {};
}

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

Result<std::optional<StoredEntity>, Problem> Settler::read(const Entity& entity, const Item& key) {
  const auto row = TRY(dynamo_.get(model_.table.name, key));
  auto stored = row ? entity_of(*row) : std::nullopt;
  if (stored && stored->entity != &entity) stored.reset();
  return stored;
}

Result<void, Problem> Settler::fetch(Work& work, const std::vector<Item>& keys) {
  std::vector<Item> missing;
  for (const auto& key : keys) {
    if (work.rows.try_emplace(key_text(key)).second) missing.push_back(key);
  }
  if (missing.empty()) return {};
  for (auto& row : TRY(dynamo_.batch_get(model_.table.name, missing))) {
    work.rows[key_text(model::primary_key_of(model_.table, row))] = std::move(row);
  }
  return {};
}

Result<const std::optional<Item>*, Problem> Settler::row(Work& work, const Item& key) {
  TRY(fetch(work, {key}));
  return &std::as_const(work.rows.at(key_text(key)));
}

Result<std::optional<StoredEntity>, Problem> Settler::entity_at(Work& work, const Entity& entity, const Item& key) {
  const auto* found = TRY(row(work, key));
  auto stored = *found ? entity_of(**found) : std::nullopt;
  if (stored && stored->entity != &entity) stored.reset();
  return stored;
}

// ------------------------------------------------------------------------------------------------------- what it should be

Result<Settler::Expectation, Problem> Settler::expect(Work& work, const StoredEntity& stored,
                                                      const SettleOptions& options) {
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
      const bool follows = rules.goes_along || relation.on_delete == model::OnDelete::Clear;
      // Where parents need not exist, a child without a copy may have come after its parent went.
      const bool removed = &relation == options.removed && rules.copies.empty();
      const bool enforced = follows && options.parents == SettleOptions::Parents::Enforced &&
                            (removed || has_had_parent(rules, stored.attributes));
      if (rules.copies.empty() && !enforced) continue;
      const auto key = TRY(checked(model::parent_key(model_, entity, relation, attributes)));
      if (!key) {
        for (const auto* copy : rules.copies) attributes.erase(copy->name);
        continue;
      }
      const auto parent = TRY(entity_at(work, *rules.parent, *key));
      expectation.parents.push_back({.rules = &rules, .key = *key, .attributes = {}});
      if (parent) {
        expectation.parents.back().attributes = parent->attributes;
        for (const auto* copy : rules.copies) {
          assign(attributes, copy->name, parent->attributes.find(copy->copy_of->attribute));
        }
      } else if (!enforced || !TRY(is_gone(work, stored, rules, options, expectation))) {
        continue;
      } else if (relation.on_delete != model::OnDelete::Clear) {
        expectation.gone = true;
        break;
      } else {
        for (const auto& name : relation.clear) {
          cleared = clear_attribute(attributes, *entity.find_attribute(name)) || cleared;
        }
        if (cleared) break;  // other relations may have gone with it
      }
    }
  }
  if (!expectation.gone) TRY(derive_again(entity, attributes));
  return expectation;
}

Result<bool, Problem> Settler::is_gone(Work& work, const StoredEntity& child, const RelationRules& rules,
                                       const SettleOptions& options, Expectation& expectation) {
  if (!options.former_place) return true;
  const auto place = options.former_place(*child.entity, *rules.relation, child.attributes);
  if (!place || TRY(row(work, *place))->has_value()) return false;
  expectation.parents.push_back({.rules = &rules, .key = *place, .attributes = {}});
  return true;
}

Result<void, Problem> Settler::plan(Work& work, const StoredEntity& stored, const SettleOptions& options) {
  const auto expectation = TRY(expect(work, stored, options));
  std::optional<Item> to;
  if (!expectation.gone) to = expectation.attributes;
  const bool changes = TRY(plan_change(work, stored, to, options, 0));
  if (!changes) return {};
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
  return {};
}

// ------------------------------------------------------------------------------------------------------------------ settling

Result<std::vector<Finding>, Problem> Settler::examine(const StoredEntity& stored, const SettleOptions& options) {
  Work work(model_.table);
  TRY(plan(work, stored, options));
  return std::move(work.findings);
}

Result<std::vector<Finding>, Problem> Settler::settle(const StoredEntity& stored, const SettleOptions& options) {
  std::optional<StoredEntity> current = stored;
  for (unsigned attempt = 1; attempt <= kSettleAttempts; ++attempt) {
    Work work(model_.table);
    TRY(plan(work, *current, options));
    const auto commit = TRY(work.plan.commit(dynamo_));
    if (commit == WritePlan::Commit::Written) return std::move(work.findings);
    back_off(attempt, random_, dynamo_.clock());
    current = TRY(read(*stored.entity, stored.key));
    if (!current) return std::vector<Finding>();
  }
  return contention();
}

Result<void, Problem> Settler::settle_all(const std::vector<StoredEntity>& stored, const SettleOptions& options) {
  std::optional<Problem> impossible;
  for (std::size_t begin = 0; begin < stored.size();) {
    const auto began = dynamo_.clock().steady_now();
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
        if (settled.error().kind != ProblemKind::Invalid) return settled.error();
        if (!impossible) impossible = invalid(key_text(stored[one].key) + ": " + settled.error().message);
      }
    }
    const bool was_batch = end - begin > 1;
    begin = end;
    if (was_batch) {
      const auto took = dynamo_.clock().steady_now() - began;
      dynamo_.clock().wait(std::min<std::chrono::nanoseconds>(took * kPausePerWork, kLongestPause));
    }
  }
  if (impossible) return std::move(*impossible);
  return {};
}

// ------------------------------------------------------------------------------------------------------------------ children

Result<Settler::ChildPage, Problem> Settler::children(const StoredEntity& parent, const Entity& child,
                                                      const model::Parent& relation, const std::optional<Item>& start) {
  const auto plan = TRY(checked(model::plan_children(model_, child, relation, parent.attributes)));
  auto found = TRY(query_children(dynamo_, model_.table, plan, kChildrenPage, start));
  ChildPage page{.children = {}, .next = std::move(found.last_key)};
  for (const auto& row : found.items) {
    auto stored = entity_of(row);
    if (!stored || stored->entity != &child) continue;
    const auto key = model::parent_key(model_, child, relation, stored->attributes);
    if (key && *key == parent.key) page.children.push_back(std::move(*stored));
  }
  return page;
}

// ------------------------------------------------------------------------------------------------------------------- remains

Result<std::vector<Finding>, Problem> Settler::sweep_remains(const StoredEntity& gone) {
  for (unsigned attempt = 1; attempt <= kSettleAttempts; ++attempt) {
    Work work(model_.table);
    const auto rows = TRY(checked(model::rows_of(model_, *gone.entity, gone.attributes)));
    bool changes = TRY(plan_records(work, gone, rows, {}));
    changes = TRY(plan_reservations(work, gone, std::nullopt, true)) || changes;
    if (!changes) return std::vector<Finding>();
    work.plan.require(gone.key, absent());
    const auto commit = TRY(work.plan.commit(dynamo_));
    if (commit == WritePlan::Commit::Written) return std::move(work.findings);
    // Somebody made it anew meanwhile: then nothing remains, and what there is belongs to the new one.
    if (TRY(read(*gone.entity, gone.key))) return std::vector<Finding>();
    back_off(attempt, random_, dynamo_.clock());
  }
  return contention();
}

}  // namespace stator::runtime
