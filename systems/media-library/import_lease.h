#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "stator/app/rest/extension.h"
#include "stator/base/clock.h"
#include "stator/model/types/calendar.h"
#include "stator/runtime/problem.h"
#include "stator/value/attribute_value.h"

namespace stator::systems::media_library {

// A lease on a library, so that one import at a time writes to it.  Two imports would not see each other's ISBNs and
// collections.
//
// If the process dies, the lease expires a little later.  Confined to one import.
class ImportLease {
 public:
  static constexpr std::chrono::seconds kLength{15};

  // `library` names it.  Problems: Conflict `ImportRunning`; NotFound, when there is no library any more.
  static Result<ImportLease, runtime::Problem> take(const app::ExtensionParts& parts, const value::Item& library);

  // The import calls it regularly.  Problems: those of take(), when the lease has expired and another import has it.
  Result<void, runtime::Problem> keep();
  // Ends the lease, if this import still has it.
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
