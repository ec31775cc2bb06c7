#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "stator/app/rest/system.h"
#include "stator/base/clock.h"
#include "stator/model/types/calendar.h"
#include "stator/runtime/problem.h"
#include "stator/value/attribute_value.h"

namespace stator::systems::media_library {

// That one import at a time works on a library: two would not see each other's ISBNs and collections.
//
// Whoever dies holding it keeps it until it ends by itself, a little later.  Confined to one import.
class ImportLease {
 public:
  static constexpr std::chrono::seconds kLength{15};

  // `library` names it.  Problems: Conflict `ImportRunning`; NotFound, when there is no library any more.
  static Result<ImportLease, runtime::Problem> take(const app::ExtensionParts& parts, const value::Item& library);

  // To be called again and again by whoever works under it.  Problems: those of take(), when it ended and somebody else has it.
  Result<void, runtime::Problem> keep();
  // Gives it back, if it is still there to be given.
  void release();

 private:
  ImportLease(const app::ExtensionParts& parts, value::Item library, std::string id)
      : parts_(parts), library_(std::move(library)), id_(std::move(id)) {}

  Result<void, runtime::Problem> prolong();
  model::Moment now() const { return std::chrono::floor<std::chrono::milliseconds>(parts_.clock.now()); }

  const app::ExtensionParts& parts_;
  value::Item library_;
  std::string id_;
  model::Moment until_{};
};

}  // namespace stator::systems::media_library
