#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stator/base/result.h"
#include "stator/model/validate.h"
#include "stator/value/attribute_value.h"

// Conditions of responses on the variables of a session, and assignments to these variables.  Conditions and computed
// values are written in the expressions of models, over variables instead of attributes:
//
//   { "label": "Pay", "condition": "coins >= 3", "set": { "coins": "=coins - 3", "paid": true } }
namespace stator::systems::stories {

inline constexpr std::size_t kMostVariables = 100;
inline constexpr std::size_t kMostVariableBytes = std::size_t{32} << 10;  // of all together, as JSON

// The attribute of that name if it is a map; otherwise an empty one.
const value::Item& map_of(const value::Item& attributes, std::string_view name);

// The text of a value that is computed, "=coins - 3"; null for any other.
const std::string* computed(const value::AttributeValue& content);

// Letters, digits and _, and no digit at the front.
bool is_variable_name(const std::string& name);

// The problems of the conditions and the computed values; `path` stands before "[2].condition".
std::vector<model::ValueProblem> check_responses(const value::List& responses, const std::string& path);

// The mistakes in variables: too many, too large, or names that an expression cannot use.
std::vector<model::ValueProblem> check_variables(const value::Item& variables, const std::string& path);

// Whether the response can be chosen.  Errors: Validation, when the condition cannot be computed with these variables.
Result<bool> is_open(const value::Item& response, const value::Item& variables);

// The variables once it is chosen; values are computed from the variables before.  Errors: Validation.
Result<value::Item> variables_after(const value::Item& response, const value::Item& variables);

}  // namespace stator::systems::stories
