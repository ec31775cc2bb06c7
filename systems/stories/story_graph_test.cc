#include "stator/systems/stories/story_graph.h"

#include <gtest/gtest.h>

namespace stator::systems::stories {
namespace {

using Ids = std::vector<std::string>;

TEST(StoryGraph, FindsNothingWrongWithASoundStory) {
  const auto report = check_graph({{"cave", {"left", "right"}}, {"left", {"cave"}}, {"right", {}}}, "cave");
  EXPECT_TRUE(report.sound());
  EXPECT_EQ(report.dead_ends, Ids{"right"});
}

TEST(StoryGraph, FindsLinksToNowhereAndNodesNobodyReaches) {
  const auto report = check_graph({{"a", {"b", "gone", ""}}, {"b", {}}, {"island", {"island"}}}, "a");
  EXPECT_EQ(report.broken_links, (std::vector<BrokenLink>{{"a", 1, "gone"}, {"a", 2, ""}}));
  EXPECT_EQ(report.unreachable, Ids{"island"});
  EXPECT_FALSE(report.missing_start);
}

TEST(StoryGraph, SaysWhenThereIsNoStart) {
  EXPECT_TRUE(check_graph({{"a", {}}}, "").missing_start);
  EXPECT_TRUE(check_graph({}, "a").missing_start);
}

TEST(StoryGraph, TakesACircleOfManyNodes) {
  std::vector<GraphNode> nodes;
  for (int i = 0; i < 100'000; ++i) nodes.push_back({std::to_string(i), {std::to_string((i + 1) % 100'000)}});
  EXPECT_TRUE(check_graph(nodes, "0").sound());
}

}  // namespace
}  // namespace stator::systems::stories
