#include "stator/runtime/consistency/reconciler.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <span>
#include <utility>

#include "stator/runtime/problem.h"
#include "stator/runtime/read/child_query.h"
#include "stator/runtime/rules/requirements.h"
#include "stator/value/json.h"

namespace stator::runtime {
namespace {

using model::Entity;
using value::Item;

constexpr unsigned kChildrenPage = 400;
// While others use the database, a batch ends at this many rows, because their requests wait while it is written.
// Smaller batches take longer in all, above all on disk.
constexpr std::size_t kPoliteRows = 12;
// After each of these batches there is a pause of this many times the time that it took, up to a limit: three quarters
// of the database's time are for other requests, and a request that arrives during a batch seldom waits for a second.
constexpr int kPausePerWork = 3;
constexpr std::chrono::milliseconds kLongestPause{60};

}  // namespace

std::string_view finding_name(RowFinding::Kind kind) {
  switch (kind) {
    case RowFinding::Kind::Copy: return "copy";
    case RowFinding::Kind::Derived: return "derived";
    case RowFinding::Kind::Key: return "key";
    case RowFinding::Kind::Record: return "record";
    case RowFinding::Kind::Counter: return "counter";
    case RowFinding::Kind::Reservation: return "reservation";
    case RowFinding::Kind::Orphan: return "orphan";
  }
  return {};
}

std::string key_text(const Item& key) {
  std::string text;
  value::append_json(text, key);
  return text;
}

Reconciler::Reconciler(const model::Model& model, Dynamo& dynamo, Random& random, const Traffic* traffic)
    : model_(model),
      dynamo_(dynamo),
      random_(random),
      traffic_(traffic),
      rules_(model),
      notice_(model, dynamo.client(), random, dynamo.clock()) {}

Result<Reconciler::Reconciliation, Problem> Reconciler::begin_reconciliation() {
  return Reconciliation(model_.table, TRY(notice_.look()));
}

// ------------------------------------------------------------------------------------------------------------- reading

void Reconciler::accept_type(const std::string& type, const Entity& entity, const model::Record& record) {
  accepted_types_.emplace(type, std::pair(&entity, &record));
}

std::pair<const Entity*, const model::Record*> Reconciler::type_of(const Item& row) const {
  const auto& type = row.text(model_.table.type_attribute);
  const auto accepted = accepted_types_.find(type);
  return accepted != accepted_types_.end() ? accepted->second : model_.find_row_type(type);
}

std::optional<StoredEntity> Reconciler::entity_of(const Item& row) const {
  const auto [entity, record] = type_of(row);
  if (entity == nullptr || record != &entity->main()) return std::nullopt;
  return StoredEntity{.entity = entity,
                      .key = model::primary_key_of(model_.table, row),
                      .row = row,
                      .attributes = model::attributes_of(model_, *entity, *record, row)};
}

Result<std::optional<StoredEntity>, Problem> Reconciler::read(const Entity& entity, const Item& key) {
  const auto row = TRY(dynamo_.get(model_.table.name, key));
  auto stored = row ? entity_of(*row) : std::nullopt;
  if (stored && stored->entity != &entity) stored.reset();
  return stored;
}

Result<void, Problem> Reconciler::fetch(Reconciliation& work, const std::vector<Item>& keys) {
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

Result<const std::optional<Item>*, Problem> Reconciler::row(Reconciliation& work, const Item& key) {
  TRY(fetch(work, {key}));
  return &std::as_const(work.rows.at(key_text(key)));
}

Result<std::optional<StoredEntity>, Problem> Reconciler::entity_at(Reconciliation& work, const Entity& entity,
                                                                   const Item& key) {
  const auto* found = TRY(row(work, key));
  auto stored = *found ? entity_of(**found) : std::nullopt;
  if (stored && stored->entity != &entity) stored.reset();
  return stored;
}

// --------------------------------------------------------------------------------------------------- what it should be

Result<Reconciler::Expectation, Problem> Reconciler::expect(Reconciliation& work, const StoredEntity& stored,
                                                            const ReconcileOptions& options) {
  const auto& entity = *stored.entity;
  Expectation expectation;
  expectation.gone = options.purge;
  expectation.attributes = stored.attributes;
  auto& attributes = expectation.attributes;
  if (options.adapt) options.adapt(entity, attributes);
  for (const auto& name : forgotten_) attributes.erase(name);

  const bool looks_up = options.parents != ReconcileOptions::Parents::Ignored;
  for (bool cleared = looks_up; cleared && !expectation.gone;) {
    cleared = false;
    for (const auto& rules : rules_.of(entity).relations) {
      const auto& relation = *rules.relation;
      // Where parents need not exist, a child without a copy may have been created after its parent was removed.
      const bool removed = &relation == options.removed && rules.copies.empty();
      const bool enforced = rules.follows_parent() && options.parents == ReconcileOptions::Parents::Enforced &&
                            (removed || has_had_parent(rules, stored.attributes));
      if (rules.copies.empty() && !enforced) continue;
      const auto key = TRY(checked(model::parent_key(model_, entity, relation, attributes)));
      if (!key) {
        copy_attributes(rules, nullptr, attributes);
        continue;
      }
      const auto parent = TRY(entity_at(work, *rules.parent, *key));
      expectation.parents.push_back({.rules = &rules, .key = *key, .attributes = {}});
      if (parent) {
        expectation.parents.back().attributes = parent->attributes;
        copy_attributes(rules, &parent->attributes, attributes);
      } else if (!enforced || !TRY(is_gone(work, stored, rules, options, expectation))) {
        continue;
      } else if (relation.on_delete != model::OnDelete::Clear) {
        expectation.gone = true;
        break;
      } else if (clear_attributes(relation, attributes)) {
        cleared = true;  // other relations may have gone with it
        break;
      }
    }
  }
  if (!expectation.gone) TRY(checked(derive_attributes(entity, &stored.attributes, attributes)));
  return expectation;
}

Result<bool, Problem> Reconciler::is_gone(Reconciliation& work, const StoredEntity& child, const RelationRules& rules,
                                          const ReconcileOptions& options, Expectation& expectation) {
  if (!options.former_place) return true;
  const auto place = options.former_place(*child.entity, *rules.relation, child.attributes);
  if (!place || TRY(row(work, *place))->has_value()) return false;
  expectation.parents.push_back({.rules = &rules, .key = *place, .attributes = {}});
  return true;
}

Result<void, Problem> Reconciler::plan(Reconciliation& work, const StoredEntity& stored,
                                       const ReconcileOptions& options) {
  const auto expectation = TRY(expect(work, stored, options));
  const auto* to = expectation.gone ? nullptr : &expectation.attributes;
  const bool changes = TRY(plan_change(work, stored, to, options));
  if (!changes) return {};
  for (const auto& parent : expectation.parents) {
    if (!parent.attributes) {
      const auto& found = work.rows.at(key_text(parent.key));
      work.plan.require(parent.key, entity_absent(model_.table, *parent.rules->parent, found));
      continue;
    }
    work.plan.require(parent.key, row_exists());
    for (auto& requirement : copy_requirements(*parent.rules, *parent.attributes)) {
      work.plan.require(parent.key, std::move(requirement));
    }
  }
  return {};
}

// --------------------------------------------------------------------------------------------------------- reconciling

Result<std::vector<RowFinding>, Problem> Reconciler::examine(const StoredEntity& stored,
                                                             const ReconcileOptions& options) {
  auto work = TRY(begin_reconciliation());
  TRY(plan(work, stored, options));
  TRY(plan_parents(work));
  return std::move(work.findings);
}

Result<std::vector<RowFinding>, Problem> Reconciler::reconcile(const StoredEntity& stored,
                                                               const ReconcileOptions& options) {
  std::optional<StoredEntity> current = stored;
  for (unsigned attempt = 1; attempt <= kCommitAttempts; ++attempt) {
    auto work = TRY(begin_reconciliation());
    TRY(plan(work, *current, options));
    TRY(plan_parents(work));
    const auto commit = TRY(work.plan.commit(dynamo_));
    if (commit == WritePlan::Commit::Written) return std::move(work.findings);
    back_off(attempt, random_, dynamo_.clock());
    current = TRY(read(*stored.entity, stored.key));
    if (!current) return std::vector<RowFinding>();
  }
  return contention();
}

Result<void, Problem> Reconciler::reconcile_all(const std::vector<StoredEntity>& stored,
                                                const ReconcileOptions& options) {
  std::optional<Problem> impossible;
  for (std::size_t begin = 0; begin < stored.size();) {
    const auto began = dynamo_.clock().steady_now();
    const bool quiet = traffic_ != nullptr && traffic_->is_quiet(began);
    const auto most_rows = quiet ? WritePlan::kMaxWrites : kPoliteRows;
    auto work = TRY(begin_reconciliation());
    auto end = begin;
    // At least one, and as many more as certainly fit.
    std::size_t widest = 0;
    bool planned = true;
    while (planned && end < stored.size() && work.plan.size() + rows_of_parents(work) + widest <= most_rows) {
      const auto before = work.plan.size();
      planned = plan(work, stored[end++], options).ok();
      widest = std::max(widest, work.plan.size() - before);
    }
    // An entity that changes itself and as a parent of others is planned by itself.
    const auto batch = std::span(stored).subspan(begin, end - begin);
    const bool entangled = std::any_of(
        batch.begin(), batch.end(), [&](const StoredEntity& one) { return work.parents.contains(key_text(one.key)); });
    planned = planned && !entangled && plan_parents(work).ok();
    const auto commit = planned && end - begin > 1 ? work.plan.commit(dynamo_) : WritePlan::Commit::Stale;
    if (!commit || *commit != WritePlan::Commit::Written) {
      for (auto one = begin; one < end; ++one) {
        const auto reconciled = reconcile(stored[one], options);
        if (reconciled) continue;
        if (reconciled.error().kind != ProblemKind::Invalid) return reconciled.error();
        if (!impossible) impossible = invalid(key_text(stored[one].key) + ": " + reconciled.error().message);
      }
    }
    const bool pauses = !quiet && end - begin > 1;
    begin = end;
    if (pauses) {
      const auto took = dynamo_.clock().steady_now() - began;
      dynamo_.clock().wait(std::min<std::chrono::nanoseconds>(took * kPausePerWork, kLongestPause));
    }
  }
  if (impossible) return std::move(*impossible);
  return {};
}

// ------------------------------------------------------------------------------------------------------------ children

Result<Reconciler::ChildPage, Problem> Reconciler::children(const StoredEntity& parent, const RelationRules& relation,
                                                            const std::optional<Item>& start) {
  const auto& child = *relation.child;
  const auto plan = TRY(checked(model::plan_children(model_, child, *relation.relation, parent.attributes)));
  const auto is_child = [&](const Item& row) { return type_of(row) == std::pair(&child, &child.main()); };
  auto found = TRY(read_children(dynamo_, model_, plan, parent.key, kChildrenPage, start, is_child));
  ChildPage page{.children = {}, .next = std::move(found.next)};
  for (auto& [row, attributes] : found.rows) {
    auto key = model::primary_key_of(model_.table, row);
    page.children.push_back(
        {.entity = &child, .key = std::move(key), .row = std::move(row), .attributes = std::move(attributes)});
  }
  return page;
}

// ------------------------------------------------------------------------------------------------------------- remains

Result<std::vector<RowFinding>, Problem> Reconciler::sweep_remains(const StoredEntity& gone) {
  for (unsigned attempt = 1; attempt <= kCommitAttempts; ++attempt) {
    auto work = TRY(begin_reconciliation());
    const auto effects =
        TRY(checked(effects_of(work.rules(), *gone.entity, {.attributes = &gone.attributes, .key = &gone.key}, {})));
    if (!TRY(plan_rows(work, *gone.entity, effects.rows, true))) return std::vector<RowFinding>();
    work.plan.require(gone.key, entity_absent(model_.table, *gone.entity, *TRY(row(work, gone.key))));
    const auto commit = TRY(work.plan.commit(dynamo_));
    if (commit == WritePlan::Commit::Written) return std::move(work.findings);
    // A new entity of this name was created meanwhile: then all rows belong to the new one.
    if (TRY(read(*gone.entity, gone.key))) return std::vector<RowFinding>();
    back_off(attempt, random_, dynamo_.clock());
  }
  return contention();
}

}  // namespace stator::runtime
