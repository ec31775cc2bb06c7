#include "stator/expr/key_condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "stator/expr/bindings.h"

namespace stator::expr {

namespace {

KeyTerm::Op key_op(Op op) {
  switch (op) {
    case Op::Less: return KeyTerm::Op::Less;
    case Op::LessEqual: return KeyTerm::Op::LessEqual;
    case Op::Greater: return KeyTerm::Op::Greater;
    case Op::GreaterEqual: return KeyTerm::Op::GreaterEqual;
    case Op::Between: return KeyTerm::Op::Between;
    case Op::BeginsWith: return KeyTerm::Op::BeginsWith;
    default: return KeyTerm::Op::Equal;
  }
}

class Reader {
 public:
  explicit Reader(const Bindings& bindings) : bindings_(bindings) {}

  Result<void> read(NodeIndex index) {
    const Node& node = bindings_.node(index);
    static constexpr std::array kRefused = {
        Op::Or,      Op::Not, Op::In, Op::NotEqual, Op::AttributeExists, Op::AttributeNotExists, Op::AttributeType,
        Op::Contains};
    if (std::ranges::find(kRefused, node.op) != kRefused.end()) {
      return validation_error(fmt::format("Invalid operator used in KeyConditionExpression: {}", op_name(node.op)));
    }
    if (node.op != Op::And) return term(node);
    for (const NodeIndex operand : bindings_.tree->operands(node)) TRY(read(operand));
    return {};
  }

  KeyCondition take() { return std::move(condition_); }

 private:
  Result<void> term(const Node& node) {
    const auto operands = bindings_.tree->operands(node);
    const bool attribute_first = bindings_.node(operands[0]).op == Op::Path;
    if ((node.op == Op::Between || node.op == Op::BeginsWith) && !attribute_first) {
      return validation_error(fmt::format(
          "Invalid condition in KeyConditionExpression: {} operator must have the key attribute as its first operand",
          op_name(node.op)));
    }
    const Node* attribute = nullptr;
    std::vector<const value::AttributeValue*> values;
    for (const NodeIndex index : operands) {
      const Node& operand = bindings_.node(index);
      if (operand.op == Op::Size)
        return validation_error(
            "Invalid KeyConditionExpression: KeyConditionExpressions cannot contain nested operations");
      if (operand.op == Op::Value) {
        values.push_back(&bindings_.value(operand));
        continue;
      }
      if (attribute != nullptr) {
        return validation_error(
            "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition");
      }
      if (operand.range.count > 1) {
        return validation_error(
            "Invalid KeyConditionExpression: KeyConditionExpressions cannot have conditions on nested attributes");
      }
      attribute = &operand;
    }
    if (attribute == nullptr) {
      return validation_error("Invalid condition in KeyConditionExpression: No key attribute specified");
    }
    const std::string_view name = bindings_.attribute(*attribute);
    if (std::ranges::find(condition_.terms, name, &KeyTerm::attribute) != condition_.terms.end()) {
      return validation_error(
          "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key");
    }
    const KeyTerm::Op op = key_op(node.op);
    condition_.terms.push_back({.attribute = std::string(name),
                                .op = attribute_first ? op : turned(op),
                                .low = *values[0],
                                .high = values.size() > 1 ? *values[1] : value::AttributeValue()});
    return {};
  }

  const Bindings& bindings_;
  KeyCondition condition_;
};

}  // namespace

KeyTerm::Op turned(KeyTerm::Op op) {
  switch (op) {
    case KeyTerm::Op::Less: return KeyTerm::Op::Greater;
    case KeyTerm::Op::LessEqual: return KeyTerm::Op::GreaterEqual;
    case KeyTerm::Op::Greater: return KeyTerm::Op::Less;
    case KeyTerm::Op::GreaterEqual: return KeyTerm::Op::LessEqual;
    default: return op;
  }
}

Result<KeyCondition> to_key_condition(const Condition& condition) {
  Reader reader(*condition.bindings_);
  TRY(reader.read(condition.bindings_->root()));
  return reader.take();
}

}  // namespace stator::expr
