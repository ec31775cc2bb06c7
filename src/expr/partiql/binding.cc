#include "stator/expr/partiql/binding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "stator/expr/bindings.h"
#include "stator/expr/check.h"
#include "stator/value/item_size.h"

namespace stator::expr::partiql {

using value::AttributeValue;
using value::Type;

namespace {

// The checks for expressions begin their texts with the parameter that the expression came in; here there is none.
Error without_parameter(Kind kind, Error error) {
  const auto prefix = fmt::format("Invalid {}: ", parameter_name(kind));
  if (error.message.starts_with(prefix)) error.message.erase(0, prefix.size());
  return error;
}

bool is_set(Type type) { return type == Type::SS || type == Type::NS || type == Type::BS; }

// A tree under construction and the values it refers to.
class ValueTree {
 public:
  explicit ValueTree(Kind kind) : builder(kind) {}

  expr::NodeIndex value(AttributeValue value) {
    auto placeholder = fmt::format(":{}", placeholders.values.size());
    placeholders.values.emplace(placeholder, std::move(value));
    return builder.value(std::move(placeholder));
  }

  expr::NodeIndex path(const Path& path) {
    const auto index = builder.path({path.attribute, false});
    for (const auto& element : path.elements) {
      if (const auto* name = std::get_if<std::string>(&element)) {
        builder.step(index, Name{*name, false});
      } else {
        builder.step(index, std::get<std::uint32_t>(element));
      }
    }
    return index;
  }

  expr::NodeIndex node(Op op, std::initializer_list<expr::NodeIndex> operands) {
    return builder.node(op, {operands.begin(), operands.size()});
  }

  TreeBuilder builder;
  Placeholders placeholders;
};

Condition existence_condition(Op op, std::string_view attribute) {
  ValueTree tree(Kind::Condition);
  const auto path = tree.path({std::string(attribute), {}});
  tree.node(op, {path});
  return Condition::from_tree(tree.builder.finish(), std::make_shared<const Placeholders>());
}

struct Function {
  std::string_view name;
  Op op;
};
constexpr std::array kConditionFunctions = {
    Function{"attribute_exists", Op::AttributeExists},
    Function{"attribute_not_exists", Op::AttributeNotExists},
    Function{"attribute_type", Op::AttributeType},
    Function{"begins_with", Op::BeginsWith},
    Function{"contains", Op::Contains},
    Function{"size", Op::Size},
};
constexpr std::array kUpdateFunctions = {Function{"list_append", Op::ListAppend},
                                         Function{"if_not_exists", Op::IfNotExists}};

std::optional<Op> find_function(std::span<const Function> functions, std::string_view name) {
  const auto found = std::ranges::find(functions, name, &Function::name);
  return found != functions.end() ? std::optional(found->op) : std::nullopt;
}

std::optional<Op> condition_op(NodeKind kind) {
  switch (kind) {
    case NodeKind::And: return Op::And;
    case NodeKind::Or: return Op::Or;
    case NodeKind::Not: return Op::Not;
    case NodeKind::Equal: return Op::Equal;
    case NodeKind::NotEqual: return Op::NotEqual;
    case NodeKind::Less: return Op::Less;
    case NodeKind::LessEqual: return Op::LessEqual;
    case NodeKind::Greater: return Op::Greater;
    case NodeKind::GreaterEqual: return Op::GreaterEqual;
    case NodeKind::Between: return Op::Between;
    default: return std::nullopt;
  }
}

// DynamoDB's types for the type names of IS; MISSING apart.
std::string_view attribute_type(std::string_view is_type) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kTypes = {{{"NULL", "NULL"},
                                                                                           {"BOOLEAN", "BOOL"},
                                                                                           {"BLOB", "B"},
                                                                                           {"STRING", "S"},
                                                                                           {"NUMERIC", "N"},
                                                                                           {"STRUCT", "M"},
                                                                                           {"TUPLE", "M"},
                                                                                           {"LIST", "L"}}};
  const auto found = std::ranges::find(kTypes, is_type, &std::pair<std::string_view, std::string_view>::first);
  return found != kTypes.end() ? found->second : std::string_view();
}

}  // namespace

// ---- conditions ----

// Recursion is as deep as the statement's tree, which the parser bounds.
class Binding::ConditionBuilder {
 public:
  ConditionBuilder(const Binding& binding, ValueTree& tree) : binding_(binding), tree_(tree) {}

  bool is_condition(NodeIndex index) const {
    const Node& node = binding_.node(index);
    if (node.kind == NodeKind::Call) {
      const auto function = find_function(kConditionFunctions, node.text);
      return function != Op::Size;
    }
    // An operator that is not there is reported when it is built.
    return (node.kind >= NodeKind::And && node.kind <= NodeKind::Is) || node.kind == NodeKind::Unsupported;
  }

  Result<expr::NodeIndex> build(NodeIndex index) {
    const Node& node = binding_.node(index);
    switch (node.kind) {
      case NodeKind::Literal:
      case NodeKind::Parameter:
      case NodeKind::List:
      case NodeKind::Set:
      case NodeKind::Map: return tree_.value(TRY(binding_.constant(index)));
      case NodeKind::Path: return tree_.path(node.path);
      case NodeKind::Call: return build_call(node);
      case NodeKind::In: return build_in(node);
      case NodeKind::Is: return build_is(node);
      case NodeKind::Plus:
      case NodeKind::Minus: return unsupported(node, operator_name(node.kind));
      case NodeKind::Unsupported: return unsupported(node, node.text);
      default: break;
    }
    TRY(check_logical(node));
    const auto operands = TRY(build_all(node.operands));
    return tree_.builder.node(*condition_op(node.kind), operands);
  }

 private:
  Result<std::vector<expr::NodeIndex>> build_all(const std::vector<NodeIndex>& operands) {
    std::vector<expr::NodeIndex> built;
    for (const NodeIndex operand : operands) built.push_back(TRY(build(operand)));
    return built;
  }

  Result<void> check_logical(const Node& node) const {
    const bool logical = node.kind == NodeKind::And || node.kind == NodeKind::Or || node.kind == NodeKind::Not;
    if (!logical || std::ranges::all_of(node.operands, [&](NodeIndex i) { return is_condition(i); })) return {};
    return binding_.error_at(node.kind == NodeKind::Not ? "The argument to NOT must be a Type or Expression"
                                                        : "The arguments to AND/OR must be Expressions",
                             node.span);
  }

  Result<expr::NodeIndex> build_call(const Node& node) {
    const auto function = find_function(kConditionFunctions, node.text);
    if (!function) return binding_.error_at(fmt::format("Unrecognized function: {}", node.text), node.span);
    const auto operands = TRY(build_all(node.operands));
    return tree_.builder.node(*function, operands);
  }

  Result<expr::NodeIndex> build_in(const Node& node) {
    const Node& list = binding_.node(node.operands[1]);
    const bool is_list = list.kind == NodeKind::List || list.kind == NodeKind::Set;
    // (a) is a list of one to IN.
    const bool is_single = list.kind == NodeKind::Literal || list.kind == NodeKind::Parameter;
    if ((!is_list && !is_single) || (is_list && list.operands.empty())) {
      return binding_.error_at(
          "IN operator must have a left hand argument of type Variable Reference and right hand argument of type Seq "
          "with at "
          "least one member",
          node.span);
    }
    std::vector<expr::NodeIndex> operands = {TRY(build(node.operands[0]))};
    if (is_single) operands.push_back(TRY(build(node.operands[1])));
    for (const NodeIndex member : list.operands) operands.push_back(TRY(build(member)));
    return tree_.builder.node(Op::In, operands);
  }

  Result<expr::NodeIndex> build_is(const Node& node) {
    if (binding_.node(node.operands[0]).kind != NodeKind::Path) {
      return binding_.error_at("The left hand side argument to IS must be a Variable Reference, Literal, or Path",
                               node.span);
    }
    if (node.text == "MISSING") return tree_.node(Op::AttributeNotExists, {TRY(build(node.operands[0]))});
    const auto type = attribute_type(node.text);
    if (type.empty()) {
      return binding_.error_at(
          fmt::format("Unsupported data type for IS operator: {}. Supported data types are [MISSING, NULL, "
                      "BOOLEAN, BLOB, STRING, NUMERIC, STRUCT, TUPLE, LIST]",
                      node.text),
          node.span);
    }
    const auto path = TRY(build(node.operands[0]));
    return tree_.node(Op::AttributeType, {path, tree_.value(AttributeValue::string(type))});
  }

  Error unsupported(const Node& node, std::string_view name) const {
    return binding_.error_at(fmt::format("Unsupported operator in Condition Expression. Operator: {}", name),
                             node.span);
  }

  const Binding& binding_;
  ValueTree& tree_;
};

Result<Condition> Binding::where(NodeIndex root, Existence existence, std::string_view key_attribute) const {
  ValueTree tree(Kind::Filter);
  ConditionBuilder builder(*this, tree);
  if (!builder.is_condition(root)) {
    return error_at("WHERE clause must contain an expression that resolves to a boolean", node(root).span);
  }
  const auto asked = TRY(builder.build(root));
  if (existence != Existence::Any) {
    const bool required = existence == Existence::Required;
    const auto path = tree.path({std::string(key_attribute), {}});
    const auto exists = tree.node(required ? Op::AttributeExists : Op::AttributeNotExists, {path});
    tree.node(required ? Op::And : Op::Or, {exists, asked});
  }
  const auto finished = tree.builder.finish();
  const auto placeholders = std::make_shared<const Placeholders>(std::move(tree.placeholders));
  if (auto checked = check_condition(*bind(finished, placeholders)); !checked) {
    return without_parameter(Kind::Filter, checked.error());
  }
  return Condition::from_tree(finished, placeholders);
}

Condition Binding::absent(std::string_view key_attribute) {
  return existence_condition(Op::AttributeNotExists, key_attribute);
}

Condition Binding::present(std::string_view key_attribute) {
  return existence_condition(Op::AttributeExists, key_attribute);
}

// ---- updates ----

class Binding::UpdateBuilder {
 public:
  UpdateBuilder(const Binding& binding, ValueTree& tree) : binding_(binding), tree_(tree) {}

  Result<void> add(const Assignment& assignment) {
    using Section = Action::Section;
    if (!assignment.value) {
      tree_.builder.action({.section = Section::Remove, .path = tree_.path(assignment.target)});
      return {};
    }
    const Node& value = binding_.node(*assignment.value);
    const bool adds = value.kind == NodeKind::Call && value.text == "set_add";
    if (adds || (value.kind == NodeKind::Call && value.text == "set_delete")) {
      const auto operand = TRY(set_operand(assignment, value, adds ? "SET_ADD" : "SET_DELETE"));
      const auto path = tree_.path(assignment.target);
      tree_.builder.action({.section = adds ? Section::Add : Section::Delete, .path = path, .value = operand});
      return {};
    }
    const auto path = tree_.path(assignment.target);
    const auto operand = TRY(build(*assignment.value));
    tree_.builder.action({.section = Section::Set, .path = path, .value = operand});
    return {};
  }

 private:
  // set_add(a, <<1>>) may only be assigned to a.
  Result<expr::NodeIndex> set_operand(const Assignment& assignment, const Node& call, std::string_view name) {
    if (call.operands.size() != 2)
      return binding_.error_at(fmt::format("{} must have exactly two arguments", name), call.span);
    const Node& first = binding_.node(call.operands[0]);
    if (first.kind != NodeKind::Path || first.path != assignment.target) {
      return binding_.error_at(fmt::format("The first argument to {} must equal the assignment value", name),
                               call.span);
    }
    std::optional<AttributeValue> members;
    if (binding_.is_constant(call.operands[1])) members = TRY(binding_.constant(call.operands[1]));
    if (!members || !is_set(members->type())) {
      return binding_.error_at(fmt::format("The second argument to {} must be a value with type SET", name),
                               first.span);
    }
    return tree_.value(std::move(*members));
  }

  Result<expr::NodeIndex> build(NodeIndex index) {
    const Node& node = binding_.node(index);
    if (binding_.is_constant(index)) return tree_.value(TRY(binding_.constant(index)));
    switch (node.kind) {
      case NodeKind::Path: return tree_.path(node.path);
      case NodeKind::Call: {
        const auto function = find_function(kUpdateFunctions, node.text);
        if (!function) return binding_.error_at(fmt::format("Unrecognized function: {}", node.text), node.span);
        return build_node(*function, node);
      }
      case NodeKind::Plus:
      case NodeKind::Minus:
        if (node.operands.size() == 2) return build_node(node.kind == NodeKind::Plus ? Op::Plus : Op::Minus, node);
        break;
      case NodeKind::Is: return binding_.error_at("IS operator is not supported in update expressions", node.span);
      default: break;
    }
    const auto name = node.kind == NodeKind::Unsupported ? std::string_view(node.text) : operator_name(node.kind);
    return binding_.error_at(fmt::format("Unsupported operator in Update Expression. Operator: {}", name), node.span);
  }

  Result<expr::NodeIndex> build_node(Op op, const Node& node) {
    std::vector<expr::NodeIndex> operands;
    for (const NodeIndex operand : node.operands) operands.push_back(TRY(build(operand)));
    return tree_.builder.node(op, operands);
  }

  const Binding& binding_;
  ValueTree& tree_;
};

Result<expr::Update> Binding::update(const Update& update) const {
  ValueTree tree(Kind::Update);
  UpdateBuilder builder(*this, tree);
  std::vector<Path> paths;
  for (const auto& assignment : update.assignments) {
    TRY(builder.add(assignment));
    paths.push_back(assignment.target);
  }
  const auto finished = tree.builder.finish();
  const auto placeholders = std::make_shared<const Placeholders>(std::move(tree.placeholders));
  if (auto checked = check_paths(Kind::Update, paths); !checked)
    return without_parameter(Kind::Update, checked.error());
  if (auto checked = check_update(*bind(finished, placeholders)); !checked) {
    return without_parameter(Kind::Update, checked.error());
  }
  return expr::Update::from_tree(finished, placeholders);
}

// ---- values ----

Result<Binding> Binding::make(const Statement& statement, std::vector<AttributeValue> parameters) {
  if (statement.parameters != parameters.size()) {
    return validation_error("Number of parameters in request and statement don't match.");
  }
  return Binding(statement, std::move(parameters));
}

bool Binding::is_constant(NodeIndex index) const {
  return node(index).kind <= NodeKind::Map && node(index).kind != NodeKind::Path;
}

Result<AttributeValue> Binding::constant(NodeIndex index) const {
  std::string under = "root";
  return convert(index, under, 0, true);
}

Result<value::Item> Binding::item(const Insert& insert) const {
  const Node& map = node(insert.item);
  value::Item item;
  for (std::size_t i = 0; i < map.operands.size(); ++i) {
    if (item.find(map.keys[i]) != nullptr) {
      return error_at(fmt::format("Duplicate keys in tuple. Key: {} under root", map.keys[i]), map.span);
    }
    item.set(map.keys[i], TRY(constant(map.operands[i])));
  }
  return item;
}

// `under` is the way to the value, for messages; `parameters` says whether the value may be one, which those inside a
// collection may not.
Result<AttributeValue> Binding::convert(NodeIndex index, std::string& under, std::size_t depth, bool parameters) const {
  if (depth >= static_cast<std::size_t>(value::kMaxNesting)) {
    return validation_error(fmt::format("Nesting Levels have exceeded supported limits under {}", under));
  }
  const Node& at = node(index);
  const auto unsupported = [&](std::string_view type) {
    return error_at(fmt::format("Unsupported data type: {} under key {}", type, under), at.span);
  };
  const auto inside = [&](NodeIndex member, std::string_view step) -> Result<AttributeValue> {
    const auto size = under.size();
    under += step;
    auto converted = convert(member, under, depth + 1, false);
    under.resize(size);
    return converted;
  };
  switch (at.kind) {
    case NodeKind::Literal: return at.literal;
    case NodeKind::Parameter:
      if (!parameters) return unsupported("Parameter");
      return parameters_[at.parameter];
    case NodeKind::List: {
      value::List list;
      for (std::size_t i = 0; i < at.operands.size(); ++i)
        list.push_back(TRY(inside(at.operands[i], fmt::format("[{}]", i))));
      return AttributeValue(std::move(list));
    }
    case NodeKind::Map: {
      value::AttributeMap map;
      for (std::size_t i = 0; i < at.operands.size(); ++i) {
        if (map.find(at.keys[i]) != nullptr) {
          return error_at(fmt::format("Duplicate keys in tuple. Key: {} under {}", at.keys[i], under), at.span);
        }
        map.set(at.keys[i], TRY(inside(at.operands[i], fmt::format(".{}", at.keys[i]))));
      }
      return AttributeValue(std::move(map));
    }
    case NodeKind::Set: return convert_set(at, under);
    case NodeKind::Path: return unsupported("VariableReference");
    case NodeKind::Call: return unsupported(at.text);
    default: return unsupported(at.kind == NodeKind::Unsupported ? std::string_view(at.text) : operator_name(at.kind));
  }
}

Result<AttributeValue> Binding::convert_set(const Node& set, std::string& under) const {
  if (set.operands.empty()) return validation_error("Empty bags are not supported");
  const auto type_of = [&](NodeIndex member) {
    return node(member).kind == NodeKind::Literal ? std::optional(node(member).literal.type()) : std::nullopt;
  };
  const auto type = type_of(set.operands[0]);
  if (type != Type::S && type != Type::N) {
    return validation_error("Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags");
  }
  std::vector<std::string> texts;
  for (const NodeIndex member : set.operands) {
    const Node& at = node(member);
    if (type_of(member) != type) {
      const auto name = type_of(member) ? value::type_name(*type_of(member)) : std::string_view("Parameter");
      return error_at(fmt::format("Unexpected data type {} in {} Set under key {}", name,
                                  type == Type::S ? "String" : "Number", under),
                      at.span);
    }
    texts.push_back(at.text);
  }
  if (type == Type::S) return value::make_string_set(std::move(texts));
  std::vector<value::Number> numbers;
  for (const NodeIndex member : set.operands) numbers.push_back(*node(member).literal.as_number());
  auto made = value::make_number_set(std::move(numbers));
  if (made) return made;
  return validation_error(
      fmt::format("One or more parameter values were invalid: Input collection [{}] contains duplicates! under {}",
                  fmt::join(texts, ", "), under));
}

Error Binding::error_at(std::string_view message, Span span) const {
  return validation_error(fmt::format("{} at {}", message, location(statement_->text, span)));
}

}  // namespace stator::expr::partiql
