#pragma once

#include <cstddef>

#include "stator/value/attribute_value.h"

namespace stator::value {

inline constexpr std::size_t kMaxItemSizeBytes = 400 * 1024;
inline constexpr int kMaxNesting = 32;

// DynamoDB's size of a value, of an attribute with its name, and of an item: the unit of limits and capacity.
std::size_t value_size_bytes(const AttributeValue& value);
std::size_t attribute_size_bytes(std::string_view name, const AttributeValue& value);
std::size_t item_size_bytes(const AttributeMap& item);

// DynamoDB's answer to an update that would make an item too large.
Error update_size_error();

// DynamoDB's answer to a document nested too deep.
Error nesting_error();
// A value of an item is at level 1, and each list or map adds one level.  Decoding checks this already; an update can
// put a value that is fine on its own too deep.  Errors: Validation, nesting_error().
Result<void> check_nesting(const AttributeMap& item);

}  // namespace stator::value
