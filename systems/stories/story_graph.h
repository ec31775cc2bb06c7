#pragma once

#include <string>
#include <vector>

namespace stator::systems::stories {

// A node as the graph sees it.
struct GraphNode {
  std::string id;
  std::vector<std::string> targets;  // of its responses, in order; empty text: a response that leads nowhere yet
};

struct BrokenLink {
  std::string node;
  std::size_t response = 0;  // counted from 0
  std::string target;        // the node that is not there; empty when none was given
  friend bool operator==(const BrokenLink&, const BrokenLink&) = default;
};

// The mistakes of a story that a reader would notice.
struct GraphReport {
  bool missing_start = false;  // no start node, or one that is not there
  std::vector<BrokenLink> broken_links;
  std::vector<std::string> unreachable;  // from the start
  std::vector<std::string> dead_ends;    // no response leads on: an ending, or something forgotten
  bool sound() const { return !missing_start && broken_links.empty() && unreachable.empty(); }
};

// Time and memory grow with nodes and responses, not with paths.  Everything is reported in the order of `nodes`.
GraphReport check_graph(const std::vector<GraphNode>& nodes, const std::string& start);

}  // namespace stator::systems::stories
