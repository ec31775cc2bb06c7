#pragma once

#include <initializer_list>
#include <string_view>

#include "stator/api/json/json_members.h"
#include "stator/expr/binder.h"

namespace stator::api {

// Reads ExpressionAttributeNames and ExpressionAttributeValues of a request, checked, ready to bind expressions with.
// Errors: Validation.
Result<expr::Binder> read_placeholders(const JsonMembers& request, expr::Cache& cache);

// The error of a value in ExpressionAttributeValues.
Error bad_expression_value(const Error& error, std::string_view placeholder);

// Which parameters an operation (or one table of a batch) takes as expressions, and which as their older form.
struct ExpressionParameters {
  std::initializer_list<std::string_view> expressions;
  std::initializer_list<std::string_view> legacy;
};
// Refuses a mix of both, and names or values without an expression to use them.  Errors: Validation.
Result<void> check_expression_parameters(const JsonMembers& request, const ExpressionParameters& parameters);

}  // namespace stator::api
