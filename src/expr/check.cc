#include "stator/expr/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <compare>
#include <optional>
#include <string>

#include "stator/value/json.h"

namespace stator::expr {

using value::AttributeValue;
using value::Type;

namespace {

constexpr std::size_t kMaxInOperands = 100;

Error invalid(Kind kind, std::string_view message) {
  return validation_error(fmt::format("Invalid {}: {}", parameter_name(kind), message));
}

std::string undefined_name(std::string_view name) {
  return fmt::format("An expression attribute name used in the document path is not defined; attribute name: {}", name);
}
std::string undefined_value(std::string_view name) {
  return fmt::format("An expression attribute value used in expression is not defined; attribute value: {}", name);
}
std::string wrong_count(Op op, std::size_t count) {
  return fmt::format(
      "Incorrect number of operands for operator or function; operator or function: {}, number of operands: {}",
      op_name(op), count);
}
std::string wrong_type(Op op, std::string_view type) {
  return fmt::format("Incorrect operand type for operator or function; operator or function: {}, operand type: {}",
                     op_name(op), type);
}
std::string needs_path(Op op) {
  return fmt::format("Operator or function requires a document path; operator or function: {}", op_name(op));
}

// "AttributeValue: {N:2}", as the service prints a value in a message.
std::string show(const AttributeValue& value) {
  std::string text;
  if (const auto* string = value.as_string()) text = *string;
  if (const auto* number = value.as_number()) number->append_to(text);
  if (const auto* binary = value.as_binary()) value::append_base64(text, binary->bytes);
  return fmt::format("AttributeValue: {{{}:{}}}", value::type_name(value.type()), text);
}

bool has_order(Type type) { return type == Type::S || type == Type::N || type == Type::B; }

bool is_greater(const AttributeValue& a, const AttributeValue& b) {
  switch (a.type()) {
    case Type::S: return *a.as_string() > *b.as_string();
    case Type::N: return *a.as_number() > *b.as_number();
    case Type::B: return *a.as_binary() > *b.as_binary();
    default: return false;
  }
}

// How many operands a function takes; nullopt for what has its number from the grammar.
std::optional<std::size_t> arity(Op op) {
  switch (op) {
    case Op::AttributeExists:
    case Op::AttributeNotExists:
    case Op::Size: return 1;
    case Op::AttributeType:
    case Op::BeginsWith:
    case Op::Contains:
    case Op::IfNotExists:
    case Op::ListAppend: return 2;
    default: return std::nullopt;
  }
}

using Finding = std::optional<std::string>;

// Checks single nodes of a bound tree.
class NodeCheck {
 public:
  explicit NodeCheck(const Bindings& bindings) : bindings_(bindings), tree_(*bindings.tree) {}

  Finding undefined(const Node& node) const {
    if (node.op == Op::Value) {
      const auto slot = node.range.begin;
      return bindings_.values[slot] == nullptr ? Finding(undefined_value(tree_.values[slot])) : std::nullopt;
    }
    if (node.op != Op::Path) return std::nullopt;
    for (const Step& step : tree_.steps_of(node)) {
      if (!step.is_index && bindings_.names[step.number] == nullptr)
        return undefined_name(tree_.names[step.number].text);
    }
    return std::nullopt;
  }

  Finding operand_count(const Node& node) const {
    const std::size_t count = node.range.count;
    if (node.op == Op::In && count - 1 > kMaxInOperands) {
      return fmt::format("The IN operator is provided with too many operands; number of operands: {}", count - 1);
    }
    const auto expected = arity(node.op);
    return expected && *expected != count ? Finding(wrong_count(node.op, count)) : std::nullopt;
  }

  // The same path on both sides decides nothing.
  Finding same_operands(const Node& node) const {
    if (node.op == Op::Path || node.op == Op::Value || node.op == Op::In || node.range.count != 2) return std::nullopt;
    const auto operands = tree_.operands(node);
    const Node& first = tree_.nodes[operands[0]];
    const Node& second = tree_.nodes[operands[1]];
    if (first.op != Op::Path || second.op != Op::Path || first.range.count != second.range.count) return std::nullopt;
    const Path path = bindings_.path(first);
    if (path != bindings_.path(second)) return std::nullopt;
    return fmt::format(
        "The first operand must be distinct from the remaining operands for this operator or function; operator: {}, "
        "first "
        "operand: {}",
        op_name(node.op), path.to_string());
  }

  Finding condition_types(const Node& node) const {
    const auto operands = tree_.operands(node);
    switch (node.op) {
      case Op::Less:
      case Op::LessEqual:
      case Op::Greater:
      case Op::GreaterEqual: return ordered(node);
      case Op::Between: return between(node);
      case Op::AttributeExists:
      case Op::AttributeNotExists: return is_path(operands[0]) ? std::nullopt : Finding(needs_path(node.op));
      case Op::AttributeType: return attribute_type(node);
      case Op::BeginsWith:
        for (const NodeIndex operand : operands) {
          const auto type = type_of(operand);
          if (type && *type != Type::S && *type != Type::B) return wrong_type(node.op, value::type_name(*type));
        }
        return std::nullopt;
      case Op::Size: {
        const auto type = type_of(operands[0]);
        const bool has_none = type == Type::N || type == Type::Bool || type == Type::Null;
        return has_none ? Finding(wrong_type(node.op, value::type_name(*type))) : std::nullopt;
      }
      default: return std::nullopt;
    }
  }

  Finding update_types(const Node& node) const {
    const auto operands = tree_.operands(node);
    const auto all_values_are = [&](Type expected) -> Finding {
      for (const NodeIndex operand : operands) {
        const AttributeValue* value = value_of(operand);
        if (value != nullptr && value->type() != expected) return wrong_type(node.op, value::type_name(value->type()));
      }
      return std::nullopt;
    };
    switch (node.op) {
      case Op::IfNotExists: return is_path(operands[0]) ? std::nullopt : Finding(needs_path(node.op));
      case Op::ListAppend: return all_values_are(Type::L);
      case Op::Plus:
      case Op::Minus: return all_values_are(Type::N);
      default: return std::nullopt;
    }
  }

 private:
  bool is_path(NodeIndex index) const { return tree_.nodes[index].op == Op::Path; }

  const AttributeValue* value_of(NodeIndex index) const {
    const Node& node = tree_.nodes[index];
    return node.op == Op::Value ? &bindings_.value(node) : nullptr;
  }

  // The type that an operand has in every item, if there is one.
  std::optional<Type> type_of(NodeIndex index) const {
    const Op op = tree_.nodes[index].op;
    if (op == Op::Size) return Type::N;
    if (op == Op::Path) return std::nullopt;
    const AttributeValue* value = value_of(index);
    return value != nullptr ? value->type() : Type::Bool;  // a condition is true or false
  }

  Finding ordered(const Node& node) const {
    for (const NodeIndex operand : tree_.operands(node)) {
      const auto type = type_of(operand);
      if (type && !has_order(*type)) return wrong_type(node.op, value::type_name(*type));
    }
    return std::nullopt;
  }

  Finding between(const Node& node) const {
    if (auto finding = ordered(node)) return finding;
    const auto operands = tree_.operands(node);
    const AttributeValue* low = value_of(operands[1]);
    const AttributeValue* high = value_of(operands[2]);
    if (low == nullptr || high == nullptr) return std::nullopt;
    const bool same_type = low->type() == high->type();
    if (same_type && !is_greater(*low, *high)) return std::nullopt;
    return fmt::format("The BETWEEN operator requires {}; lower bound operand: {}, upper bound operand: {}",
                       same_type ? "upper bound to be greater than or equal to lower bound"
                                 : "same data type for lower and upper bounds",
                       show(*low), show(*high));
  }

  Finding attribute_type(const Node& node) const {
    const auto operand = tree_.operands(node)[1];
    const auto type = type_of(operand);
    if (!type) return wrong_type(node.op, "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}");
    if (*type != Type::S) return wrong_type(node.op, value::type_name(*type));
    static constexpr std::array kTypes = {Type::S,  Type::N, Type::B, Type::SS,   Type::NS,
                                          Type::BS, Type::M, Type::L, Type::Null, Type::Bool};
    const std::string& name = *value_of(operand)->as_string();
    if (std::ranges::find(kTypes, name, value::type_name) != kTypes.end()) return std::nullopt;
    return fmt::format("Invalid attribute type name found; type: {}, valid types: {{B,NULL,SS,BOOL,L,BS,N,NS,S,M}}",
                       name);
  }

  const Bindings& bindings_;
  const Tree& tree_;
};

// ADD and DELETE name types in their own way.
std::string_view long_type_name(Type type) {
  switch (type) {
    case Type::S: return "STRING";
    case Type::N: return "NUMBER";
    case Type::B: return "BINARY";
    case Type::Null: return "NULL";
    case Type::Bool: return "BOOLEAN";
    case Type::L: return "LIST";
    case Type::M: return "MAP";
    default: return value::type_name(type);
  }
}

bool is_set(Type type) { return type == Type::SS || type == Type::NS || type == Type::BS; }

bool is_logical(Op op) { return op == Op::And || op == Op::Or || op == Op::Not; }
bool is_operand(Op op) { return op == Op::Path || op == Op::Value || op == Op::Size; }

enum class Relation : std::uint8_t { Apart, Overlap, Conflict };

Relation relation(const Path& a, const Path& b) {
  if (a.attribute != b.attribute) return Relation::Apart;
  const std::size_t shared = std::min(a.elements.size(), b.elements.size());
  for (std::size_t i = 0; i < shared; ++i) {
    if (a.elements[i].index() != b.elements[i].index()) return Relation::Conflict;
    if (a.elements[i] != b.elements[i]) return Relation::Apart;
  }
  return Relation::Overlap;
}

// In this order a path comes right before what it leads into, and the two kinds of elements meet once, so that looking
// at neighbours finds whether any two paths are related.
bool any_related(std::span<const Path> paths) {
  std::vector<const Path*> sorted;
  sorted.reserve(paths.size());
  for (const Path& path : paths) sorted.push_back(&path);
  std::ranges::sort(sorted, [](const Path* a, const Path* b) {
    return a->attribute != b->attribute ? a->attribute < b->attribute : a->elements < b->elements;
  });
  return std::ranges::adjacent_find(
             sorted, [](const Path* a, const Path* b) { return relation(*a, *b) != Relation::Apart; }) != sorted.end();
}

}  // namespace

Result<void> check_condition(const Bindings& bindings) {
  const Tree& tree = *bindings.tree;
  const NodeCheck check(bindings);
  // The nodes of one comparison stand together, its operator last.
  auto first = tree.nodes.begin();
  for (auto node = tree.nodes.begin(); node != tree.nodes.end(); ++node) {
    if (is_operand(node->op)) continue;
    if (!is_logical(node->op)) {
      for (const auto step :
           {&NodeCheck::undefined, &NodeCheck::operand_count, &NodeCheck::same_operands, &NodeCheck::condition_types}) {
        for (auto at = first; at <= node; ++at) {
          if (const auto finding = (check.*step)(*at)) return invalid(tree.kind, *finding);
        }
      }
    }
    first = node + 1;
  }
  return {};
}

Result<void> check_names(const Bindings& bindings) {
  for (std::size_t slot = 0; slot < bindings.names.size(); ++slot) {
    if (bindings.names[slot] != nullptr) continue;
    return invalid(bindings.tree->kind, undefined_name(bindings.tree->names[slot].text));
  }
  return {};
}

Result<void> check_values(const Bindings& bindings) {
  for (std::size_t slot = 0; slot < bindings.values.size(); ++slot) {
    if (bindings.values[slot] != nullptr) continue;
    return invalid(bindings.tree->kind, undefined_value(bindings.tree->values[slot]));
  }
  return {};
}

Result<void> check_update(const Bindings& bindings) {
  const Tree& tree = *bindings.tree;
  for (const Action& action : tree.actions) {
    if (action.section != Action::Section::Add && action.section != Action::Section::Delete) continue;
    const Type type = bindings.value(tree.nodes[action.value]).type();
    if (is_set(type) || (action.section == Action::Section::Add && type == Type::N)) continue;
    return invalid(tree.kind,
                   fmt::format("Incorrect operand type for operator or function; operator: {}, operand type: {}",
                               section_name(action.section), long_type_name(type)));
  }
  const NodeCheck check(bindings);
  for (const Node& node : tree.nodes) {
    if (const auto finding = check.operand_count(node)) return invalid(tree.kind, *finding);
    if (const auto finding = check.update_types(node)) return invalid(tree.kind, *finding);
  }
  return {};
}

Result<void> check_paths(Kind kind, std::span<const Path> paths) {
  if (!any_related(paths)) return {};
  // Rare, and the message names the first two in the order written: any overlap before any conflict.
  for (const auto& [wanted, word] :
       {std::pair(Relation::Overlap, "overlap"), std::pair(Relation::Conflict, "conflict")}) {
    for (std::size_t second = 1; second < paths.size(); ++second) {
      for (std::size_t first = 0; first < second; ++first) {
        if (relation(paths[first], paths[second]) != wanted) continue;
        return invalid(kind,
                       fmt::format("Two document paths {} with each other; must remove or rewrite one of these paths; "
                                   "path one: {}, path two: {}",
                                   word, paths[first].to_string(), paths[second].to_string()));
      }
    }
  }
  return {};
}

}  // namespace stator::expr
