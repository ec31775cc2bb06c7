#pragma once

#include <cstdint>
#include <functional>

#include "stator/runtime/consistency/reconciler.h"
#include "stator/runtime/dynamo/stream_reader.h"
#include "stator/runtime/problem.h"

namespace stator::runtime {

// Propagates a change of one row to the rows that depend on it and were not part of the same transaction.
//
//   a parent's attribute that children copy    every child's copy, and the keys made from it
//   a parent that was removed                  children are removed, or have attributes cleared
//   a parent that was created                  its counters, and its children's copies, if it has children already
//   a row that expired                         the entity's other rows, its reservations, its parents' counters
//
// A change only says where to look; the written values are computed from the table as it is at that moment.  So a
// change may be propagated twice, late, or after later changes.  The writes made here come back as changes, which find
// nothing to do.  Children are written in small transactions, so that other requests are served in between.
// Thread-safe.
class Propagation {
 public:
  // The reconciler outlives it.  `parents`: see ReconcileOptions.
  explicit Propagation(Reconciler& reconciler, ReconcileOptions::Parents parents = ReconcileOptions::Parents::Enforced)
      : reconciler_(reconciler), parents_(parents) {}

  // Whether a model has anything that needs this.
  static bool needed(const model::Model& model);

  // `stopping` is asked between transactions; when it says so, the problem is stopped().  Such a change has to be
  // propagated again from the start.
  Result<void, Problem> propagate(const Change& change, const std::function<bool()>& stopping = {});
  // Only the copies of an entity that was changed, not created or removed.
  Result<void, Problem> propagate_copies(const Change& change);

 private:
  Result<void, Problem> propagate_modification(const StoredEntity& before, const StoredEntity& after,
                                               const std::function<bool()>& stopping);
  Result<void, Problem> propagate_arrival(const StoredEntity& after, const std::function<bool()>& stopping);
  Result<void, Problem> propagate_removal(const StoredEntity& before, bool expired,
                                          const std::function<bool()>& stopping);
  Result<void, Problem> propagate_expired_record(const value::Item& row);
  Result<void, Problem> reconcile_children(const StoredEntity& parent, const RelationRules& relation, bool removed,
                                           const std::function<bool()>& stopping);
  Result<void, Problem> recount_parents(const StoredEntity& child);

  // Every relation to this entity, with the child that has it.
  template <typename Visit>
  Result<void, Problem> for_each_child(const model::Entity& parent, Visit visit);

  Reconciler& reconciler_;
  const ReconcileOptions::Parents parents_;
};

}  // namespace stator::runtime
