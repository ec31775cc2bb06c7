#pragma once

#include "stator/model/check/check.h"
#include "stator/model/diagnostic.h"
#include "stator/model/model.h"

namespace stator::model {

// Checks that two models can share a table.  Findings are reported for the second model.  Models whose tables have
// different names have no findings.
//
// Both models must describe the same table, so that either can create it.  They need different names, which are in
// reservations and checkpoints; different types of rows, by which each model knows its rows, also in an index; and
// primary keys that are never equal.  If the limits end the proofs, an error says so.
Diagnostics check_shared(const Model& first, const Model& second, const CheckLimits& limits = {});

}  // namespace stator::model
