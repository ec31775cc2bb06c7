#pragma once

#include "stator/base/mutex.h"
#include "stator/model/model.h"
#include "stator/runtime/consistency/consistency_table.h"
#include "stator/runtime/problem.h"
#include "stator/value/attribute_value.h"

namespace stator::runtime {

// Whether a migration moves rows to other primary keys than the model's, or has moved them: until the new model is
// served, or the migration is taken back, nothing may be propagated here.  Thread-safe.
class MigrationHold {
 public:
  MigrationHold(const model::Model& model, ConsistencyTable& table);  // both outlive it

  // Looks into the table.  Ask after a page was read: what a migration moves is announced before.
  Result<bool, Problem> look();
  // What the last look has found.
  bool is_held() const;

 private:
  const model::Model& model_;
  ConsistencyTable& table_;
  const value::Item keys_;  // how the model makes primary keys

  mutable Mutex mutex_;
  bool held_ GUARDED_BY(mutex_) = false;
};

}  // namespace stator::runtime
