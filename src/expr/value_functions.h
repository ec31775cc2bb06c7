#pragma once

#include <compare>
#include <cstddef>
#include <optional>

#include "stator/value/attribute_value.h"

// DynamoDB's comparisons and functions of values.  A null pointer is an absent attribute.
namespace stator::expr {

// Strings, numbers and binaries have an order, each among themselves.
std::partial_ordering compare(const value::AttributeValue* a, const value::AttributeValue* b);
inline bool equal(const value::AttributeValue* a, const value::AttributeValue* b) {
  return a != nullptr && b != nullptr && *a == *b;
}

bool begins_with(const value::AttributeValue* value, const value::AttributeValue* prefix);
// A substring of a string or binary, a member of a set, an element of a list.
bool contains(const value::AttributeValue* value, const value::AttributeValue* part);
// nullopt for a value without a size, such as a number.
std::optional<std::size_t> size_of(const value::AttributeValue* value);

}  // namespace stator::expr
