#pragma once

#include "stator/app/system.h"
#include "stator/runtime/outcome.h"

namespace stator::systems::media_library {

// What lending and returning, which the model has, leave open: the history of an item, its deletion, and what is overdue.
// Thread-safe.
class Lending {
 public:
  explicit Lending(const app::ExtensionParts& parts) : parts_(parts) {}

  runtime::Outcome<http::Response> history(const app::NativeCall& call) const;
  // Removes all events of an item, some at a time, each time only if it is not lent.  Problems: NotFound, Conflict.
  runtime::Outcome<http::Response> forget(const app::NativeCall& call) const;
  runtime::Outcome<http::Response> overdue(const app::NativeCall& call) const;

 private:
  const app::ExtensionParts parts_;
};

}  // namespace stator::systems::media_library
