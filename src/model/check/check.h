#pragma once

#include <cstdint>
#include <stop_token>

#include "stator/model/diagnostic.h"
#include "stator/model/model.h"
#include "stator/model/report.h"

namespace stator::model {

// How much a check may do.
//
// The default ends the check of a hostile model within half a minute.  Of the models in this repository, the largest
// system (worthwatch) takes 3.2 million steps, the largest of all (tests/model/import/saas.onetable.yaml) 5.5 million.
struct CheckLimits {
  std::uint64_t steps = 400'000'000;  // see Steps
  std::stop_token stop = {};          // ends the proofs as if the steps were used up
};

// Checks that the design is sound, by proofs from the templates alone.  Findings are, for example, keys that can
// collide, patterns that read rows which they do not return, texts that can forge a key, hot partitions, and keys that
// can be too long.  docs/internals/checker.md lists every finding, with the rule behind it.
//
// Findings that the model accepts are there with their reason; an acceptance that matches none is a finding itself.
// When the limits end the proofs, the findings until then are reported, with an error that names the proofs which were
// not made.
void check(const Model& model, Report& report, const CheckLimits& limits = {});
// The findings alone, in the order of the file.
Diagnostics check(const Model& model, const CheckLimits& limits = {});

}  // namespace stator::model
