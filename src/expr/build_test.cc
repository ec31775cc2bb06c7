#include "stator/expr/build.h"

#include <gtest/gtest.h>

#include "stator/expr/unbinder.h"

namespace stator::expr {
namespace {

using value::AttributeValue;
using value::Item;

TEST(Build, AConditionIsAskedLikeOneThatWasParsed) {
  const auto expired = to_condition(
      any_of({absent("id"), all_of({exists("end"), compare("end", Op::LessEqual, AttributeValue::number(5))})}));
  EXPECT_TRUE(expired.matches(Item{}));
  EXPECT_TRUE(expired.matches(Item{{"id", AttributeValue::number(1)}, {"end", AttributeValue::number(5)}}));
  EXPECT_FALSE(expired.matches(Item{{"id", AttributeValue::number(1)}, {"end", AttributeValue::number(6)}}));
  EXPECT_FALSE(expired.matches(Item{{"id", AttributeValue::number(1)}}));
  EXPECT_EQ(Unbinder().text(expired), "(attribute_not_exists(#0)) OR ((attribute_exists(#1)) AND (#1 <= :0))");
}

TEST(Build, ASingleClauseStandsAlone) {
  EXPECT_EQ(Unbinder().text(to_condition(all_of({exists("a")}))), "attribute_exists(#0)");
}

TEST(Build, AFunctionOfTwoOperandsIsAClauseLikeAComparison) {
  const auto title = to_condition(compare("title", Op::BeginsWith, AttributeValue::string("The ")));
  EXPECT_TRUE(title.matches(Item{{"title", AttributeValue::string("The Dispossessed")}}));
  EXPECT_FALSE(title.matches(Item{{"title", AttributeValue::number(1)}}));
}

TEST(Build, AnUpdateIsAppliedLikeOneThatWasParsed) {
  const auto update = UpdateBuilder()
                          .set("name.with.dots", AttributeValue::string("x"))
                          .remove("size")
                          .add("count", AttributeValue::number(2))
                          .finish();
  const Item before{{"size", AttributeValue::number(1)}, {"count", AttributeValue::number(40)}};
  const Item after{{"name.with.dots", AttributeValue::string("x")}, {"count", AttributeValue::number(42)}};
  EXPECT_EQ(update.apply(before).value(), after);
  EXPECT_EQ(Unbinder().text(update), "SET #0 = :0 REMOVE #1 ADD #2 :1");
}

}  // namespace
}  // namespace stator::expr
