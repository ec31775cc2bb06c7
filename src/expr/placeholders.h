#pragma once

#include <functional>
#include <map>
#include <string>

#include "stator/value/attribute_value.h"

namespace stator::expr {

using Names = std::map<std::string, std::string, std::less<>>;             // "#n" -> "name"
using Values = std::map<std::string, value::AttributeValue, std::less<>>;  // ":v" -> value

// The ExpressionAttributeNames and ExpressionAttributeValues of a request; bound expressions share them.
struct Placeholders {
  Names names = {};
  Values values = {};
};

}  // namespace stator::expr
