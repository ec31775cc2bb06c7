#include "stator/systems/stories/story_graph.h"

#include <algorithm>
#include <unordered_map>

namespace stator::systems::stories {

GraphReport check_graph(const std::vector<GraphNode>& nodes, const std::string& start) {
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < nodes.size(); ++i) places.emplace(nodes[i].id, i);

  GraphReport report;
  for (const auto& node : nodes) {
    bool leads_on = false;
    for (std::size_t i = 0; i < node.targets.size(); ++i) {
      const bool there = places.contains(node.targets[i]);
      leads_on = leads_on || there;
      if (!there) report.broken_links.push_back({.node = node.id, .response = i, .target = node.targets[i]});
    }
    if (!leads_on) report.dead_ends.push_back(node.id);
  }

  std::vector<bool> reached(nodes.size(), false);
  std::vector<std::size_t> open;
  const auto reach = [&](const std::string& id) {
    const auto place = places.find(id);
    if (place == places.end() || reached[place->second]) return;
    reached[place->second] = true;
    open.push_back(place->second);
  };
  report.missing_start = !places.contains(start);
  reach(start);
  while (!open.empty()) {
    const auto& node = nodes[open.back()];
    open.pop_back();
    for (const auto& target : node.targets) reach(target);
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!reached[i]) report.unreachable.push_back(nodes[i].id);
  }
  return report;
}

}  // namespace stator::systems::stories
