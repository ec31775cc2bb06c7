// Plans the writes that make the stored rows of an entity follow the rules.
#include "stator/runtime/consistency/reconciler.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/rules/requirements.h"
#include "stator/value/json.h"

namespace stator::runtime {
namespace {

using model::Entity;
using value::AttributeValue;
using value::Item;

std::string json_of(const AttributeValue* content) {
  std::string text;
  if (content != nullptr) value::append_json(text, *content);
  return text;
}

RowFinding::Kind kind_of_attribute(const Entity& entity, std::string_view name) {
  const auto* attribute = entity.find_attribute(name);
  if (attribute == nullptr) return RowFinding::Kind::Key;
  if (attribute->copy_of) return RowFinding::Kind::Copy;
  if (attribute->derived) return RowFinding::Kind::Derived;
  return RowFinding::Kind::Orphan;  // other attributes change only when a parent that is gone clears them
}

// The finding about a record or a reservation.
RowFinding finding_of(const Entity& entity, const RowEffect& row, const std::optional<Item>& found) {
  const bool is_record = row.record != nullptr;
  const auto show = [&](const std::optional<Item>& content) {
    if (!content) return std::string();
    return is_record ? key_text(*content) : json_of(content->find(row.mark));
  };
  return {.kind = is_record ? RowFinding::Kind::Record : RowFinding::Kind::Reservation,
          .entity = entity.name,
          .key = row.key,
          .what = is_record ? row.record->name : row.unique->attributes.front(),
          .expected = show(row.to),
          .found = show(found)};
}

void write_change(WritePlan& plan, const Item& key, const AttributeChange& change) {
  plan.require(key, attribute_is(change.name, change.from));
  if (change.to != nullptr)
    plan.set(key, change.name, *change.to);
  else
    plan.clear(key, change.name);
}

}  // namespace

Result<bool, Problem> Reconciler::plan_change(Reconciliation& work, const StoredEntity& stored, const Item* to,
                                              const ReconcileOptions& options) {
  const auto& entity = *stored.entity;
  auto effects =
      effects_of(work.rules(), entity, {.attributes = &stored.attributes, .key = &stored.key}, {.attributes = to});
  // A damaged row may not tell which other rows it had.  Verification meets these by themselves.
  if (!effects) effects = effects_of(work.rules(), entity, {}, {.attributes = to});
  if (!effects) return invalid(effects.error().message);

  bool changes = true;
  bool moved = false;
  if (to != nullptr) {
    const auto& main = effects->rows.front();
    moved = main.key != stored.key;
    changes = moved ? TRY(plan_move(work, stored, main)) : plan_main_row(work, stored, *main.to);
    if (moved && !changes) return false;  // another row lies where it should be
  } else {
    work.findings.push_back({.kind = RowFinding::Kind::Orphan,
                             .entity = entity.name,
                             .key = stored.key,
                             .what = {},
                             .expected = {},
                             .found = key_text(stored.row)});
    require_unchanged(work, stored);
    work.plan.remove(stored.key);
  }
  changes = TRY(plan_rows(work, entity, effects->rows, options.thorough || moved)) || changes;
  if (options.parents != ReconcileOptions::Parents::Ignored) {
    changes = TRY(plan_counters(work, entity, stored.attributes, to)) || changes;
  }
  if (changes && to != nullptr && !moved) require_unchanged(work, stored);
  return changes;
}

bool Reconciler::plan_main_row(Reconciliation& work, const StoredEntity& stored, const Item& to) {
  bool changes = false;
  for (const auto& change : differences(stored.row, to)) {
    const bool known = work.rules().of(*stored.entity).known.contains(change.name);
    if (!known && !forgotten_.contains(change.name)) continue;
    work.findings.push_back({.kind = kind_of_attribute(*stored.entity, change.name),
                             .entity = stored.entity->name,
                             .key = stored.key,
                             .what = change.name,
                             .expected = json_of(change.to),
                             .found = json_of(change.from)});
    write_change(work.plan, stored.key, change);
    changes = true;
  }
  return changes;
}

Result<bool, Problem> Reconciler::plan_move(Reconciliation& work, const StoredEntity& stored, const RowEffect& to) {
  RowFinding finding{.kind = RowFinding::Kind::Key,
                     .entity = stored.entity->name,
                     .key = stored.key,
                     .what = std::string(kPrimaryKey),
                     .expected = key_text(to.key),
                     .found = key_text(stored.key)};
  finding.repairable = !TRY(row(work, to.key))->has_value();
  work.findings.push_back(finding);
  if (!finding.repairable) return false;
  auto moved = *to.to;
  const auto& known = work.rules().of(*stored.entity).known;
  work.plan.require(stored.key, row_exists());
  for (const auto& [name, content] : stored.row) {
    work.plan.require(stored.key, attribute_is(name, &content));
    if (known.contains(name) || forgotten_.contains(name)) continue;
    moved.set(name, content);  // attributes that the model does not know move along
  }
  work.plan.remove(stored.key);
  work.plan.require(to.key, row_absent());
  work.plan.put(to.key, std::move(moved));
  return true;
}

Result<bool, Problem> Reconciler::plan_rows(Reconciliation& work, const Entity& entity,
                                            const std::vector<RowEffect>& rows, bool thorough) {
  std::vector<const RowEffect*> examined;
  std::vector<Item> keys;
  for (const auto& row : rows) {
    const bool kept_reservation = row.record == nullptr && row.from && row.to;
    if (row.record == &entity.main() || (kept_reservation && !thorough)) continue;
    examined.push_back(&row);
    keys.push_back(row.key);
  }
  TRY(fetch(work, keys));

  bool changes = false;
  for (const auto* row : examined) {
    const auto& found = work.rows.at(key_text(row->key));
    const auto action = row->action(found);
    if (action == RowEffect::Action::None) continue;
    work.findings.push_back(finding_of(entity, *row, found));
    if (action == RowEffect::Action::Blocked) {
      work.findings.back().repairable = false;
      continue;
    }
    changes = true;
    if (action == RowEffect::Action::Put) {
      work.plan.require(row->key, row_absent());
      work.plan.put(row->key, *row->to);
    } else if (action == RowEffect::Action::Update) {
      work.plan.require(row->key, row_exists());
      for (const auto& change : differences(*found, *row->to)) write_change(work.plan, row->key, change);
    } else {
      work.plan.require(row->key, attribute_is(std::string(row->mark), found->find(row->mark)));
      work.plan.remove(row->key);
    }
  }
  return changes;
}

void Reconciler::require_unchanged(Reconciliation& work, const StoredEntity& stored) {
  const auto& rules = work.rules().of(*stored.entity);
  work.plan.require(stored.key, row_exists());
  for (auto& requirement : requirements_of(rules.inputs, stored.row)) {
    work.plan.require(stored.key, std::move(requirement));
  }
}

}  // namespace stator::runtime
