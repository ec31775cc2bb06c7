#include "stator/model/expression/expression_condition.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "stator/expr/tree.h"
#include "stator/expr/value_functions.h"
#include "stator/model/expression/expression_tree.h"

namespace stator::model {
namespace {

using value::AttributeValue;
using Node = Expression::Node;
using Op = Node::Op;
using Value = std::optional<AttributeValue>;  // nullopt is null

bool is_call(const Node& node, Function function) { return node.op == Op::Call && node.function == function; }

// ---------------------------------------------------------------------------------------------------- what can be said

bool is_condition(const Node& node);

// A path, the size of one, or what is computed before.
bool is_operand(const Node& node) {
  return !reads_attributes(node) || node.op == Op::Path ||
         (is_call(node, Function::Size) && node.operands[0].op == Op::Path);
}

bool is_same_place(const Node& a, const Node& b) {
  if (is_call(a, Function::Size) && is_call(b, Function::Size)) return is_same_place(a.operands[0], b.operands[0]);
  return a.op == Op::Path && b.op == Op::Path && a.name == b.name && a.steps == b.steps;
}

// Whether operands can stand in one comparison or function: DynamoDB refuses to compare something with itself.
bool are_operands(const Node& node) {
  return std::all_of(node.operands.begin(), node.operands.end(), is_operand) &&
         std::none_of(node.operands.begin() + 1, node.operands.end(),
                      [&](const Node& other) { return is_same_place(node.operands[0], other); });
}

bool is_place_or_value(const Node& node) { return node.op == Op::Path || !reads_attributes(node); }

bool is_condition_call(const Node& node) {
  switch (node.function) {
    case Function::AttributeExists:
    case Function::AttributeNotExists: return node.operands[0].op == Op::Path;
    case Function::AttributeType: return node.operands[0].op == Op::Path && !reads_attributes(node.operands[1]);
    case Function::BeginsWith:
    case Function::Contains:
      return std::all_of(node.operands.begin(), node.operands.end(), is_place_or_value) && are_operands(node);
    default: return false;
  }
}

bool is_condition(const Node& node) {
  if (!reads_attributes(node)) return true;
  switch (node.op) {
    case Op::Path: return true;  // a boolean
    case Op::Or:
    case Op::And:
    case Op::Not: return std::all_of(node.operands.begin(), node.operands.end(), is_condition);
    case Op::Call: return is_condition_call(node);
    case Op::Add:
    case Op::Subtract:
    case Op::Multiply:
    case Op::Divide: return false;
    default: return are_operands(node);
  }
}

// ----------------------------------------------------------------------------------------------------------- saying it

// An operand that the inputs give, or one that is left to DynamoDB.
struct Operand {
  Value value;
  const Node* place = nullptr;  // a path; null when it is `value`
  bool is_size = false;         // the size of what is at `place`

  bool is_left() const { return place != nullptr; }
  bool is_null() const { return !is_left() && !value; }
};

// A condition that the inputs decide, or one that is left to DynamoDB.
struct Clause {
  std::optional<bool> holds;  // decided
  expr::Op op = expr::Op::And;
  std::vector<Operand> operands;  // of a comparison or a function
  std::vector<Clause> clauses;    // of And, Or and Not

  static Clause decided(bool holds) { return {.holds = holds, .op = {}, .operands = {}, .clauses = {}}; }
  static Clause of(expr::Op op, std::vector<Operand> operands) {
    return {.holds = {}, .op = op, .operands = std::move(operands), .clauses = {}};
  }
  static Clause joined(expr::Op op, std::vector<Clause> clauses) {
    return {.holds = {}, .op = op, .operands = {}, .clauses = std::move(clauses)};
  }
};

bool has_order(const AttributeValue& value) {
  return value.type() == value::Type::S || value.type() == value::Type::N || value.type() == value::Type::B;
}

bool is_type_name(const AttributeValue& value) {
  constexpr int kTypes = static_cast<int>(value::Type::Bool) + 1;
  for (int type = 0; type < kTypes; ++type) {
    if (value == AttributeValue::string(value::type_name(static_cast<value::Type>(type)))) return true;
  }
  return false;
}

expr::Op comparator(Op op) {
  switch (op) {
    case Op::Equal: return expr::Op::Equal;
    case Op::NotEqual: return expr::Op::NotEqual;
    case Op::Less: return expr::Op::Less;
    case Op::LessOrEqual: return expr::Op::LessEqual;
    case Op::Greater: return expr::Op::Greater;
    default: return expr::Op::GreaterEqual;
  }
}

expr::Op function_op(Function function) {
  switch (function) {
    case Function::AttributeExists: return expr::Op::AttributeExists;
    case Function::AttributeNotExists: return expr::Op::AttributeNotExists;
    case Function::AttributeType: return expr::Op::AttributeType;
    case Function::BeginsWith: return expr::Op::BeginsWith;
    default: return expr::Op::Contains;
  }
}

// Computes what the inputs decide of an expression that is_condition().  A value that DynamoDB would refuse in its
// place (a boolean behind <, say) decides the clause: nothing is smaller than it.
class Reduction {
 public:
  explicit Reduction(const Expression::Scope& inputs) : inputs_(inputs) {}

  Result<Clause> condition(const Node& node) {
    if (!reads_attributes(node)) {
      const Value value = TRY(evaluate(node, inputs_));
      if (value && value->as_bool() == nullptr) return validation_error("a condition is needed, not a value");
      return Clause::decided(value && *value->as_bool());
    }
    switch (node.op) {
      case Op::Path:
        return Clause::of(expr::Op::Equal,
                          {Operand{.value = {}, .place = &node}, given(AttributeValue::boolean(true))});
      case Op::Or: return join(node, expr::Op::Or);
      case Op::And: return join(node, expr::Op::And);
      case Op::Not: return negate(TRY(condition(node.operands[0])));
      case Op::Between: return between(node);
      case Op::In: return in(node);
      case Op::Call: return call(node);
      default: return comparison(node);
    }
  }

 private:
  static Operand given(AttributeValue value) { return {.value = std::move(value), .place = nullptr}; }

  Result<Operand> operand(const Node& node) {
    if (!reads_attributes(node)) return Operand{.value = TRY(evaluate(node, inputs_)), .place = nullptr};
    if (node.op == Op::Path) return Operand{.value = {}, .place = &node};
    return Operand{.value = {}, .place = &node.operands[0], .is_size = true};
  }

  // A condition that holds when what is left to DynamoDB is there.
  static Clause guard(const Operand& operand) {
    if (operand.is_size) return Clause::of(expr::Op::GreaterEqual, {operand, given(AttributeValue::number(0))});
    return Clause::of(expr::Op::AttributeExists, {operand});
  }

  Result<Clause> join(const Node& node, expr::Op op) {
    const bool decides = op == expr::Op::Or;  // one that is true decides an OR, one that is false an AND
    std::vector<Clause> left;
    for (const auto& part : node.operands) {
      Clause clause = TRY(condition(part));
      if (!clause.holds && clause.op == op) {
        std::move(clause.clauses.begin(), clause.clauses.end(), std::back_inserter(left));
      } else if (!clause.holds) {
        left.push_back(std::move(clause));
      } else if (*clause.holds == decides) {
        return clause;
      }
    }
    if (left.empty()) return Clause::decided(!decides);
    if (left.size() == 1) return std::move(left[0]);
    return Clause::joined(op, std::move(left));
  }

  static Clause negate(Clause clause) {
    if (clause.holds) return Clause::decided(!*clause.holds);
    std::vector<Clause> negated;
    negated.push_back(std::move(clause));
    return Clause::joined(expr::Op::Not, std::move(negated));
  }

  Result<Clause> comparison(const Node& node) {
    const Operand left = TRY(operand(node.operands[0]));
    const Operand right = TRY(operand(node.operands[1]));
    if (left.is_null() || right.is_null()) return Clause::decided(false);
    const bool is_order = node.op != Op::Equal && node.op != Op::NotEqual;
    for (const Operand* side : {&left, &right}) {
      if (is_order && !side->is_left() && !has_order(*side->value)) return Clause::decided(false);
    }
    Clause compared = Clause::of(comparator(node.op), {left, right});
    if (node.op != Op::NotEqual) return compared;
    // In DynamoDB, an absent attribute differs from every value.
    std::vector<Clause> guarded;
    for (const Operand* side : {&left, &right}) {
      if (side->is_left()) guarded.push_back(guard(*side));
    }
    guarded.push_back(std::move(compared));
    return Clause::joined(expr::Op::And, std::move(guarded));
  }

  Result<Clause> between(const Node& node) {
    std::vector<Operand> operands;
    for (const auto& part : node.operands) {
      operands.push_back(TRY(operand(part)));
      const Operand& last = operands.back();
      if (last.is_null() || (!last.is_left() && !has_order(*last.value))) return Clause::decided(false);
    }
    const bool has_bounds = !operands[1].is_left() && !operands[2].is_left();
    if (has_bounds && !(expr::compare(&*operands[1].value, &*operands[2].value) <= 0)) return Clause::decided(false);
    return Clause::of(expr::Op::Between, std::move(operands));
  }

  Result<Clause> in(const Node& node) {
    std::vector<Operand> operands = {TRY(operand(node.operands[0]))};
    const Operand left = operands[0];
    if (left.is_null()) return Clause::decided(false);
    for (std::size_t i = 1; i < node.operands.size(); ++i) {
      Operand candidate = TRY(operand(node.operands[i]));
      if (candidate.is_null()) continue;
      if (left.is_left() || candidate.is_left()) {
        operands.push_back(std::move(candidate));
      } else if (left.value == candidate.value) {
        return Clause::decided(true);
      }
    }
    if (operands.size() == 1) return Clause::decided(false);
    return Clause::of(expr::Op::In, std::move(operands));
  }

  Result<Clause> call(const Node& node) {
    std::vector<Operand> operands;
    for (const auto& part : node.operands) {
      operands.push_back(TRY(operand(part)));
      if (operands.back().is_null()) return Clause::decided(false);
    }
    if (node.function == Function::AttributeType && !is_type_name(*operands[1].value)) return Clause::decided(false);
    if (node.function == Function::BeginsWith) {
      for (const auto& side : operands) {
        const bool is_text =
            side.is_left() || side.value->type() == value::Type::S || side.value->type() == value::Type::B;
        if (!is_text) return Clause::decided(false);
      }
    }
    return Clause::of(function_op(node.function), std::move(operands));
  }

  const Expression::Scope& inputs_;
};

// Builds DynamoDB's tree of what is left.
class Builder {
 public:
  expr::NodeIndex add(const Clause& clause) {
    std::vector<expr::NodeIndex> operands;
    for (const auto& operand : clause.operands) operands.push_back(add(operand));
    for (const auto& part : clause.clauses) operands.push_back(add(part));
    return tree_.node(clause.op, operands);
  }

  expr::Condition finish() {
    return expr::Condition::from_tree(tree_.finish(),
                                      std::make_shared<const expr::Placeholders>(std::move(placeholders_)));
  }

 private:
  expr::NodeIndex add(const Operand& operand) {
    if (operand.is_left()) {
      const auto path = add_path(*operand.place);
      return operand.is_size ? tree_.node(expr::Op::Size, {{path}}) : path;
    }
    auto placeholder = fmt::format(":{}", placeholders_.values.size());
    placeholders_.values.emplace(placeholder, *operand.value);
    return tree_.value(std::move(placeholder));
  }

  expr::NodeIndex add_path(const Node& node) {
    const auto path = tree_.path({.text = node.name});
    for (const auto& step : node.steps) {
      if (const auto* member = std::get_if<std::string>(&step)) {
        tree_.step(path, expr::Name{.text = *member});
      } else {
        tree_.step(path, static_cast<std::uint32_t>(std::get<std::size_t>(step)));
      }
    }
    return path;
  }

  expr::TreeBuilder tree_{expr::Kind::Filter};
  expr::Placeholders placeholders_;
};

}  // namespace

bool Expression::is_dynamodb() const { return is_condition(*root_); }

Result<BoundCondition> bind_condition(const Expression& expression, const Expression::Scope& inputs) {
  const auto told = [&](std::string_view problem) {
    return validation_error(fmt::format("{} in the expression: {}", problem, expression.text()));
  };
  if (!expression.is_dynamodb()) return told("DynamoDB cannot evaluate values that are computed from attributes");
  const auto clause = Reduction(inputs).condition(expression.root());
  if (!clause.ok()) return told(clause.error().message);
  if (clause->holds) return BoundCondition(*clause->holds);
  Builder builder;
  builder.add(*clause);
  return BoundCondition(builder.finish());
}

}  // namespace stator::model
