#pragma once

#include "stator/model/model.h"

namespace stator::runtime {

// The step that reads the one thing that an action of steps is about: its key is made of every name in the route, and
// of nothing else but the caller.  Null when there is none; such an action is about what it is `within`, if it says so.
const model::Step* subject_step(const model::Action& action);

// Whether that, or what the action is `within`, has a version, which a request can make its precondition.
bool has_versioned_subject(const model::Action& action);

}  // namespace stator::runtime
