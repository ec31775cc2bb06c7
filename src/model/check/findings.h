#pragma once

#include <string>
#include <string_view>

#include "stator/model/check/proof/steps.h"
#include "stator/model/report.h"

namespace stator::model {

// The collector for rules that prove something, with the steps of their proofs.  When none are left, it takes no more
// findings: they may follow from a proof that was not made.
class Findings {
 public:
  // Both outlive it.
  Findings(Report& report, Steps& steps) : report_(report), steps_(steps) {}

  void error(Report::About about, std::string message, std::string fix, std::string witness = {});
  void warning(Report::About about, std::string message, std::string fix, std::string witness = {});
  // Reports, if no steps are left, that proofs are missing: "{unproved} is not proved".  That finding cannot be
  // accepted.
  void conclude(Position position, std::string_view unproved);

  Steps& steps() const { return steps_; }

 private:
  Report& report_;
  Steps& steps_;
};

}  // namespace stator::model
