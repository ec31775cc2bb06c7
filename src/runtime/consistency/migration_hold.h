#pragma once

#include "stator/base/mutex.h"
#include "stator/model/model.h"
#include "stator/runtime/consistency/consistency_table.h"
#include "stator/runtime/problem.h"
#include "stator/value/attribute_value.h"

namespace stator::runtime {

// Whether a migration moves rows to other primary keys than the model's, or has moved them.  Then nothing may be
// propagated here until the new model is served, or until the migration is taken back.  Thread-safe.
class MigrationHold {
 public:
  MigrationHold(const model::Model& model, ConsistencyTable& table);  // both outlive it

  // Reads the announcement in the table.  Call it after a page of changes was read: a migration announces a move before
  // it begins, so a page with moved rows is never taken for an ordinary one.
  Result<bool, Problem> look();
  // The answer of the last look().
  bool is_held() const;

 private:
  const model::Model& model_;
  ConsistencyTable& table_;
  const value::Item keys_;  // how the model makes primary keys

  mutable Mutex mutex_;
  bool held_ GUARDED_BY(mutex_) = false;
};

}  // namespace stator::runtime
