#include "stator/systems/stories/variable_use.h"

#include <gtest/gtest.h>

namespace stator::systems::stories {
namespace {

using value::AttributeValue;
using value::Item;
using Names = std::set<std::string>;

value::List responses(std::string_view condition, const Item& set) {
  return {AttributeValue(Item{{"condition", AttributeValue::string(condition)}, {"set", AttributeValue(set)}})};
}

Item text(std::string_view name, std::string_view content) {
  return {{std::string(name), AttributeValue::string(content)}};
}

TEST(VariableUse, FindsVariablesThatAreReadAndNeverSet) {
  VariableUse use(text("lamp", "on"));
  use.add(responses("coins >= 3 AND lamp = 'on'", text("key", "yes")));
  use.add(responses("key = 'yes'", {}));
  EXPECT_EQ(use.unset(), Names{"coins"});
}

TEST(VariableUse, AVariableThatIsComputedFromItselfAloneIsNeverSet) {
  VariableUse use({});
  use.add(responses("", text("coins", "=coins + 5")));
  use.add(responses("", text("steps", "=coalesce(steps, 0) + 200")));
  use.add(responses("", text("total", "=coins + steps")));
  use.add(responses("total > 1", {}));
  EXPECT_EQ(use.unset(), (Names{"coins", "total"}));
  use.add(responses("", text("coins", "=steps * 2")));
  EXPECT_EQ(use.unset(), Names{}) << "whatever the order in which they are found";
}

TEST(VariableUse, SaysWhereVariablesAreRead) {
  const auto reads = reads_of(responses("a = 1", text("b", "=c + 1")));
  ASSERT_EQ(reads.size(), 2U);
  EXPECT_EQ(reads[0].variable + " " + reads[0].where, "a condition");
  EXPECT_EQ(reads[1].variable + " " + reads[1].where, "c set.b");
}

TEST(VariableUse, FollowsALongChain) {
  VariableUse use(text("v0", "x"));
  for (int i = 9000; i > 0; --i) use.add(responses("", text("v" + std::to_string(i), "=v" + std::to_string(i - 1))));
  EXPECT_EQ(use.unset(), Names{});
}

}  // namespace
}  // namespace stator::systems::stories
