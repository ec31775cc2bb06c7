#pragma once

#include <optional>

#include "stator/model/model.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/rules/effects.h"
#include "stator/runtime/rules/limits.h"
#include "stator/runtime/rules/rules.h"
#include "stator/value/attribute_value.h"

namespace stator::runtime {

// A parent whose counters were changed: its attributes before that and now, with what is derived from them.
struct ChangedParent {
  value::Item from;
  const value::Item* to = nullptr;  // lives until the next parent is changed
};

// Climbs from a changed entity to its parents, from each of them that changes to its own parents, and so on.
//
// `apply` takes a ParentEffect, changes the parent, and returns a Result<std::optional<ChangedParent>, Problem>.
// Nullopt: nothing above that parent changes, because it is not there, or because nothing is computed from the counters
// that changed.
//
// Null is an entity that is not there, before or after.  `generation` is that of the parents.
// Problems: those of `apply`; Invalid; Internal, when counters change in more than kMaxCounterDepth generations.
template <typename ApplyEffect>
Result<void, Problem> climb(const Rules& rules, const model::Entity& entity, const value::Item* from,
                            const value::Item* to, const ApplyEffect& apply, unsigned generation = 1) {
  for (const auto& effect : TRY(checked(effects_on_parents(rules, entity, from, to)))) {
    const auto& parent = *effect.rules->parent;
    if (!effect.counters.empty() && too_deep(generation)) return counters_too_deep(parent);
    const std::optional<ChangedParent> changed = TRY(apply(effect));
    if (changed) TRY(climb(rules, parent, &changed->from, changed->to, apply, generation + 1));
  }
  return {};
}

}  // namespace stator::runtime
