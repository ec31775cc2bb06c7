// The effects of an entity's change by the rules, as writes of its rows and reservations.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stator/runtime/problem.h"
#include "stator/runtime/rules/requirements.h"
#include "stator/runtime/write/transaction.h"

namespace stator::runtime {
namespace {

using model::Entity;
using value::AttributeValue;

Problem duplicate(const Entity& entity, const model::Unique& rule) {
  std::vector<model::ValueProblem> details;
  for (const auto& attribute : rule.attributes) details.push_back({attribute, "is taken"});
  return conflict("Duplicate", fmt::format("another {} has this {}", entity.name, fmt::join(rule.attributes, " and ")),
                  std::move(details));
}

}  // namespace

// In three passes over all drafts.  The plan judges requirements against what it has planned already, so they come
// before all changes.  Removals come before the rows that are put: one entity can take the place or the unique value
// that another one gives up.
Result<void, Problem> Transaction::plan() {
  std::vector<std::pair<const Draft*, Effects>> planned;
  for (const auto& draft : drafts_) {
    if (!draft.changed()) continue;
    const EntityState before{.attributes = draft.before ? &*draft.before : nullptr, .key = &draft.key};
    const EntityState after{.attributes = draft.after ? &*draft.after : nullptr,
                            .key = draft.before ? nullptr : &draft.key};
    planned.emplace_back(&draft, TRY(checked(effects_of(rules_, *draft.entity, before, after))));
  }
  for (const auto& [draft, effects] : planned) {
    if (draft->before) require_unchanged(*draft, effects);
  }
  for (const auto& [draft, effects] : planned) {
    for (const auto& row : effects.rows) {
      if (row.action(row.from) == RowEffect::Action::Remove) plan_.remove(row.key);
    }
  }
  for (auto& [draft, effects] : planned) {
    for (auto& row : effects.rows) plan_row(*draft->entity, row);
  }
  return {};
}

void Transaction::plan_row(const Entity& entity, RowEffect& row) {
  switch (row.action(row.from)) {
    case RowEffect::Action::None:
    case RowEffect::Action::Remove:
    case RowEffect::Action::Blocked: return;
    case RowEffect::Action::Update:
      for (const auto& change : differences(*row.from, *row.to)) plan_change(entity, row.key, change);
      return;
    case RowEffect::Action::Put:
      plan_.require(row.key, otherwise(row_absent(), row.record != nullptr ? exists_already(model_, entity)
                                                                           : duplicate(entity, *row.unique)));
      plan_.put(row.key, std::move(*row.to));
  }
}

void Transaction::plan_change(const Entity& entity, const value::Item& key, const AttributeChange& change) {
  if (const auto amount = change.addition(entity)) {
    plan_.add(key, change.name, *amount);
  } else if (change.to != nullptr) {
    plan_.set(key, change.name, *change.to);
  } else {
    plan_.clear(key, change.name);
  }
}

void Transaction::require_unchanged(const Draft& draft, const Effects& effects) {
  const auto& entity = *draft.entity;
  const auto& table = model_.table;
  const bool by_version = draft.by_user && entity.versioned;
  plan_.require(draft.key, attribute_is(table.type_attribute, AttributeValue::string(entity.main().type)));
  if (by_version) {
    plan_.require(draft.key, attribute_is(table.version_attribute, draft.before->find(table.version_attribute)));
  }
  for (auto& requirement : requirements_of(rules_.of(entity), effects, *draft.before, by_version)) {
    plan_.require(draft.key, std::move(requirement));
  }
}

}  // namespace stator::runtime
