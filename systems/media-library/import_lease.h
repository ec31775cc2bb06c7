#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "stator/app/rest/extension.h"
#include "stator/base/clock.h"
#include "stator/model/types/calendar.h"
#include "stator/runtime/problem.h"
#include "stator/value/attribute_value.h"

namespace stator::systems::media_library {

// The code of the problem when another import has the library, or another request the import.
inline constexpr std::string_view kImportRunning = "ImportRunning";

// A lease on a library, so that one import at a time writes to it.  Two imports would not see each other's ISBNs and
// collections.
//
// If the process dies, the lease expires a little later.  Confined to one request.
class ImportLease {
 public:
  static constexpr std::chrono::seconds kLength{15};

  // For the import of that id; `library` names the library.  A request that continues an import has its lease at once.
  // Problems: Conflict `ImportRunning`; NotFound, when there is no library any more.
  static Result<ImportLease, runtime::Problem> take(const app::ExtensionParts& parts, const value::Item& library,
                                                    const std::string& id);
  // Whether a request has the lease on `library`, which was read a moment ago, for the import of that id.
  static bool is_held(const app::ExtensionParts& parts, const value::Item& library, const std::string& id);

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
