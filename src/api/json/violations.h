#pragma once

#include "stator/api/json/shape.h"
#include "stator/base/result.h"
#include "stator/value/json.h"

namespace stator::api {

// Walks a body whose types are right, and tells which constraints it breaks, in the service's order and words.
Error explain_violations(const Shape& input, value::JsonObject body, bool has_null_attribute_value);

}  // namespace stator::api
