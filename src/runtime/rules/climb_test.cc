#include "stator/runtime/rules/climb.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <map>

#include "stator/runtime/test_support.h"

namespace stator::runtime {
namespace {

constexpr std::string_view kTrees = R"yaml(
model: trees
table: { name: Trees, key: [PK, SK] }
entities:
  GARDEN:
    keys: { PK: "garden#{garden}", SK: "garden" }
    attributes:
      garden: { type: string, required: true }
      weight: { sum: { of: TREE.garden, attribute: weight } }
  TREE:
    keys: { PK: "garden#{garden}", SK: "tree#{tree}" }
    parents: { garden: { entity: GARDEN } }
    attributes:
      garden: { type: string, required: true }
      tree: { type: string, required: true }
      weight: { sum: { of: LEAF.tree, attribute: weight } }
      leaves: { count: LEAF.tree }
  LEAF:
    keys: { PK: "garden#{garden}", SK: "tree#{tree}#leaf#{leaf}" }
    parents: { tree: { entity: TREE } }
    attributes:
      garden: { type: string, required: true }
      tree: { type: string, required: true }
      leaf: { type: string, required: true }
      weight: integer
)yaml";

// The effects of a climb on the parents in a map, by the name of their entity.
class ClimbTest : public ::testing::Test {
 protected:
  // "TREE weight 5; GARDEN weight 5"
  std::string climbed(const std::optional<Item>& from, const std::optional<Item>& to, unsigned generation = 1) {
    std::vector<std::string> lines;
    const auto change = [&](const ParentEffect& effect) -> Result<std::optional<ChangedParent>, Problem> {
      const auto& entity = effect.rules->parent->name;
      std::string line = entity;
      for (const auto& one : effect.counters) line += ' ' + one.counter->name + ' ' + one.amount.to_string();
      lines.push_back(std::move(line));
      const auto parent = parents_.find(entity);
      if (parent == parents_.end()) return std::optional<ChangedParent>();
      auto before = parent->second;
      TRY(checked(add_to_counters(effect.counters, parent->second)));
      return std::optional(ChangedParent{.from = std::move(before), .to = &parent->second});
    };
    const auto& leaf = *model_.find_entity("LEAF");
    const auto done = climb(rules_, leaf, from ? &*from : nullptr, to ? &*to : nullptr, change, generation);
    if (!done) lines.push_back(told(done.error()));
    return fmt::format("{}", fmt::join(lines, "; "));
  }
  static Item leaf(std::int64_t weight) {
    return {{"garden", text("g")}, {"tree", text("t")}, {"leaf", text("l")}, {"weight", number(weight)}};
  }

  const model::Model model_ = model::load_or_fail(kTrees);
  const Rules rules_{model_};
  std::map<std::string, Item> parents_ = {{"GARDEN", Item{{"garden", text("g")}}},
                                          {"TREE", Item{{"garden", text("g")}, {"tree", text("t")}}}};
};

TEST_F(ClimbTest, GoesUpAsFarAsSomethingChanges) {
  EXPECT_EQ(climbed({}, leaf(5)), "TREE weight 5 leaves 1; GARDEN weight 5");
  EXPECT_EQ(climbed(leaf(5), leaf(3)), "TREE weight -2; GARDEN weight -2");
  EXPECT_EQ(climbed(leaf(3), leaf(3)), "");
  EXPECT_EQ(climbed(leaf(0), {}), "TREE leaves -1");
  EXPECT_EQ(shown(parents_["GARDEN"], "weight") + shown(parents_["TREE"], "leaves"), "30");
}

TEST_F(ClimbTest, EndsAtAParentThatIsNotThere) {
  parents_.erase("TREE");
  EXPECT_EQ(climbed({}, leaf(5)), "TREE weight 5 leaves 1");
}

TEST_F(ClimbTest, CountsAsManyGenerationsAsRulesMayHave) {
  EXPECT_EQ(climbed({}, leaf(5), kMaxCounterDepth), "TREE weight 5 leaves 1; 500 Internal");
  EXPECT_EQ(climbed({}, leaf(5), kMaxCounterDepth + 1), "500 Internal");
}

}  // namespace
}  // namespace stator::runtime
