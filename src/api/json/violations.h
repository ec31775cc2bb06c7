#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "stator/api/json/shape.h"
#include "stator/base/result.h"
#include "stator/value/json.h"

namespace stator::api {

// Walks a body whose types are right, and tells which constraints it breaks, in the service's order and words.
Error explain_violations(const Shape& input, value::JsonObject body, bool has_null_attribute_value);

// Checks a member that is no JSON against the constraints of its own shape, with the same words.  `path` is its place
// in the request, such as "statements.1.member.statement".  Errors: Validation.
Result<void> check_text(const Shape& shape, std::string_view path, std::string_view text);
Result<void> check_number(const Shape& shape, std::string_view path, std::int64_t number);
Result<void> check_list(const Shape& shape, std::string_view path, std::size_t members);  // it is not printed

}  // namespace stator::api
