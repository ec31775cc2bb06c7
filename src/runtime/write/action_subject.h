#pragma once

#include "stator/model/model.h"

namespace stator::runtime {

// The subject of an action is one entity.  The step that reads it has a key made of every name in the route, and of no
// other values except the caller.  Null: there is no such step; the subject is then the entity in `within`, if any.
const model::Step* subject_step(const model::Action& action);

// Whether the subject has a version, which a request can use as a precondition.
bool has_versioned_subject(const model::Action& action);

}  // namespace stator::runtime
