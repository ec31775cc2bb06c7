#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stator/base/result.h"
#include "stator/value/attribute_value.h"

namespace stator::model {

// An expression of a model: DynamoDB's condition grammar, with literals where DynamoDB wants placeholders, arithmetic,
// and a few functions.
//
//   attribute_not_exists(LentTo) AND Order BETWEEN 1 AND :max
//   if(status = 'READ', 'done', null)
//   price * 2 + size(tags)
//
// Operands: paths (Title, address.city, authors[0]; in an action the first name may be a step's: item.LentTo), :inputs
// (:me, the caller, and :now, the time, are always there), 'text' ('' is a quote inside), numbers, true, false, null.
// Operators, loosest first: OR, AND, NOT, = <> < <= > >= BETWEEN IN, + -, * /.  Words are known without regard to case.
// Functions: attribute_exists, attribute_not_exists, attribute_type, begins_with, contains, size as in DynamoDB; if(c,
// a, b), if_not_exists(a, b), coalesce(...), concat(...), lower, upper, fold, sortable, length (code points), round(n),
// min(...), max(...), list_append(a, b), date(t) (the day of a timestamp), now(), uuid(), ulid().
//
// null is the absence of a value: arithmetic with it is null, comparisons with it are false (<> and IN, too), as a
// condition it is false, and an attribute set to it is cleared.  A function of null is null, except that min and max
// leave it out and list_append takes it for an empty list.  Values of different types differ and have no order.
// Products are exact, quotients have 38 digits, and round takes halves away from zero.  A value type, cheap to copy
// (the tree is shared).
class Expression {
 public:
  struct Node;  // expression_tree.h

  // Bounds: 4 KB of text, nesting 32, 300 operators.  Errors: Validation, with the column (from 1) in the message.
  static Result<Expression> parse(std::string_view text);

  const std::string& text() const { return text_; }
  const Node& root() const { return *root_; }

  std::vector<std::string> paths() const;   // first names of the paths it reads, each once
  std::vector<std::string> inputs() const;  // without the colon, each once

  // The values of the names in an expression while it is evaluated.
  struct Scope {
    // An attribute, or a step, by its first name; null when absent.
    std::function<const value::AttributeValue*(std::string_view name)> attribute;
    // An input by its name without the colon; null when absent.
    std::function<const value::AttributeValue*(std::string_view name)> input;
    // For now(), uuid() and ulid(); an expression that calls one of them where this is empty is an error.
    std::function<value::AttributeValue(std::string_view function)> generate;
  };
  // The value; nullopt is null.  Errors: Validation (types that do not go together, division by zero).
  Result<std::optional<value::AttributeValue>> evaluate(const Scope& scope) const;
  // Evaluates to a boolean; null is false.
  Result<bool> holds(const Scope& scope) const;

  // Whether DynamoDB can evaluate it as a condition with any inputs: bind_condition() in expression_condition.h.
  bool is_dynamodb() const;

 private:
  std::string text_;
  std::shared_ptr<const Node> root_;
};

// Attributes of `attributes`, which must outlive it; no inputs, and nothing generated.
Expression::Scope scope_of(const value::Item& attributes);

}  // namespace stator::model
