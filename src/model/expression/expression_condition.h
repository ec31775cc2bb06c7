#pragma once

#include <variant>

#include "stator/expr/condition.h"
#include "stator/model/expression/expression.h"

namespace stator::model {

// What inputs leave of a condition: true or false when they alone decide it, otherwise one that DynamoDB evaluates.
using BoundCondition = std::variant<bool, expr::Condition>;

// An expression as a condition of DynamoDB.  What does not read an attribute is computed.
// Errors: Validation, when DynamoDB's grammar cannot say it (arithmetic on attributes, if(), fold()).
Result<BoundCondition> bind_condition(const Expression& expression, const Expression::Scope& inputs);

}  // namespace stator::model
