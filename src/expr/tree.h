#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/expr/kind.h"

// Parsed expressions before names and values are known.
//
// Nodes live in one vector, operands before their operators, and refer to each other by index: a tree is a handful of
// allocations and most walks over it are loops.  Names and values are slots, one for each place where one is written: a
// node says "name 3", "value 1", and a binding has the names and values of one request.
namespace stator::expr {

using NodeIndex = std::uint32_t;

// A run of elements in one of a tree's vectors.
struct Range {
  std::uint32_t begin = 0;
  std::uint32_t count = 0;
};

// An attribute name in an expression: "a" is the name itself, "#a" a placeholder of the request.
struct Name {
  std::string text;
  bool is_placeholder = false;
};

// One step of a document path: into a map by name, or into a list by position.
struct Step {
  bool is_index = false;
  std::uint32_t number = 0;  // the position, or the slot in Tree::names
};

enum class Op : std::uint8_t {
  // Operands.
  Path,   // range: of Tree::steps
  Value,  // range.begin: the slot in Tree::values
  // Conditions.  range: the operands, in Tree::children.
  And,  // two operands or more, as Or
  Or,
  Not,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Between,
  In,
  AttributeExists,
  AttributeNotExists,
  AttributeType,
  BeginsWith,
  Contains,
  // An operand of conditions.
  Size,
  // Operands of SET.
  Plus,
  Minus,
  IfNotExists,
  ListAppend,
};

// "=", "AND", "begins_with": as messages call it.
std::string_view op_name(Op op);

struct Node {
  Op op;
  std::uint16_t position = 0;  // in the text, in bytes
  Range range;
};

// One action of an update expression.
struct Action {
  enum class Section : std::uint8_t { Set, Remove, Add, Delete };
  Section section;
  NodeIndex path;
  NodeIndex value = 0;  // not of Remove
};

std::string_view section_name(Action::Section section);

// An expression.  Of `nodes`, a condition's root is the last; the actions of an update and the paths of a projection
// name theirs.
struct Tree {
  Kind kind = Kind::Condition;
  std::vector<Node> nodes;
  std::vector<NodeIndex> children;
  std::vector<Step> steps;
  std::vector<Name> names;
  std::vector<std::string> values;  // ":v"
  std::vector<Action> actions;      // of an update
  std::vector<NodeIndex> paths;     // of a projection

  std::size_t memory_bytes() const;

  // None of a path or a value.
  std::span<const NodeIndex> operands(const Node& node) const {
    if (node.op == Op::Path || node.op == Op::Value) return {};
    return {children.data() + node.range.begin, node.range.count};
  }
  std::span<const Step> steps_of(const Node& path) const { return {steps.data() + path.range.begin, path.range.count}; }
};

// The expression as text again, with parentheses that show the structure: "(a = :b) AND (NOT (size(c.d[1]) < :e))".
std::string print(const Tree& tree);

// Builds a tree from its leaves.  The parser uses it, and so does code that has a condition or an update in another
// form.
class TreeBuilder {
 public:
  explicit TreeBuilder(Kind kind) { tree_.kind = kind; }

  // A path begins with a name and goes on until the next node is added.
  NodeIndex path(Name first, std::uint16_t position = 0);
  void step(NodeIndex path, Name name);
  void step(NodeIndex path, std::uint32_t index);
  NodeIndex value(std::string placeholder, std::uint16_t position = 0);
  NodeIndex node(Op op, std::span<const NodeIndex> operands, std::uint16_t position = 0);
  void action(Action action) { tree_.actions.push_back(action); }
  void projected(NodeIndex path) { tree_.paths.push_back(path); }

  const Tree& tree() const { return tree_; }
  std::shared_ptr<const Tree> finish() { return std::make_shared<const Tree>(std::move(tree_)); }

 private:
  void add_step(NodeIndex path, Step step);

  Tree tree_;
};

}  // namespace stator::expr
