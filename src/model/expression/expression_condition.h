#pragma once

#include <variant>

#include "stator/expr/condition.h"
#include "stator/model/expression/expression.h"

namespace stator::model {

// The rest of a condition when its inputs are known: true or false if they alone decide it, otherwise a condition for
// DynamoDB.
using BoundCondition = std::variant<bool, expr::Condition>;

// An expression as a condition of DynamoDB.  Parts that read no attribute are computed. Errors: Validation, if
// DynamoDB's grammar has no such expression (arithmetic on attributes, if(), fold()).
Result<BoundCondition> bind_condition(const Expression& expression, const Expression::Scope& inputs);

}  // namespace stator::model
