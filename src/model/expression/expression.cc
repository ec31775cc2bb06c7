#include "stator/model/expression/expression.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "stator/base/assert.h"
#include "stator/expr/value_functions.h"
#include "stator/model/expression/expression_tree.h"
#include "stator/model/expression/template.h"
#include "stator/model/types/calendar.h"
#include "stator/model/types/text.h"
#include "stator/value/plain_text.h"

namespace stator::model {
namespace {

using value::AttributeValue;
using value::Number;
using Node = Expression::Node;
using Op = Node::Op;
using Value = std::optional<AttributeValue>;  // nullopt is null

const AttributeValue* pointer(const Value& value) { return value ? &*value : nullptr; }

Value truth(bool holds) { return AttributeValue::boolean(holds); }

std::string_view in_words(value::Type type) {
  using value::Type;
  switch (type) {
    case Type::S: return "a text";
    case Type::N: return "a number";
    case Type::B: return "binary";
    case Type::Bool: return "a boolean";
    case Type::L: return "a list";
    case Type::M: return "a map";
    case Type::Null: return "null";
    default: return "a set";
  }
}

std::string_view symbol_of(Op op) {
  switch (op) {
    case Op::Or: return "OR";
    case Op::And: return "AND";
    case Op::Not: return "NOT";
    case Op::Add: return "+";
    case Op::Subtract: return "-";
    case Op::Multiply: return "*";
    case Op::Divide: return "/";
    default: break;
  }
  STATOR_ASSERT(false, "only operators that are picky about types have a name in messages");
}

// "length"
std::string_view label(const Node& node) { return node.op == Op::Call ? name_of(node.function) : symbol_of(node.op); }

Error misfit(const Node& node, std::string_view wanted, const AttributeValue& value) {
  return validation_error(fmt::format("{} needs {}, not {}", label(node), wanted, in_words(value.type())));
}

Result<const Number*> number_of(const Node& node, const AttributeValue& value) {
  const auto* number = value.as_number();
  if (number == nullptr) return misfit(node, "numbers", value);
  return number;
}

Result<const std::string*> text_of(const Node& node, const AttributeValue& value) {
  const auto* text = value.as_string();
  if (text == nullptr) return misfit(node, "a text", value);
  return text;
}

// The text of a value inside a longer one.
Result<std::string> plain_text(const Node& node, const AttributeValue& value) {
  if (const auto* text = value.as_string()) return *text;
  if (const auto* number = value.as_number()) return number->to_string();
  if (const auto* boolean = value.as_bool()) return std::string(*boolean ? "true" : "false");
  return misfit(node, "texts, numbers or booleans", value);
}

// One expression in one scope.  Recursion is as deep as the tree, which the parser bounds.
class Evaluation {
 public:
  explicit Evaluation(const Expression::Scope& scope) : scope_(scope) {}

  Result<Value> value(const Node& node) const {
    switch (node.op) {
      case Op::Literal: return node.value;
      case Op::Path: return present(scope_.attribute ? follow(scope_.attribute(node.name), node.steps) : nullptr);
      case Op::Input: return present(scope_.input ? scope_.input(node.name) : nullptr);
      case Op::Or: return truth(TRY(any(node, true)));
      case Op::And: return truth(!TRY(any(node, false)));
      case Op::Not: return truth(!TRY(boolean(node, 0)));
      case Op::Add:
      case Op::Subtract:
      case Op::Multiply:
      case Op::Divide: return arithmetic(node);
      case Op::Call: return call(node);
      default: return truth(TRY(comparison(node)));
    }
  }

 private:
  static Value present(const AttributeValue* value) {
    if (value == nullptr || value->type() == value::Type::Null) return std::nullopt;
    return *value;
  }

  Result<Value> operand(const Node& node, std::size_t i) const { return value(node.operands[i]); }

  // The truth of an operand; null is false.
  Result<bool> boolean(const Node& node, std::size_t i) const {
    const Value value = TRY(operand(node, i));
    if (!value) return false;
    const bool* boolean = value->as_bool();
    if (boolean == nullptr) return misfit(node, "a condition", *value);
    return *boolean;
  }

  // Whether one of the operands is `wanted`; those behind it are not looked at.
  Result<bool> any(const Node& node, bool wanted) const {
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      if (TRY(boolean(node, i)) == wanted) return true;
    }
    return false;
  }

  // Null is neither equal to anything nor different from it; values of different types differ, and have no order.
  Result<bool> comparison(const Node& node) const {
    const Value left = TRY(operand(node, 0));
    if (!left) return false;
    if (node.op == Op::In) {
      for (std::size_t i = 1; i < node.operands.size(); ++i) {
        if (left == TRY(operand(node, i))) return true;
      }
      return false;
    }
    const Value right = TRY(operand(node, 1));
    if (!right) return false;
    const auto order = expr::compare(&*left, &*right);
    switch (node.op) {
      case Op::Equal: return *left == *right;
      case Op::NotEqual: return *left != *right;
      case Op::Less: return order < 0;
      case Op::LessOrEqual: return order <= 0;
      case Op::Greater: return order > 0;
      case Op::GreaterOrEqual: return order >= 0;
      default: return order >= 0 && expr::compare(&*left, pointer(TRY(operand(node, 2)))) <= 0;  // Between
    }
  }

  Result<Value> arithmetic(const Node& node) const {
    const Value left = TRY(operand(node, 0));
    const Value right = TRY(operand(node, 1));
    if (!left || !right) return Value();
    const Number& a = *TRY(number_of(node, *left));
    const Number& b = *TRY(number_of(node, *right));
    switch (node.op) {
      case Op::Add: return AttributeValue(TRY(a.add(b)));
      case Op::Subtract: return AttributeValue(TRY(a.subtract(b)));
      case Op::Multiply: return AttributeValue(TRY(a.multiply(b)));
      default: return AttributeValue(TRY(a.divide(b)));
    }
  }

  Result<Value> call(const Node& node) const {
    switch (node.function) {
      case Function::AttributeExists: return truth(TRY(operand(node, 0)).has_value());
      case Function::AttributeNotExists: return truth(!TRY(operand(node, 0)).has_value());
      case Function::If: return operand(node, TRY(boolean(node, 0)) ? 1 : 2);
      case Function::IfNotExists:
      case Function::Coalesce: return first_present(node);
      case Function::Concat: return concat(node);
      case Function::Min:
      case Function::Max: return extreme(node);
      case Function::ListAppend: return list_append(node);
      case Function::PlusSeconds: return plus_seconds(node);
      case Function::Now:
      case Function::Uuid:
      case Function::Ulid:
        if (!scope_.generate) return validation_error(fmt::format("{}() cannot be used here", label(node)));
        return scope_.generate(name_of(node.function));
      case Function::AttributeType:
      case Function::BeginsWith:
      case Function::Contains: return truth(TRY(test(node)));
      default: break;
    }
    // The other functions take one value, and null of null.
    const Value value = TRY(operand(node, 0));
    if (!value) return Value();
    return of_one(node, *value);
  }

  Result<bool> test(const Node& node) const {
    const Value left = TRY(operand(node, 0));
    const Value right = TRY(operand(node, 1));
    if (!left || !right) return false;
    switch (node.function) {
      case Function::BeginsWith: return expr::begins_with(&*left, &*right);
      case Function::Contains: return expr::contains(&*left, &*right);
      default: return right->as_string() != nullptr && value::type_name(left->type()) == *right->as_string();
    }
  }

  static Result<Value> of_one(const Node& node, const AttributeValue& value) {
    switch (node.function) {
      case Function::Size: {
        const auto size = expr::size_of(&value);
        return size ? Value(AttributeValue::number(static_cast<std::int64_t>(*size))) : Value();
      }
      case Function::Round: return AttributeValue(TRY(number_of(node, value))->round());
      default: break;
    }
    const std::string& text = *TRY(text_of(node, value));
    switch (node.function) {
      case Function::Lower: return AttributeValue(TRY(lower_case(text)));
      case Function::Upper: return AttributeValue(TRY(upper_case(text)));
      case Function::Fold: return AttributeValue(TRY(fold(text)));
      case Function::Sortable: return AttributeValue(escape(TRY(fold(text))));
      case Function::FoldLetters: return AttributeValue(TRY(fold_letters(text)));
      case Function::Alphabetical: return AttributeValue(escape(TRY(fold_letters(text))));
      case Function::Length: return AttributeValue::number(static_cast<std::int64_t>(value::count_code_points(text)));
      default: break;
    }
    STATOR_ASSERT(node.function == Function::Date, "every other function is handled before");
    const auto moment = parse_timestamp(text);
    if (!moment) return validation_error(fmt::format("date needs a timestamp, not '{}'", text));
    return AttributeValue(format_date(std::chrono::floor<std::chrono::days>(*moment)));
  }

  Result<Value> plus_seconds(const Node& node) const {
    const Value moment = TRY(operand(node, 0));
    const Value seconds = TRY(operand(node, 1));
    if (!moment || !seconds) return Value();
    const std::string& text = *TRY(text_of(node, *moment));
    const auto start = parse_timestamp(text);
    if (!start) return validation_error(fmt::format("plus_seconds needs a timestamp, not '{}'", text));
    constexpr std::int64_t kMost = 100LL * 366 * 24 * 60 * 60;  // a century keeps within the years that can be written
    const auto amount = TRY(number_of(node, *seconds))->to_int64();
    if (!amount || *amount > kMost || *amount < -kMost)
      return validation_error("plus_seconds needs a whole number of seconds, at most a century");
    return AttributeValue(format_timestamp(*start + std::chrono::seconds(*amount)));
  }

  Result<Value> first_present(const Node& node) const {
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      Value value = TRY(operand(node, i));
      if (value) return value;
    }
    return Value();
  }

  Result<Value> concat(const Node& node) const {
    std::string text;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const Value value = TRY(operand(node, i));
      if (!value) return Value();
      text += TRY(plain_text(node, *value));
    }
    return AttributeValue(std::move(text));
  }

  // The smallest or largest operand that is not null.
  Result<Value> extreme(const Node& node) const {
    Value best;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      Value value = TRY(operand(node, i));
      if (!value) continue;
      if (!best) best = value;
      const auto order = expr::compare(&*value, &*best);
      if (order == std::partial_ordering::unordered)
        return misfit(node, fmt::format("values with an order like {}", in_words(best->type())), *value);
      if (node.function == Function::Min ? order < 0 : order > 0) best = std::move(value);
    }
    return best;
  }

  // Null is a list without elements.
  Result<Value> list_append(const Node& node) const {
    value::List list;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const Value value = TRY(operand(node, i));
      if (!value) continue;
      const auto* elements = value->as_list();
      if (elements == nullptr) return misfit(node, "lists", *value);
      list.insert(list.end(), elements->begin(), elements->end());
    }
    return AttributeValue(std::move(list));
  }

  const Expression::Scope& scope_;
};

// An error that says which expression it comes from.
template <typename T>
Result<T> told(Result<T> result, std::string_view text) {
  if (result.ok()) return result;
  return Error{result.error().code, fmt::format("{} in the expression: {}", result.error().message, text)};
}

}  // namespace

const AttributeValue* follow(const AttributeValue* value, const std::vector<PathStep>& steps) {
  for (const auto& step : steps) {
    if (value == nullptr) return nullptr;
    if (const auto* name = std::get_if<std::string>(&step)) {
      const auto* map = value->as_map();
      value = map == nullptr ? nullptr : map->find(*name);
    } else {
      const auto index = std::get<std::size_t>(step);
      const auto* list = value->as_list();
      value = list == nullptr || index >= list->size() ? nullptr : &(*list)[index];
    }
  }
  return value;
}

Result<Value> evaluate(const Node& node, const Expression::Scope& scope) { return Evaluation(scope).value(node); }

Result<Value> Expression::evaluate(const Scope& scope) const { return told(model::evaluate(*root_, scope), text_); }

Result<bool> Expression::holds(const Scope& scope) const {
  const Value value = TRY(evaluate(scope));
  if (!value) return false;
  if (const bool* boolean = value->as_bool()) return *boolean;
  return told(Result<bool>(validation_error(fmt::format("a condition is needed, not {}", in_words(value->type())))),
              text_);
}

Expression::Scope scope_of(const value::Item& attributes) {
  return {
      .attribute = [&attributes](std::string_view name) { return attributes.find(name); }, .input = {}, .generate = {}};
}

}  // namespace stator::model
