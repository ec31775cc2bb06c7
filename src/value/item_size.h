#pragma once

#include <cstddef>

#include "stator/value/attribute_value.h"

namespace stator::value {

inline constexpr std::size_t kMaxItemSizeBytes = 400 * 1024;
inline constexpr int kMaxNesting = 32;

// DynamoDB's size of a value, of an attribute with its name, and of an item: what limits and capacity are counted in.
std::size_t value_size_bytes(const AttributeValue& value);
std::size_t attribute_size_bytes(std::string_view name, const AttributeValue& value);
std::size_t item_size_bytes(const AttributeMap& item);

}  // namespace stator::value
