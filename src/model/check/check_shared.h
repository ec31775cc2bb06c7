#pragma once

#include "stator/model/check/check.h"
#include "stator/model/diagnostic.h"
#include "stator/model/model.h"

namespace stator::model {

// Whether two models can share a table: what stands against it, told of the second.  Nothing when their tables have
// different names.
//
// They must describe the same table, so that either can make it, and be told apart in it: by their names, which are in
// reservations and in progress, by the types of their rows, by which each knows its own, also in the indexes that it
// reads, and by primary keys that never meet.  When the limits end the proofs, there is an error that says so.
Diagnostics check_shared(const Model& first, const Model& second, const CheckLimits& limits = {});

}  // namespace stator::model
