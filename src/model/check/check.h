#pragma once

#include <cstdint>
#include <stop_token>

#include "stator/model/diagnostic.h"
#include "stator/model/model.h"

namespace stator::model {

// How much a check may do.
//
// The default ends the check of a hostile model within half a minute.  Of the models in this repository, the largest
// system (worthwatch) takes 3.2 million steps, the largest of all (tests/model/import/saas.onetable.yaml) 5.5 million.
struct CheckLimits {
  std::uint64_t steps = 400'000'000;  // see Steps
  std::stop_token stop = {};          // ends the proofs as if the steps were used up
};

// Whether the design is sound, proved from the templates alone: what can collide, what a pattern reads that it does not
// return, whose text can forge a key, which partition is hot, what does not fit.  docs/internals/checker.md lists every
// finding, with the rule behind it.
//
// Findings that the model accepts are there with their reason; an acceptance that matches none is a finding itself.  In
// the order of the file.  When the limits end the proofs, what was found until then is there, and an error that says
// what is not proved.
Diagnostics check(const Model& model, const CheckLimits& limits = {});

}  // namespace stator::model
