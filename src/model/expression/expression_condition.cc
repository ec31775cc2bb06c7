#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "stator/expr/value_functions.h"
#include "stator/model/expression/expression_tree.h"

namespace stator::model {
namespace {

using value::AttributeValue;
using Node = Expression::Node;
using Op = Node::Op;
using Value = std::optional<AttributeValue>;  // nullopt is null

constexpr std::size_t kMaxConditionBytes = 4096;  // DynamoDB's

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

// A condition that the inputs decide, or one that is left to DynamoDB.
struct Clause {
  enum class Kind : std::uint8_t { Constant, Or, And, Not, Single };  // loosest first
  Kind kind = Kind::Constant;
  bool holds = false;  // Constant
  std::string text;    // the others

  static Clause constant(bool holds) { return {.kind = Kind::Constant, .holds = holds, .text = {}}; }
  static Clause single(std::string text) { return {.kind = Kind::Single, .holds = false, .text = std::move(text)}; }
};

// An operand that the inputs give, or one that is left to DynamoDB: a path, or the size of one.
struct Operand {
  Value value;
  std::string text;   // empty when it is `value`
  std::string guard;  // a condition that holds when what `text` names is there

  bool is_left() const { return !text.empty(); }
  bool is_null() const { return !is_left() && !value; }
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

std::string_view comparator(Op op) {
  switch (op) {
    case Op::Equal: return "=";
    case Op::NotEqual: return "<>";
    case Op::Less: return "<";
    case Op::LessOrEqual: return "<=";
    case Op::Greater: return ">";
    default: return ">=";
  }
}

// Writes an expression that is_condition() as text and placeholders.  A value that DynamoDB would refuse in its place
// (a boolean behind <, say) decides the clause here: nothing is smaller than it.
class Writer {
 public:
  Writer(const Expression::Scope& inputs, std::string_view prefix) : inputs_(inputs), prefix_(prefix) {}

  Result<Expression::Condition> write(const Node& root) {
    const Clause clause = TRY(condition(root));
    if (clause.kind != Clause::Kind::Constant) {
      written_.text = clause.text;
    } else {
      written_ = {.text = {}, .names = {}, .values = {}, .constant = clause.holds};
      if (!clause.holds)
        written_.text = fmt::format("attribute_exists({0}) AND attribute_not_exists({0})", name("never"));
    }
    if (written_.text.size() > kMaxConditionBytes) return validation_error("the condition is too long for DynamoDB");
    return std::move(written_);
  }

 private:
  using Kind = Clause::Kind;

  // Equal names share a placeholder, and so do equal values.
  static std::string placeholder(value::Item& known, char sign, std::string_view prefix, const AttributeValue& value) {
    for (const auto& entry : known) {
      if (entry.value == value) return entry.name;
    }
    std::string placeholder = fmt::format("{}{}{}", sign, prefix, known.size());
    known.set(placeholder, value);
    return placeholder;
  }
  std::string name(std::string_view name) {
    return placeholder(written_.names, '#', prefix_, AttributeValue::string(name));
  }
  std::string value(const AttributeValue& value) { return placeholder(written_.values, ':', prefix_, value); }

  std::string path(const Node& node) {
    std::string text = name(node.name);
    for (const auto& step : node.steps) {
      if (const auto* member = std::get_if<std::string>(&step)) {
        text.append(".").append(name(*member));
      } else {
        text += fmt::format("[{}]", std::get<std::size_t>(step));
      }
    }
    return text;
  }

  Result<Operand> operand(const Node& node) {
    if (!reads_attributes(node)) return Operand{.value = TRY(evaluate(node, inputs_)), .text = {}, .guard = {}};
    if (node.op == Op::Path) {
      std::string text = path(node);
      std::string guard = fmt::format("attribute_exists({})", text);
      return Operand{.value = {}, .text = std::move(text), .guard = std::move(guard)};
    }
    std::string text = fmt::format("size({})", path(node.operands[0]));
    std::string guard = fmt::format("{} >= {}", text, value(AttributeValue::number(0)));
    return Operand{.value = {}, .text = std::move(text), .guard = std::move(guard)};
  }

  std::string text_of(const Operand& operand) { return operand.is_left() ? operand.text : value(*operand.value); }

  Result<Clause> condition(const Node& node) {
    if (!reads_attributes(node)) {
      const Value value = TRY(evaluate(node, inputs_));
      if (value && value->as_bool() == nullptr) return validation_error("a condition is needed, not a value");
      return Clause::constant(value && *value->as_bool());
    }
    switch (node.op) {
      case Op::Path: return Clause::single(fmt::format("{} = {}", path(node), value(AttributeValue::boolean(true))));
      case Op::Or: return join(node, Kind::Or, " OR ");
      case Op::And: return join(node, Kind::And, " AND ");
      case Op::Not: return negate(TRY(condition(node.operands[0])));
      case Op::Between: return between(node);
      case Op::In: return in(node);
      case Op::Call: return call(node);
      default: return comparison(node);
    }
  }

  // A clause as part of one of `kind`.
  static std::string inside(Kind kind, const Clause& clause) {
    return clause.kind < kind ? fmt::format("({})", clause.text) : clause.text;
  }

  Result<Clause> join(const Node& node, Kind kind, std::string_view word) {
    const bool decides = kind == Kind::Or;  // one that is true decides an OR, one that is false an AND
    std::vector<Clause> left;
    for (const auto& part : node.operands) {
      Clause clause = TRY(condition(part));
      if (clause.kind != Kind::Constant) {
        left.push_back(std::move(clause));
      } else if (clause.holds == decides) {
        return clause;
      }
    }
    if (left.empty()) return Clause::constant(!decides);
    if (left.size() == 1) return left[0];
    Clause joined{.kind = kind, .holds = false, .text = inside(kind, left[0])};
    for (std::size_t i = 1; i < left.size(); ++i) joined.text.append(word).append(inside(kind, left[i]));
    return joined;
  }

  static Clause negate(const Clause& clause) {
    if (clause.kind == Kind::Constant) return Clause::constant(!clause.holds);
    return {.kind = Kind::Not, .holds = false, .text = "NOT " + inside(Kind::Not, clause)};
  }

  Result<Clause> comparison(const Node& node) {
    const Operand left = TRY(operand(node.operands[0]));
    const Operand right = TRY(operand(node.operands[1]));
    if (left.is_null() || right.is_null()) return Clause::constant(false);
    const bool is_order = node.op != Op::Equal && node.op != Op::NotEqual;
    for (const Operand* side : {&left, &right}) {
      if (is_order && !side->is_left() && !has_order(*side->value)) return Clause::constant(false);
    }
    std::string text = fmt::format("{} {} {}", text_of(left), comparator(node.op), text_of(right));
    if (node.op != Op::NotEqual) return Clause::single(std::move(text));
    // To DynamoDB what is not there differs from everything.
    Clause guarded{.kind = Kind::And, .holds = false, .text = {}};
    for (const Operand* side : {&left, &right}) {
      if (side->is_left()) guarded.text.append(side->guard).append(" AND ");
    }
    guarded.text += text;
    return guarded;
  }

  Result<Clause> between(const Node& node) {
    std::vector<Operand> operands;
    for (const auto& part : node.operands) {
      operands.push_back(TRY(operand(part)));
      const Operand& last = operands.back();
      if (last.is_null() || (!last.is_left() && !has_order(*last.value))) return Clause::constant(false);
    }
    const bool has_bounds = !operands[1].is_left() && !operands[2].is_left();
    if (has_bounds && !(expr::compare(&*operands[1].value, &*operands[2].value) <= 0)) return Clause::constant(false);
    return Clause::single(
        fmt::format("{} BETWEEN {} AND {}", text_of(operands[0]), text_of(operands[1]), text_of(operands[2])));
  }

  Result<Clause> in(const Node& node) {
    const Operand left = TRY(operand(node.operands[0]));
    if (left.is_null()) return Clause::constant(false);
    std::string candidates;
    for (std::size_t i = 1; i < node.operands.size(); ++i) {
      const Operand candidate = TRY(operand(node.operands[i]));
      if (candidate.is_null()) continue;
      if (!left.is_left() && !candidate.is_left()) {
        if (left.value == candidate.value) return Clause::constant(true);
        continue;
      }
      candidates.append(candidates.empty() ? "" : ", ").append(text_of(candidate));
    }
    if (candidates.empty()) return Clause::constant(false);
    return Clause::single(fmt::format("{} IN ({})", text_of(left), candidates));
  }

  Result<Clause> call(const Node& node) {
    const auto function = name_of(node.function);
    const Operand first = TRY(operand(node.operands[0]));
    if (node.operands.size() == 1) return Clause::single(fmt::format("{}({})", function, first.text));
    const Operand second = TRY(operand(node.operands[1]));
    if (first.is_null() || second.is_null()) return Clause::constant(false);
    if (node.function == Function::AttributeType && !is_type_name(*second.value)) return Clause::constant(false);
    if (node.function == Function::BeginsWith) {
      for (const Operand* side : {&first, &second}) {
        const bool is_text =
            side->is_left() || side->value->type() == value::Type::S || side->value->type() == value::Type::B;
        if (!is_text) return Clause::constant(false);
      }
    }
    return Clause::single(fmt::format("{}({}, {})", function, text_of(first), text_of(second)));
  }

  const Expression::Scope& inputs_;
  std::string_view prefix_;
  Expression::Condition written_;
};

// Drops names and values that only clauses mentioned which are gone.
void drop_unused(Expression::Condition& condition) {
  const auto is_used = [&](const std::string& placeholder) {
    for (std::size_t at = condition.text.find(placeholder); at != std::string::npos;
         at = condition.text.find(placeholder, at + 1)) {
      const std::size_t end = at + placeholder.size();
      const bool goes_on = end < condition.text.size() && condition.text[end] >= '0' && condition.text[end] <= '9';
      if (!goes_on) return true;
    }
    return false;
  };
  for (value::Item* placeholders : {&condition.names, &condition.values}) {
    value::Item used;
    for (const auto& entry : *placeholders) {
      if (is_used(entry.name)) used.set(entry.name, entry.value);
    }
    *placeholders = std::move(used);
  }
}

}  // namespace

bool Expression::is_dynamodb() const { return is_condition(*root_); }

Result<Expression::Condition> Expression::to_dynamodb(const Scope& inputs, std::string_view prefix) const {
  const auto told = [&](std::string_view problem) {
    return validation_error(fmt::format("{} in the expression: {}", problem, text_));
  };
  if (!is_dynamodb()) return told("DynamoDB cannot evaluate what is computed from attributes");
  auto condition = Writer(inputs, prefix).write(*root_);
  if (!condition.ok()) return told(condition.error().message);
  drop_unused(*condition);
  return condition;
}

}  // namespace stator::model
