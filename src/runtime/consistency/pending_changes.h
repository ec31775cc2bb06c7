#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "stator/runtime/consistency/consistency_table.h"
#include "stator/runtime/consistency/reconciler.h"
#include "stator/runtime/problem.h"

namespace stator::runtime {

// The entities with changes that wait in the stream.  Rows that depend on them need not be right yet: a consistency
// manager will make them right, also when it was killed in the middle of a cascade.  A value type.
class PendingChanges {
 public:
  // Changes that are read at most; a finding that depends on a later one is not known as pending.
  static constexpr std::size_t kMost = 200'000;

  PendingChanges() = default;  // none
  // Reads behind the checkpoints of all managers, without leases: nothing is propagated.
  static Result<PendingChanges, Problem> read(const Reconciler& reconciler);
  // Reads all that a stream still has, as before the first verification of a table.
  static Result<PendingChanges, Problem> read_all(const Reconciler& reconciler, const std::string& stream) {
    return read_behind(reconciler, stream, {});
  }

  // Whether an entity, or one of its parents, has changed.
  bool concern(const Reconciler& reconciler, const StoredEntity& entity) const;
  // Whether the entity at this key has changed.
  bool contain(const value::Item& key) const { return !keys_.empty() && keys_.contains(key_text(key)); }

 private:
  static Result<PendingChanges, Problem> read_behind(const Reconciler& reconciler, const std::string& stream,
                                                     const std::vector<ShardProgress>& checkpoints);
  void add(const Reconciler& reconciler, const value::Item& row, bool expired);

  std::set<std::string> keys_;  // of main rows
};

}  // namespace stator::runtime
