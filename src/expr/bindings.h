#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stator/expr/path.h"
#include "stator/expr/placeholders.h"
#include "stator/expr/tree.h"

namespace stator::expr {

// The values of the slots of a tree in one request.  Points into the tree and the placeholders, which it keeps alive.
struct Bindings {
  std::shared_ptr<const Tree> tree;
  std::shared_ptr<const Placeholders> placeholders;
  std::vector<const std::string*> names;  // by slot of Tree::names; nullptr where the request defines no such name
  std::vector<const value::AttributeValue*> values;  // by slot of Tree::values; nullptr likewise

  const Node& node(NodeIndex index) const { return tree->nodes[index]; }
  NodeIndex root() const { return static_cast<NodeIndex>(tree->nodes.size() - 1); }
  const value::AttributeValue& value(const Node& node) const { return *values[node.range.begin]; }
  const std::string& attribute(const Node& path) const { return *names[tree->steps[path.range.begin].number]; }
  bool is_complete() const;  // no slot is empty

  // The value at a path node, or nullptr.
  const value::AttributeValue* find(const Node& path, const value::Item& item) const;
  Path path(const Node& path) const;

  // The top-level attributes of all paths, or only of paths that lead further, each once, in order of appearance.
  enum class Depth : std::uint8_t { Any, Nested };
  std::vector<std::string_view> attributes(Depth depth) const;
};

std::shared_ptr<const Bindings> bind(std::shared_ptr<const Tree> tree,
                                     std::shared_ptr<const Placeholders> placeholders);

}  // namespace stator::expr
