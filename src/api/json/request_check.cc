#include "stator/api/json/request_check.h"

#include <cmath>
#include <limits>
#include <string>

#include "stator/api/json/type_check.h"
#include "stator/api/json/violations.h"

namespace stator::api {

Result<void> check_request(const Shape& input, value::JsonElement body) {
  value::JsonObject object;
  if (!body.get(object)) {
    return Error{ErrorCode::Serialization,
                 std::string(body.is_array() ? "Start of list found where not expected" : kUnexpectedValue)};
  }
  TypeCheck types;
  if (!types.structure(input, object)) return Error{ErrorCode::Serialization, types.take_error()};
  if (types.violated()) [[unlikely]] {
    return explain_violations(input, object, types.has_null_attribute_value());
  }
  return {};
}

Result<void> check_request(const Shape& input, std::string_view body) {
  value::JsonParser parser;
  return check_request(input, TRY(parser.parse(body)));
}

std::int64_t integer_of(value::JsonElement number) {
  std::int64_t integer = 0;
  if (number.get(integer)) return integer;
  std::uint64_t large = 0;
  if (number.get(large)) return Shape::kNoMax;  // what fits was taken above
  double real = 0;
  if (!number.get(real)) return 0;
  real = std::floor(real);
  if (real >= 0x1p63) return std::numeric_limits<std::int64_t>::max();
  if (real < -0x1p63) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(real);
}

}  // namespace stator::api
