#pragma once

#include "stator/value/attribute_value.h"

namespace stator::value {

// Whether two attributes are equal; null: the attribute is absent.
inline bool same(const AttributeValue* a, const AttributeValue* b) {
  return a == nullptr || b == nullptr ? a == b : *a == *b;
}

}  // namespace stator::value
