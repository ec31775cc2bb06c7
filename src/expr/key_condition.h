#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stator/base/result.h"
#include "stator/expr/condition.h"
#include "stator/value/attribute_value.h"

namespace stator::expr {

// One comparison of a key condition, turned so that the attribute stands on the left.
struct KeyTerm {
  enum class Op : std::uint8_t { Equal, Less, LessEqual, Greater, GreaterEqual, Between, BeginsWith };

  std::string attribute;
  Op op;
  value::AttributeValue low;   // the operand
  value::AttributeValue high;  // only of Between; Null otherwise
};

// The operator that means the same once the operands have changed places: :v < a is a > :v.
KeyTerm::Op turned(KeyTerm::Op op);

// A key condition expression: all of its terms hold.  No attribute appears twice.  Whether the terms fit a key schema
// is checked by the layer that knows the schema.
struct KeyCondition {
  std::vector<KeyTerm> terms;
};

// Reads a bound condition as a key condition.  Errors: Validation, with DynamoDB's texts, if a key condition cannot
// have such a form.
Result<KeyCondition> to_key_condition(const Condition& condition);

}  // namespace stator::expr
