#pragma once

#include "stator/model/diagnostic.h"
#include "stator/model/model.h"

namespace stator::model {

// Whether the design is sound, proved from the templates alone: what can collide, what a pattern reads that it does not
// return, whose text can forge a key, which partition is hot, what does not fit.  docs/internals/checker.md lists every
// finding, with the rule behind it.
//
// Findings that the model accepts are there with their reason; an acceptance that matches none is a finding itself.  In
// the order of the file.
Diagnostics check(const Model& model);

}  // namespace stator::model
