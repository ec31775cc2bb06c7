#include "stator/expr/condition.h"

#include <algorithm>
#include <array>

#include "stator/base/assert.h"
#include "stator/expr/bindings.h"
#include "stator/expr/value_functions.h"

namespace stator::expr {

using value::AttributeValue;
using value::Type;

namespace {

// A value to compare: one that lives elsewhere, the result of size(), or nothing.
class Operand {
 public:
  Operand(const AttributeValue* value) : value_(value) {}
  explicit Operand(std::size_t size) : size_(AttributeValue::number(static_cast<std::int64_t>(size))), is_size_(true) {}

  const AttributeValue* get() const { return is_size_ ? &size_ : value_; }

 private:
  const AttributeValue* value_ = nullptr;
  AttributeValue size_;
  bool is_size_ = false;
};

// The truth of a condition as a value.
const AttributeValue* truth(bool holds) {
  static const std::array kTruths = {AttributeValue::boolean(false), AttributeValue::boolean(true)};
  return &kTruths[holds ? 1 : 0];
}

// One condition against one item.  Recursion is as deep as the tree, which the parser bounds.
class Evaluation {
 public:
  Evaluation(const Bindings& bindings, const value::Item& item) : bindings_(bindings), item_(item) {}

  bool holds(NodeIndex index) const {
    const Node& node = bindings_.node(index);
    const auto operands = bindings_.tree->operands(node);
    const auto get = [&](std::size_t i) { return operand(operands[i]); };
    switch (node.op) {
      case Op::And: return std::ranges::all_of(operands, [&](NodeIndex i) { return holds(i); });
      case Op::Or: return std::ranges::any_of(operands, [&](NodeIndex i) { return holds(i); });
      case Op::Not: return !holds(operands[0]);
      case Op::Equal: return equal(get(0).get(), get(1).get());
      // Not the same as "not equal to a present value": an absent one differs from everything.
      case Op::NotEqual: return !equal(get(0).get(), get(1).get());
      case Op::Less: return compare(get(0).get(), get(1).get()) < 0;
      case Op::LessEqual: return compare(get(0).get(), get(1).get()) <= 0;
      case Op::Greater: return compare(get(0).get(), get(1).get()) > 0;
      case Op::GreaterEqual: return compare(get(0).get(), get(1).get()) >= 0;
      case Op::Between: {
        const Operand value = get(0);
        return compare(get(1).get(), value.get()) <= 0 && compare(value.get(), get(2).get()) <= 0;
      }
      case Op::In: {
        const Operand value = get(0);
        return std::ranges::any_of(operands.subspan(1),
                                   [&](NodeIndex i) { return equal(value.get(), operand(i).get()); });
      }
      case Op::AttributeExists: return get(0).get() != nullptr;
      case Op::AttributeNotExists: return get(0).get() == nullptr;
      case Op::AttributeType: {
        const Operand value = get(0);
        const Operand type = get(1);
        return value.get() != nullptr && type.get() != nullptr && type.get()->as_string() != nullptr &&
               value::type_name(value.get()->type()) == *type.get()->as_string();
      }
      case Op::BeginsWith: return begins_with(get(0).get(), get(1).get());
      case Op::Contains: return contains(get(0).get(), get(1).get());
      default: break;
    }
    STATOR_ASSERT(false, "only conditions stand where conditions do");
  }

 private:
  Operand operand(NodeIndex index) const {
    const Node& node = bindings_.node(index);
    switch (node.op) {
      case Op::Path: return bindings_.find(node, item_);
      case Op::Value: return &bindings_.value(node);
      case Op::Size: {
        const auto size = size_of(operand(bindings_.tree->operands(node)[0]).get());
        return size ? Operand(*size) : Operand(nullptr);
      }
      default: return truth(holds(index));  // (a = b) = true, which PartiQL can say
    }
  }

  const Bindings& bindings_;
  const value::Item& item_;
};

}  // namespace

Condition Condition::from_tree(std::shared_ptr<const Tree> tree, std::shared_ptr<const Placeholders> placeholders) {
  auto bindings = bind(std::move(tree), std::move(placeholders));
  STATOR_ASSERT(bindings->is_complete(), "a tree from a program has all its names and values");
  return Condition(std::move(bindings));
}

bool Condition::matches(const value::Item& item) const { return Evaluation(*bindings_, item).holds(bindings_->root()); }

std::vector<std::string_view> Condition::attributes() const { return bindings_->attributes(Bindings::Depth::Any); }

std::vector<std::string_view> Condition::nested_attributes() const {
  return bindings_->attributes(Bindings::Depth::Nested);
}

std::span<const value::AttributeValue* const> Condition::values() const { return bindings_->values; }
std::span<const std::string> Condition::placeholders() const { return bindings_->tree->values; }
std::span<const std::string* const> Condition::names() const { return bindings_->names; }

}  // namespace stator::expr
