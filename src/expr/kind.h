#pragma once

#include <cstdint>
#include <string_view>

namespace stator::expr {

// The request parameter an expression came in.  Decides which grammar it follows and how its errors begin.
enum class Kind : std::uint8_t { Condition, Filter, KeyCondition, Projection, Update };

// "ConditionExpression", "FilterExpression", ...
std::string_view parameter_name(Kind kind);

}  // namespace stator::expr
