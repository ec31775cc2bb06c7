#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stator/expr/condition.h"
#include "stator/expr/key_condition.h"
#include "stator/expr/tree.h"
#include "stator/expr/update.h"
#include "stator/value/attribute_value.h"

// Conditions and updates that are made in C++ instead of being parsed.
//
//   to_condition(any_of({absent("id"), compare("expires", Op::LessEqual, now)}))
//   UpdateBuilder().set("owner", me).remove("expires").add("count", one).finish()
namespace stator::expr {

// Part of a condition.  Attributes are names of the top level.  A value type.
struct Clause {
  Op op;
  std::string attribute = {};                      // except of And and Or
  std::vector<value::AttributeValue> values = {};  // of a comparison: one
  std::vector<Clause> clauses = {};                // of And and Or: one or more
};
Clause exists(std::string attribute);
Clause absent(std::string attribute);
// The attribute on the left.  A comparison, such as Op::LessEqual, or BeginsWith, or Contains.
Clause compare(std::string attribute, Op op, value::AttributeValue value);
Clause all_of(std::vector<Clause> clauses);
Clause any_of(std::vector<Clause> clauses);

Condition to_condition(const Clause& clause);

// Terms of a key condition.
KeyTerm key_equals(std::string attribute, value::AttributeValue value);
KeyTerm key_begins_with(std::string attribute, value::AttributeValue value);
KeyTerm key_between(std::string attribute, value::AttributeValue low, value::AttributeValue high);

class UpdateBuilder {
 public:
  UpdateBuilder& set(std::string attribute, value::AttributeValue value);
  UpdateBuilder& remove(std::string attribute);
  UpdateBuilder& add(std::string attribute, value::AttributeValue value);
  // One action at least must have been added.
  Update finish();

 private:
  UpdateBuilder& action(Action::Section section, std::string attribute, value::AttributeValue value);

  TreeBuilder tree_{Kind::Update};
  Placeholders placeholders_;
};

}  // namespace stator::expr
