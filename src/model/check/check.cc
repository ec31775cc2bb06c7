#include "stator/model/check/check.h"

#include <fmt/format.h>

#include <utility>

#include "stator/model/check/rules.h"

namespace stator::model {
namespace {

// Marks what the author accepts, and tells of acceptances that accept nothing.
void accept(const Model& model, Report& findings) {
  for (const auto& acceptance : model.accepted) {
    if (findings.accept(acceptance.finding, acceptance.on, acceptance.because)) continue;
    findings.warning(acceptance.position, "stale-acceptance",
                     fmt::format("there is no finding {}{} to accept", acceptance.finding,
                                 acceptance.on.empty() ? "" : fmt::format(" on {}", acceptance.on)),
                     acceptance.finding,
                     "remove it: what it was written for is gone, and it would hide what comes next");
  }
}

}  // namespace

Diagnostics check(const Model& model) {
  Report findings(model.file);
  check_keys(model, findings);
  check_identity(model, findings);
  check_partitions(model, findings);
  check_patterns(model, findings);
  check_access(model, findings);
  check_numbers(model, findings);
  check_rules(model, findings);
  accept(model, findings);
  return std::move(findings).take();
}

}  // namespace stator::model
