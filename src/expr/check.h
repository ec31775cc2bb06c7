#pragma once

#include <span>

#include "stator/base/result.h"
#include "stator/expr/bindings.h"
#include "stator/expr/path.h"

// The checks that need the placeholders.  Every error is Validation with DynamoDB's text, and each
// function reports the mistake that DynamoDB would report first.
namespace stator::expr {

// Undefined names and values, and operands that an operator cannot have, one comparison or function after the other.
Result<void> check_condition(const Bindings& bindings);

// The same for an update in the order of its own: names, values, then check_paths(), then check_update().
Result<void> check_names(const Bindings& bindings);
Result<void> check_values(const Bindings& bindings);
Result<void> check_update(const Bindings& bindings);

// No path may lead into another, nor may two disagree on whether something is a map or a list.
Result<void> check_paths(Kind kind, std::span<const Path> paths);

}  // namespace stator::expr
