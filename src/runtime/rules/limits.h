#pragma once

// Bounds of what rules cause, the same for a request and for the Reconciler.
namespace stator::runtime {

// Sums can be summed up by parents' parents: this many generations.  The loader refuses models whose sums form a cycle.
inline constexpr unsigned kMaxCounterDepth = 16;

// Generations of parents that are looked at to tell whether an entity is hidden or gone.
inline constexpr unsigned kMaxAncestors = 16;

// How often a write is planned again from fresh reads when others have changed what it was computed from.
inline constexpr unsigned kCommitAttempts = 30;

}  // namespace stator::runtime
