#pragma once

#include "stator/app/rest/extension.h"
#include "stator/runtime/problem.h"

namespace stator::systems::media_library {

// The parts of lending that the model cannot express: the history of an item, the deletion of that history, and overdue
// items. Thread-safe.
class Lending {
 public:
  explicit Lending(const app::ExtensionParts& parts) : parts_(parts) {}

  Result<http::Response, runtime::Problem> history(const app::NativeCall& call) const;
  // Removes all events of an item, some at a time, each time only if it is not lent.  Problems: NotFound, Conflict.
  Result<http::Response, runtime::Problem> forget(const app::NativeCall& call) const;
  Result<http::Response, runtime::Problem> overdue(const app::NativeCall& call) const;

 private:
  const app::ExtensionParts parts_;
};

}  // namespace stator::systems::media_library
