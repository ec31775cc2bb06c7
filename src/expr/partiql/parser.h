#pragma once

#include <cstddef>
#include <string_view>

#include "stator/base/result.h"
#include "stator/expr/partiql/statement.h"

namespace stator::expr::partiql {

inline constexpr std::size_t kMaxStatementBytes = 4 * 8192;  // 8192 characters
// Parentheses, collections, functions, NOTs and chained operators inside each other.  The service has some bound of its
// own; a literal that may be stored is nested 32 levels at most.
inline constexpr std::size_t kMaxDepth = 100;

// Parses one statement.  Takes time linear in the text and a bounded depth of stack.
//
// Errors: Validation, with DynamoDB's texts where they are known.  `error_at`, when given, is set to the byte at which
// the statement stopped making sense.
Result<Statement> parse(std::string_view text, std::size_t* error_at = nullptr);

}  // namespace stator::expr::partiql
