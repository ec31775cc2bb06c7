#include "stator/api/json/legacy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "stator/api/invalid.h"
#include "stator/expr/placeholders.h"
#include "stator/expr/tree.h"

namespace stator::api {
namespace {

using expr::Action;
using expr::NodeIndex;
using expr::Op;
using value::AttributeValue;
using value::Type;

// How many arguments an operator takes, and of which types.
struct Operator {
  std::string_view name;
  std::size_t min_arguments;
  std::size_t max_arguments;
  std::string_view types;  // "SNB": scalars, "*": any
};
constexpr std::size_t kMany = 100;
constexpr std::size_t kMaxConditions = 1000;  // ours: each item that is read is held against all of them
constexpr std::array kOperators = {Operator{"NULL", 0, 0, "*"},         Operator{"NOT_NULL", 0, 0, "*"},
                                   Operator{"EQ", 1, 1, "*"},           Operator{"NE", 1, 1, "*"},
                                   Operator{"LE", 1, 1, "SNB"},         Operator{"LT", 1, 1, "SNB"},
                                   Operator{"GE", 1, 1, "SNB"},         Operator{"GT", 1, 1, "SNB"},
                                   Operator{"CONTAINS", 1, 1, "SNB"},   Operator{"NOT_CONTAINS", 1, 1, "SNB"},
                                   Operator{"BEGINS_WITH", 1, 1, "SB"}, Operator{"IN", 1, kMany, "SNB"},
                                   Operator{"BETWEEN", 2, 2, "SNB"}};

const Operator& find_operator(std::string_view name) {
  // check_request() has held the name against the model's list.
  return *std::find_if(kOperators.begin(), kOperators.end(), [&](const Operator& op) { return op.name == name; });
}

struct Comparison {
  std::string attribute;
  const Operator* op;
  std::vector<AttributeValue> arguments;
};

bool is_greater(const AttributeValue& a, const AttributeValue& b) {
  if (a.as_number() != nullptr && b.as_number() != nullptr) return *a.as_number() > *b.as_number();
  if (a.as_string() != nullptr && b.as_string() != nullptr) return *a.as_string() > *b.as_string();
  if (a.as_binary() != nullptr && b.as_binary() != nullptr) return a.as_binary()->bytes > b.as_binary()->bytes;
  return false;
}

Result<void> check_comparison(const Comparison& comparison) {
  const auto& [attribute, op, arguments] = comparison;
  if (arguments.size() < op->min_arguments || arguments.size() > op->max_arguments) {
    return invalid(fmt::format("Invalid number of argument(s) for the {} ComparisonOperator", op->name));
  }
  for (const auto& argument : arguments) {
    if (argument.type() != arguments[0].type()) {
      return invalid("AttributeValues inside AttributeValueList must be of same type");
    }
  }
  for (const auto& argument : arguments) {
    const auto type = value::type_name(argument.type());
    if (op->types != "*" && (type.size() != 1 || op->types.find(type) == std::string_view::npos)) {
      return invalid(fmt::format("ComparisonOperator {} is not valid for {} AttributeValue type", op->name, type));
    }
  }
  if (op->name == "BETWEEN" && is_greater(arguments[0], arguments[1])) {
    return validation_error(
        "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound");
  }
  return {};
}

Result<void> check_count(const JsonMembers& conditions, std::string_view parameter) {
  const auto count = conditions.json().size();
  if (count <= kMaxConditions) return {};
  return invalid(fmt::format("{} can have at most {} conditions, it has {}", parameter, kMaxConditions, count));
}

// {"attribute": {"ComparisonOperator": ..., "AttributeValueList": [...]}}
Result<std::vector<Comparison>> read_conditions(const JsonMembers& conditions, std::string_view parameter) {
  TRY(check_count(conditions, parameter));
  std::vector<Comparison> comparisons;
  for (const auto [attribute, json] : conditions.json()) {
    value::JsonObject object;
    if (!json.get(object)) continue;
    const JsonMembers condition(object);
    Comparison comparison{std::string(attribute), &find_operator(*condition.string("ComparisonOperator")), {}};
    comparison.arguments = TRY(condition.attributes("AttributeValueList"));
    TRY(check_comparison(comparison));
    comparisons.push_back(std::move(comparison));
  }
  return comparisons;
}

// One attribute of Expected: either a comparison, or the oldest form with Value and Exists.
Result<Comparison> read_expected(std::string_view attribute, const JsonMembers& expected) {
  const auto error = [&](std::string_view what) {
    return invalid(fmt::format("{} for Attribute: {}", what, attribute));
  };
  const bool has_list = expected.has("AttributeValueList");
  const bool has_value = expected.has("Value");
  const auto exists = expected.boolean("Exists");
  if (has_list && has_value) return error("Value and AttributeValueList cannot be used together");
  Comparison comparison{std::string(attribute), nullptr, {}};
  if (has_value) comparison.arguments.push_back(TRY(expected.attribute("Value")));
  if (const auto op = expected.string("ComparisonOperator")) {
    comparison.op = &find_operator(*op);
    if (exists) return error("Exists and ComparisonOperator cannot be used together");
    if (!has_list && !has_value && comparison.op->min_arguments > 0) {
      return error(fmt::format("Value or AttributeValueList must be used with ComparisonOperator: {}", *op));
    }
    if (has_list) comparison.arguments = TRY(expected.attributes("AttributeValueList"));
    TRY(check_comparison(comparison));
    return comparison;
  }
  if (has_list) return error("AttributeValueList can only be used with a ComparisonOperator");
  if (exists.value_or(true)) {
    if (!has_value) return error(fmt::format("Value must be provided when Exists is {}", exists ? "true" : "null"));
    comparison.op = &find_operator("EQ");
  } else {
    if (has_value) return error("Value cannot be used when Exists is false");
    comparison.op = &find_operator("NULL");
  }
  return comparison;
}

// Puts conditions and updates together as a tree, with a placeholder for each name and value.
class LegacyTree {
 public:
  explicit LegacyTree(expr::Kind kind) : builder_(kind), placeholders_(std::make_shared<expr::Placeholders>()) {}

  NodeIndex path(const std::string& attribute) { return builder_.path({attribute, false}); }
  NodeIndex value(AttributeValue operand) {
    auto name = fmt::format(":{}", placeholders_->values.size());
    placeholders_->values.emplace(name, std::move(operand));
    return builder_.value(std::move(name));
  }
  NodeIndex node(Op op, std::initializer_list<NodeIndex> operands) {
    return builder_.node(op, std::vector<NodeIndex>(operands));
  }
  NodeIndex node(Op op, const std::vector<NodeIndex>& operands) { return builder_.node(op, operands); }
  void action(Action action) { builder_.action(action); }

  NodeIndex compare(Comparison comparison) {
    const auto& name = comparison.op->name;
    auto& arguments = comparison.arguments;
    const auto binary = [&](Op op) {
      const auto left = path(comparison.attribute);
      const auto right = value(std::move(arguments[0]));
      return node(op, {left, right});
    };
    if (name == "NULL") return node(Op::AttributeNotExists, {path(comparison.attribute)});
    if (name == "NOT_NULL") return node(Op::AttributeExists, {path(comparison.attribute)});
    if (name == "EQ") return binary(Op::Equal);
    if (name == "NE") return binary(Op::NotEqual);
    if (name == "LE") return binary(Op::LessEqual);
    if (name == "LT") return binary(Op::Less);
    if (name == "GE") return binary(Op::GreaterEqual);
    if (name == "GT") return binary(Op::Greater);
    if (name == "CONTAINS") return binary(Op::Contains);
    if (name == "BEGINS_WITH") return binary(Op::BeginsWith);
    if (name == "NOT_CONTAINS") {
      // An attribute that is not there neither contains nor does not contain.
      const auto lacks = node(Op::Not, {binary(Op::Contains)});
      const auto exists = node(Op::AttributeExists, {path(comparison.attribute)});
      return node(Op::And, {exists, lacks});
    }
    std::vector<NodeIndex> operands{path(comparison.attribute)};
    for (auto& argument : arguments) operands.push_back(value(std::move(argument)));
    return node(name == "IN" ? Op::In : Op::Between, operands);
  }

  expr::Condition condition() { return expr::Condition::from_tree(builder_.finish(), placeholders_); }
  expr::Update update() { return expr::Update::from_tree(builder_.finish(), placeholders_); }

 private:
  expr::TreeBuilder builder_;
  std::shared_ptr<expr::Placeholders> placeholders_;
};

std::optional<expr::Condition> combine(std::vector<Comparison> comparisons, bool any) {
  if (comparisons.empty()) return std::nullopt;
  LegacyTree tree(expr::Kind::Condition);
  std::vector<NodeIndex> nodes;
  for (auto& comparison : comparisons) nodes.push_back(tree.compare(std::move(comparison)));
  if (nodes.size() > 1) tree.node(any ? Op::Or : Op::And, nodes);
  return tree.condition();
}

Result<bool> any_of(const JsonMembers& request, std::string_view parameter) {
  const auto op = request.string("ConditionalOperator");
  const auto conditions = request.object(parameter);
  if (op && (!conditions || conditions->json().size() == 0)) {
    return validation_error("ConditionalOperator cannot be used without Filter or Expected");
  }
  if (op && conditions->json().size() == 1) {
    return invalid("ConditionalOperator can only be used when there is more than one condition");
  }
  return op == "OR";
}

}  // namespace

Result<std::optional<expr::Condition>> legacy_expected(const JsonMembers& request) {
  const bool any = TRY(any_of(request, "Expected"));
  const auto expected = request.object("Expected");
  if (!expected) return std::optional<expr::Condition>();
  TRY(check_count(*expected, "Expected"));
  std::vector<Comparison> comparisons;
  for (const auto [attribute, json] : expected->json()) {
    value::JsonObject object;
    if (json.get(object)) comparisons.push_back(TRY(read_expected(attribute, JsonMembers(object))));
  }
  return combine(std::move(comparisons), any);
}

Result<std::optional<expr::Condition>> legacy_filter(const JsonMembers& request, std::string_view parameter) {
  const bool any = TRY(any_of(request, parameter));
  const auto filter = request.object(parameter);
  if (!filter) return std::optional<expr::Condition>();
  return combine(TRY(read_conditions(*filter, parameter)), any);
}

Result<std::optional<expr::KeyCondition>> legacy_key_conditions(const JsonMembers& request) {
  const auto conditions = request.object("KeyConditions");
  if (!conditions) return std::optional<expr::KeyCondition>();
  using KeyOp = expr::KeyTerm::Op;
  expr::KeyCondition condition;
  for (auto& [attribute, op, arguments] : TRY(read_conditions(*conditions, "KeyConditions"))) {
    std::optional<KeyOp> key_op;
    if (op->name == "EQ") key_op = KeyOp::Equal;
    if (op->name == "LT") key_op = KeyOp::Less;
    if (op->name == "LE") key_op = KeyOp::LessEqual;
    if (op->name == "GT") key_op = KeyOp::Greater;
    if (op->name == "GE") key_op = KeyOp::GreaterEqual;
    if (op->name == "BETWEEN") key_op = KeyOp::Between;
    if (op->name == "BEGINS_WITH") key_op = KeyOp::BeginsWith;
    if (!key_op) return validation_error("Attempted conditional constraint is not an indexable operation");
    expr::KeyTerm term{.attribute = attribute, .op = *key_op, .low = arguments[0], .high = {}};
    if (arguments.size() == 2) term.high = arguments[1];
    condition.terms.push_back(std::move(term));
  }
  if (condition.terms.empty() || condition.terms.size() > 2) {
    return validation_error("Conditions can be of length 1 or 2 only");
  }
  return std::optional<expr::KeyCondition>(std::move(condition));
}

Result<std::optional<expr::Update>> legacy_updates(const JsonMembers& request) {
  const auto updates = request.object("AttributeUpdates");
  if (!updates || updates->json().size() == 0) return std::optional<expr::Update>();
  LegacyTree tree(expr::Kind::Update);
  for (const auto [name, json] : updates->json()) {
    value::JsonObject object;
    if (!json.get(object)) continue;
    const JsonMembers update(object);
    const std::string attribute(name);
    if (attribute.empty()) return invalid("Empty attribute name");
    const auto action = update.string("Action").value_or("PUT");
    if (!update.has("Value")) {
      if (action != "DELETE") return invalid("Only DELETE action is allowed when no attribute value is specified");
      tree.action({Action::Section::Remove, tree.path(attribute)});
      continue;
    }
    auto operand = TRY(update.attribute("Value"));
    const auto type = operand.type();
    const bool is_set = type == Type::SS || type == Type::NS || type == Type::BS;
    if (action == "DELETE") {
      if (!is_set) {
        return invalid(
            fmt::format("DELETE action with value is not supported for the type {}", value::type_name(type)));
      }
      const auto path = tree.path(attribute);
      tree.action({Action::Section::Delete, path, tree.value(std::move(operand))});
    } else if (action == "ADD") {
      if (!is_set && type != Type::N && type != Type::L) {
        return invalid(fmt::format("ADD action is not supported for the type {}", value::type_name(type)));
      }
      if (type == Type::L) {  // appends; an expression says it as SET a = list_append(if_not_exists(a, []), :v)
        const auto old = tree.node(Op::IfNotExists, {tree.path(attribute), tree.value(AttributeValue(value::List{}))});
        const auto appended = tree.node(Op::ListAppend, {old, tree.value(std::move(operand))});
        tree.action({Action::Section::Set, tree.path(attribute), appended});
      } else {
        const auto path = tree.path(attribute);
        tree.action({Action::Section::Add, path, tree.value(std::move(operand))});
      }
    } else {
      const auto path = tree.path(attribute);
      tree.action({Action::Section::Set, path, tree.value(std::move(operand))});
    }
  }
  return std::optional<expr::Update>(tree.update());
}

Result<std::optional<expr::Projection>> legacy_projection(const JsonMembers& request) {
  if (!request.has("AttributesToGet")) return std::optional<expr::Projection>();
  std::vector<expr::Path> paths;
  std::set<std::string_view> seen;
  for (const auto name : request.strings("AttributesToGet")) {
    if (name.empty()) return invalid("Empty attribute name");
    if (!seen.insert(name).second) {
      return invalid(fmt::format("Duplicate value in attribute name: {}", name));
    }
    paths.push_back({.attribute = std::string(name), .elements = {}});
  }
  return std::optional<expr::Projection>(expr::Projection(std::move(paths)));
}

}  // namespace stator::api
