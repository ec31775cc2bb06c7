#include "stator/expr/tree.h"

#include <array>

#include "stator/base/assert.h"

namespace stator::expr {

namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(Op::ListAppend) + 1> kOpNames = {
    "path",
    "value",
    "AND",
    "OR",
    "NOT",
    "=",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    "BETWEEN",
    "IN",
    "attribute_exists",
    "attribute_not_exists",
    "attribute_type",
    "begins_with",
    "contains",
    "size",
    "+",
    "-",
    "if_not_exists",
    "list_append",
};

// Writes a tree as text.  Recursion is as deep as the tree, which the parser bounds.
class Printer {
 public:
  explicit Printer(const Tree& tree) : tree_(tree) {}

  void expression(NodeIndex index) {
    const Node& node = tree_.nodes[index];
    const auto operands = tree_.operands(node);
    switch (node.op) {
      case Op::Path: return path(node);
      case Op::Value: text_ += tree_.values[node.range.begin]; return;
      case Op::Not: text_ += "NOT "; return grouped(operands[0]);
      case Op::And:
      case Op::Or:
        for (std::size_t i = 0; i < operands.size(); ++i) {
          if (i != 0) spaced(op_name(node.op));
          grouped(operands[i]);
        }
        return;
      case Op::Between:
        expression(operands[0]);
        spaced("BETWEEN");
        expression(operands[1]);
        spaced("AND");
        return expression(operands[2]);
      case Op::In:
        expression(operands[0]);
        text_ += " IN (";
        list(operands.subspan(1));
        text_ += ')';
        return;
      case Op::Equal:
      case Op::NotEqual:
      case Op::Less:
      case Op::LessEqual:
      case Op::Greater:
      case Op::GreaterEqual:
      case Op::Plus:
      case Op::Minus:
        expression(operands[0]);
        spaced(op_name(node.op));
        return expression(operands[1]);
      case Op::AttributeExists:
      case Op::AttributeNotExists:
      case Op::AttributeType:
      case Op::BeginsWith:
      case Op::Contains:
      case Op::Size:
      case Op::IfNotExists:
      case Op::ListAppend:
        text_ += op_name(node.op);
        text_ += '(';
        list(operands);
        text_ += ')';
        return;
    }
  }

  void update() {
    for (std::size_t i = 0; i < tree_.actions.size(); ++i) {
      const Action& action = tree_.actions[i];
      if (i != 0 && action.section == tree_.actions[i - 1].section) {
        text_ += ", ";
      } else {
        if (i != 0) text_ += ' ';
        text_ += section_name(action.section);
        text_ += ' ';
      }
      expression(action.path);
      if (action.section == Action::Section::Remove) continue;
      text_ += action.section == Action::Section::Set ? " = " : " ";
      expression(action.value);
    }
  }

  void list(std::span<const NodeIndex> nodes) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (i != 0) text_ += ", ";
      expression(nodes[i]);
    }
  }

  std::string take() { return std::move(text_); }

 private:
  void spaced(std::string_view word) {
    text_ += ' ';
    text_ += word;
    text_ += ' ';
  }

  void grouped(NodeIndex index) {
    text_ += '(';
    expression(index);
    text_ += ')';
  }

  void path(const Node& node) {
    bool first = true;
    for (const Step& step : tree_.steps_of(node)) {
      if (step.is_index) {
        text_ += '[' + std::to_string(step.number) + ']';
      } else {
        if (!first) text_ += '.';
        text_ += tree_.names[step.number].text;
      }
      first = false;
    }
  }

  const Tree& tree_;
  std::string text_;
};

}  // namespace

std::string_view op_name(Op op) { return kOpNames[static_cast<std::size_t>(op)]; }

std::string_view section_name(Action::Section section) {
  switch (section) {
    case Action::Section::Set: return "SET";
    case Action::Section::Remove: return "REMOVE";
    case Action::Section::Add: return "ADD";
    case Action::Section::Delete: return "DELETE";
  }
  STATOR_ASSERT(false, "every section has a name");
}

std::size_t Tree::memory_bytes() const {
  const auto array = [](const auto& vector) { return vector.capacity() * sizeof(vector[0]); };
  const auto text = [](const std::string& string) { return string.capacity() > 15 ? string.capacity() : 0; };
  std::size_t total = sizeof(Tree) + array(nodes) + array(children) + array(steps) + array(names) + array(values) +
                      array(actions) + array(paths);
  for (const Name& name : names) total += text(name.text);
  for (const std::string& value : values) total += text(value);
  return total;
}

std::string print(const Tree& tree) {
  Printer printer(tree);
  switch (tree.kind) {
    case Kind::Update: printer.update(); break;
    case Kind::Projection: printer.list(tree.paths); break;
    default: printer.expression(static_cast<NodeIndex>(tree.nodes.size() - 1));
  }
  return printer.take();
}

NodeIndex TreeBuilder::path(Name first, std::uint16_t position) {
  const Range range{static_cast<std::uint32_t>(tree_.steps.size()), 0};
  tree_.nodes.push_back({Op::Path, position, range});
  const auto index = static_cast<NodeIndex>(tree_.nodes.size() - 1);
  step(index, std::move(first));
  return index;
}

void TreeBuilder::step(NodeIndex path, Name name) {
  tree_.names.push_back(std::move(name));
  add_step(path, {.is_index = false, .number = static_cast<std::uint32_t>(tree_.names.size() - 1)});
}

void TreeBuilder::step(NodeIndex path, std::uint32_t index) { add_step(path, {.is_index = true, .number = index}); }

void TreeBuilder::add_step(NodeIndex path, Step step) {
  Range& range = tree_.nodes[path].range;
  STATOR_ASSERT(range.begin + range.count == tree_.steps.size(), "only the newest path grows");
  tree_.steps.push_back(step);
  ++range.count;
}

NodeIndex TreeBuilder::value(std::string placeholder, std::uint16_t position) {
  tree_.values.push_back(std::move(placeholder));
  tree_.nodes.push_back({Op::Value, position, {static_cast<std::uint32_t>(tree_.values.size() - 1), 0}});
  return static_cast<NodeIndex>(tree_.nodes.size() - 1);
}

NodeIndex TreeBuilder::node(Op op, std::span<const NodeIndex> operands, std::uint16_t position) {
  const Range range{static_cast<std::uint32_t>(tree_.children.size()), static_cast<std::uint32_t>(operands.size())};
  tree_.children.insert(tree_.children.end(), operands.begin(), operands.end());
  tree_.nodes.push_back({op, position, range});
  return static_cast<NodeIndex>(tree_.nodes.size() - 1);
}

}  // namespace stator::expr
