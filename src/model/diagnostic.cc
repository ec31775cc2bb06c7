#include "stator/model/diagnostic.h"

#include <algorithm>

namespace stator::model {

bool has_errors(const Diagnostics& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::Error && d.accepted.empty(); });
}

}  // namespace stator::model
