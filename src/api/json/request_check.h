#pragma once

#include <cstdint>
#include <string_view>

#include "stator/api/json/shape.h"
#include "stator/base/result.h"
#include "stator/value/json.h"

namespace stator::api {

// Holds a request's body against its operation's shape, before anything is decoded.
//
// A value of the wrong JSON type is Serialization; the first one in the body is reported.  Otherwise everything that
// breaks a constraint of the model (absent, length, range, pattern, enum) is Validation, up to ten of them in one
// message, in the service's order and words.  Members that the model does not know are ignored, and a member that is
// null is absent.
//
// When it succeeds every value has the JSON type that its shape says, and is within its bounds: strings of enums are of
// the set, B holds base64, and no list or map holds a null.  What an AttributeValue means (one type, a good number, a
// set without duplicates) is value::decode_value's to say.  Integers may be written with a fraction: read them with
// integer_of.
//
// Allocates nothing when nothing is wrong.  Thread-safe.
Result<void> check_request(const Shape& input, value::JsonElement body);
// The same for a body that has to be parsed first.
Result<void> check_request(const Shape& input, std::string_view body);

// A number of an Integer or Long member as the service reads it: rounded down, and held to the range of the type.
std::int64_t integer_of(value::JsonElement number);

}  // namespace stator::api
