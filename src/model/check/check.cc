#include "stator/model/check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stator/model/check/findings.h"

namespace stator::model {
namespace {

// Marks what the author accepts, and tells of acceptances that accept nothing.
void accept(const Model& model, Diagnostics& diagnostics) {
  for (const auto& acceptance : model.accepted) {
    bool matches = false;
    for (auto& diagnostic : diagnostics) {
      if (diagnostic.code != acceptance.finding) continue;
      if (!acceptance.on.empty() && diagnostic.subject != acceptance.on) continue;
      diagnostic.accepted = acceptance.because;
      matches = true;
    }
    if (matches) continue;
    diagnostics.push_back({.severity = Severity::Warning,
                           .code = "stale-acceptance",
                           .file = model.file,
                           .position = acceptance.position,
                           .message = fmt::format("there is no finding {}{} to accept", acceptance.finding,
                                                  acceptance.on.empty() ? "" : fmt::format(" on {}", acceptance.on)),
                           .witness = {},
                           .fix = "remove it: what it was written for is gone, and it would hide what comes next",
                           .accepted = {},
                           .subject = acceptance.finding});
  }
}

}  // namespace

void Findings::error(About about, std::string message, std::string fix, std::string witness) {
  add(Severity::Error, std::move(about), std::move(message), std::move(fix), std::move(witness));
}

void Findings::warning(About about, std::string message, std::string fix, std::string witness) {
  add(Severity::Warning, std::move(about), std::move(message), std::move(fix), std::move(witness));
}

void Findings::add(Severity severity, About about, std::string message, std::string fix, std::string witness) {
  if (!known_.emplace(about.code, about.subject, message).second) return;
  diagnostics_.push_back({.severity = severity,
                          .code = std::string(about.code),
                          .file = file_,
                          .position = about.position,
                          .message = std::move(message),
                          .witness = std::move(witness),
                          .fix = std::move(fix),
                          .accepted = {},
                          .subject = std::move(about.subject)});
}

Diagnostics check(const Model& model) {
  Findings findings(model);
  check_keys(model, findings);
  check_identity(model, findings);
  check_partitions(model, findings);
  check_patterns(model, findings);
  check_rules(model, findings);
  auto diagnostics = std::move(findings).take();
  accept(model, diagnostics);
  std::stable_sort(diagnostics.begin(), diagnostics.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return a.position < b.position; });
  return diagnostics;
}

}  // namespace stator::model
