#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stator/model/expression/expression.h"

namespace stator::model {

enum class Function : std::uint8_t {
  AttributeExists,
  AttributeNotExists,
  AttributeType,
  BeginsWith,
  Contains,
  Size,
  If,
  IfNotExists,
  Coalesce,
  Concat,
  Lower,
  Upper,
  Fold,
  Sortable,
  FoldLetters,
  Alphabetical,
  Length,
  Round,
  Min,
  Max,
  ListAppend,
  Date,
  PlusSeconds,
  Now,
  Uuid,
  Ulid,
};

// As it is written: "attribute_exists".
std::string_view name_of(Function function);

// One step from a value into it: a member of a map, or an element of a list.
using PathStep = std::variant<std::string, std::size_t>;

// A node of an expression's tree.  Which members mean something depends on `op`.
struct Expression::Node {
  enum class Op : std::uint8_t {
    Literal,  // value
    Path,     // name, steps
    Input,    // name
    Or,       // operands: two or more, none of them an Or itself unless it stood in parentheses
    And,      // likewise
    Not,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Between,  // operands: value, lower, upper
    In,       // operands: value, then one or more candidates
    Add,
    Subtract,
    Multiply,
    Divide,
    Call,  // function, operands
  };

  Op op = Op::Literal;
  std::size_t column = 1;                      // the first one, or that of an operator between operands
  std::optional<value::AttributeValue> value;  // nullopt: null
  std::string name;                            // of a Path, its first part
  std::vector<PathStep> steps;
  Function function = Function::AttributeExists;
  std::vector<Node> operands;
};

// Whether `node` or something in it is a path.
bool reads_attributes(const Expression::Node& node);

// The value at the end of `steps`; null when it is not there.
const value::AttributeValue* follow(const value::AttributeValue* value, const std::vector<PathStep>& steps);

// Like Expression::evaluate(), for a part of an expression.
Result<std::optional<value::AttributeValue>> evaluate(const Expression::Node& node, const Expression::Scope& scope);

}  // namespace stator::model
