#include "stator/model/check/check.h"

#include <fmt/format.h>

#include <utility>

#include "stator/model/check/rules.h"

namespace stator::model {
namespace {

// Marks what the author accepts, and tells of acceptances that accept nothing, if all findings are there.
void accept(const Model& model, bool complete, Report& findings) {
  for (const auto& acceptance : model.accepted) {
    if (findings.accept(acceptance.finding, acceptance.on, acceptance.because) || !complete) continue;
    findings.warning(acceptance.position, "stale-acceptance",
                     fmt::format("there is no finding {}{} to accept", acceptance.finding,
                                 acceptance.on.empty() ? "" : fmt::format(" on {}", acceptance.on)),
                     acceptance.finding, "remove it: its finding is gone, and it would hide a new one");
  }
}

}  // namespace

void check(const Model& model, Report& findings, const CheckLimits& limits) {
  findings.begin_design();
  Steps steps(limits.steps, limits.stop);
  Findings proved(findings, steps);
  check_keys(model, proved);
  const bool keys_are_proved = steps.are_left();
  check_identity(model, findings);
  check_partitions(model, findings);
  check_patterns(model, proved);
  check_access(model, findings);
  check_numbers(model, findings);
  check_rules(model, findings);
  accept(model, steps.are_left(), findings);
  proved.conclude(model.table.position, keys_are_proved
                                            ? "what patterns read, and in which order,"
                                            : "which keys can be the same or be forged, and what patterns read,");
}

Diagnostics check(const Model& model, const CheckLimits& limits) {
  Report report(model.file);
  check(model, report, limits);
  return std::move(report).take();
}

}  // namespace stator::model
