#pragma once

#include <memory>
#include <string_view>

#include "stator/base/result.h"
#include "stator/expr/kind.h"
#include "stator/expr/tree.h"

namespace stator::expr {

inline constexpr std::size_t kMaxOperators = 300;    // AND, OR, NOT, comparisons, BETWEEN, IN, + and -, functions
inline constexpr std::size_t kMaxPathElements = 32;  // names and indexes of one document path
inline constexpr std::size_t kMaxNestedGroups =
    400;  // parentheses and functions inside each other; more is never valid

// Parses one expression.  Takes time linear in the text and a bounded depth of stack.
//
// Finds all errors that do not depend on the placeholders and that DynamoDB reports before it looks at them:
// syntax, redundant parentheses, unknown or misplaced functions, reserved words, repeated sections, limits. Errors:
// Validation, with DynamoDB's texts ("Invalid FilterExpression: ...").
Result<std::shared_ptr<const Tree>> parse(Kind kind, std::string_view text);

}  // namespace stator::expr
