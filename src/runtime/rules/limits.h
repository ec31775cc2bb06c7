#pragma once

#include "stator/model/model.h"

// Bounds of the work that rules cause, the same for a request and for the Reconciler.
namespace stator::runtime {

// Sums can be summed up by parents' parents: this many generations.  The loader refuses models whose sums form a cycle.
inline constexpr unsigned kMaxCounterDepth = model::kMostGenerations;

// Whether the counters of these parents are too far up.  The parents of the entity that changes are generation 1.
constexpr bool too_deep(unsigned generation) { return generation > kMaxCounterDepth; }

// Generations of parents that are looked at to tell whether an entity is hidden or gone.
inline constexpr unsigned kMaxAncestors = model::kMostGenerations;

// How often a write is planned again from fresh reads when others have changed the rows that it read.
inline constexpr unsigned kCommitAttempts = 30;

}  // namespace stator::runtime
