#include "stator/expr/build.h"

#include <fmt/format.h>

#include <optional>

namespace stator::expr {
namespace {

// Adds a value to the tree under a placeholder of its own.
NodeIndex add_value(TreeBuilder& tree, Placeholders& placeholders, value::AttributeValue value) {
  auto placeholder = fmt::format(":{}", placeholders.values.size());
  placeholders.values.emplace(placeholder, std::move(value));
  return tree.value(std::move(placeholder));
}

// How many values a clause with that operator has; none for operators that no clause has.
std::optional<std::size_t> values_of(Op op) {
  switch (op) {
    case Op::And:
    case Op::Or:
    case Op::AttributeExists:
    case Op::AttributeNotExists: return 0;
    case Op::Equal:
    case Op::NotEqual:
    case Op::Less:
    case Op::LessEqual:
    case Op::Greater:
    case Op::GreaterEqual:
    case Op::BeginsWith:
    case Op::Contains: return 1;
    default: return std::nullopt;
  }
}

NodeIndex add_clause(TreeBuilder& tree, Placeholders& placeholders, const Clause& clause) {
  STATOR_ASSERT(clause.values.size() == values_of(clause.op), "compare() is for comparisons, begins_with and contains");
  std::vector<NodeIndex> operands;
  if (clause.op == Op::And || clause.op == Op::Or) {
    if (clause.clauses.size() == 1) return add_clause(tree, placeholders, clause.clauses.front());
    for (const auto& part : clause.clauses) operands.push_back(add_clause(tree, placeholders, part));
  } else {
    operands.push_back(tree.path({.text = clause.attribute}));
    for (const auto& value : clause.values) operands.push_back(add_value(tree, placeholders, value));
  }
  return tree.node(clause.op, operands);
}

}  // namespace

Clause exists(std::string attribute) { return {.op = Op::AttributeExists, .attribute = std::move(attribute)}; }
Clause absent(std::string attribute) { return {.op = Op::AttributeNotExists, .attribute = std::move(attribute)}; }
Clause compare(std::string attribute, Op op, value::AttributeValue value) {
  return {.op = op, .attribute = std::move(attribute), .values = {std::move(value)}};
}
Clause all_of(std::vector<Clause> clauses) { return {.op = Op::And, .clauses = std::move(clauses)}; }
Clause any_of(std::vector<Clause> clauses) { return {.op = Op::Or, .clauses = std::move(clauses)}; }

Condition to_condition(const Clause& clause) {
  TreeBuilder tree(Kind::Condition);
  Placeholders placeholders;
  add_clause(tree, placeholders, clause);
  return Condition::from_tree(tree.finish(), std::make_shared<const Placeholders>(std::move(placeholders)));
}

KeyTerm key_equals(std::string attribute, value::AttributeValue value) {
  return {.attribute = std::move(attribute), .op = KeyTerm::Op::Equal, .low = std::move(value), .high = {}};
}
KeyTerm key_begins_with(std::string attribute, value::AttributeValue value) {
  return {.attribute = std::move(attribute), .op = KeyTerm::Op::BeginsWith, .low = std::move(value), .high = {}};
}
KeyTerm key_between(std::string attribute, value::AttributeValue low, value::AttributeValue high) {
  return {
      .attribute = std::move(attribute), .op = KeyTerm::Op::Between, .low = std::move(low), .high = std::move(high)};
}

UpdateBuilder& UpdateBuilder::action(Action::Section section, std::string attribute, value::AttributeValue value) {
  const auto path = tree_.path({.text = std::move(attribute)});
  tree_.action({.section = section, .path = path, .value = add_value(tree_, placeholders_, std::move(value))});
  return *this;
}
UpdateBuilder& UpdateBuilder::set(std::string attribute, value::AttributeValue value) {
  return action(Action::Section::Set, std::move(attribute), std::move(value));
}
UpdateBuilder& UpdateBuilder::add(std::string attribute, value::AttributeValue value) {
  return action(Action::Section::Add, std::move(attribute), std::move(value));
}
UpdateBuilder& UpdateBuilder::remove(std::string attribute) {
  tree_.action({.section = Action::Section::Remove, .path = tree_.path({.text = std::move(attribute)})});
  return *this;
}

Update UpdateBuilder::finish() {
  return Update::from_tree(tree_.finish(), std::make_shared<const Placeholders>(std::move(placeholders_)));
}

}  // namespace stator::expr
