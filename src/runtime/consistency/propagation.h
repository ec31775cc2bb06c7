#pragma once

#include <cstdint>
#include <functional>

#include "stator/runtime/consistency/settler.h"
#include "stator/runtime/dynamo/stream_reader.h"
#include "stator/runtime/problem.h"

namespace stator::runtime {

// Carries a change of one row to everything that the rules tie to it, as far as the change itself could not.
//
//   a parent's attribute that children copy    every child's copy, and the keys made from it
//   a parent that is gone                      children that go with it, or have attributes cleared
//   a parent that is there again               its counters, and its children's copies: the children now belong to the new one
//   a row that expired                         the entity's other rows, its reservations, its parents' counters
//
// A change only tells where to look; what is written follows from the table as it is then.  So a change that is carried twice,
// late, or after others does no harm, and what this writes itself comes back as a change that finds everything as it should be.
// One child after another, in small transactions: others' requests go between them.  Thread-safe.
class Propagation {
 public:
  // The settler outlives it.  `parents`: what children follow when they are settled.
  explicit Propagation(Settler& settler, SettleOptions::Parents parents = SettleOptions::Parents::Enforced)
      : settler_(settler), parents_(parents) {}

  // Whether a model has anything that needs this.
  static bool needed(const model::Model& model);

  // `stopping` is asked between transactions; a change that was left half way is carried again from the start.
  Result<void, Problem> carry(const Change& change, const std::function<bool()>& stopping = {});
  // Only what a change of an entity that stays means to copies of it.
  Result<void, Problem> carry_copies(const Change& change);

  // A change that was left half way ends with a problem of this code.
  static constexpr std::string_view kStopped = "Stopped";

 private:
  Result<void, Problem> carry_modification(const StoredEntity& before, const StoredEntity& after,
                                           const std::function<bool()>& stopping);
  Result<void, Problem> carry_arrival(const StoredEntity& after, const std::function<bool()>& stopping);
  Result<void, Problem> carry_removal(const StoredEntity& before, bool expired, const std::function<bool()>& stopping);
  Result<void, Problem> carry_expired_record(const value::Item& row);
  Result<void, Problem> settle_children(const StoredEntity& parent, const model::Entity& child,
                                        const RelationRules& relation, bool removed,
                                        const std::function<bool()>& stopping);
  Result<void, Problem> recount_parents(const StoredEntity& child);

  // Every relation to this entity, with the child that has it.
  template <typename Visit>
  Result<void, Problem> for_each_child(const model::Entity& parent, Visit visit);

  Settler& settler_;
  const SettleOptions::Parents parents_;
};

}  // namespace stator::runtime
