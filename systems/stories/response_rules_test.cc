#include "stator/systems/stories/response_rules.h"

#include <gtest/gtest.h>

namespace stator::systems::stories {
namespace {

using value::AttributeValue;
using value::Item;

Item response(std::string_view condition, Item set = {}) {
  Item made;
  made.set("condition", AttributeValue::string(condition));
  made.set("set", AttributeValue(std::move(set)));
  return made;
}

Item coins(int count) { return {{"coins", AttributeValue::number(count)}}; }

TEST(ResponseRules, OpensWhileTheConditionHolds) {
  EXPECT_TRUE(*is_open(response("coins >= 3"), coins(3)));
  EXPECT_FALSE(*is_open(response("coins >= 3"), coins(2)));
  EXPECT_FALSE(*is_open(response("coins >= 3"), {})) << "a variable that is not there";
  EXPECT_TRUE(*is_open(response("attribute_not_exists(key)"), {}));
  EXPECT_TRUE(*is_open({}, {})) << "without a condition";
}

TEST(ResponseRules, SetsValuesAndComputesFromWhatWasBefore) {
  const auto after = variables_after(response("", {{"coins", AttributeValue::string("=coins - 3")},
                                                   {"had", AttributeValue::string("=coins")},
                                                   {"paid", AttributeValue::boolean(true)},
                                                   {"key", AttributeValue::string("=null")}}),
                                     {{"coins", AttributeValue::number(5)}, {"key", AttributeValue::boolean(true)}});
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(*after, (Item{{"coins", AttributeValue::number(2)},
                          {"had", AttributeValue::number(5)},
                          {"paid", AttributeValue::boolean(true)}}));
}

TEST(ResponseRules, TellsWhatCannotBeComputed) {
  EXPECT_FALSE(variables_after(response("", {{"coins", AttributeValue::string("=coins / 0")}}), coins(1)));
}

TEST(ResponseRules, FindsMistakesWhereTheyAre) {
  const value::List responses = {
      AttributeValue(response("coins >=")), AttributeValue(response("coins > :me")),
      AttributeValue(response("a = 1", {{"b c", AttributeValue::number(1)}, {"d", AttributeValue::string("=1 +")}}))};
  std::vector<std::string> places;
  for (const auto& problem : check_responses(responses, "responses")) places.push_back(problem.attribute);
  EXPECT_EQ(places, (std::vector<std::string>{"responses[0].condition", "responses[1].condition",
                                              "responses[2].set.b c", "responses[2].set.d"}));
}

TEST(ResponseRules, BoundsVariables) {
  EXPECT_TRUE(check_variables(coins(1), "variables").empty());
  EXPECT_EQ(check_variables({{"text", AttributeValue(std::string(40'000, 'x'))}}, "variables").size(), 1U);
  Item many;
  for (std::size_t i = 0; i <= kMostVariables; ++i) many.set("v" + std::to_string(i), AttributeValue::number(1));
  EXPECT_EQ(check_variables(many, "variables").size(), 1U);
}

}  // namespace
}  // namespace stator::systems::stories
