#include "stator/systems/stories/setters.h"

#include <gtest/gtest.h>

namespace stator::systems::stories {
namespace {

using value::AttributeValue;
using value::Item;

TEST(Setters, BecomeWhatAResponseSets) {
  const auto read = read_setter(
      "$a to 5, $b = -1.5; $c to \"x, y\", $d to true, $e to $a2 * ($f + 1), $g += 2, $h++, set $i to '=x'");
  EXPECT_EQ(read.values, (Item{{"a", AttributeValue::number(5)},
                               {"b", AttributeValue(*value::Number::parse("-1.5"))},
                               {"c", AttributeValue::string("x, y")},
                               {"d", AttributeValue::boolean(true)},
                               {"e", AttributeValue::string("=a2 * ( f + 1 )")},
                               {"g", AttributeValue::string("=g + 2")},
                               {"h", AttributeValue::string("=h + 1")},
                               {"i", AttributeValue::string("='=x'")}}));
  EXPECT_TRUE(read.unknown.empty());
}

TEST(Setters, TellWhatCannotBeExpressed) {
  const auto read =
      read_setter("$a to random(1, 6), $b to 1, $c to $b + 1, $d.e to 1, go(), $f to $g and $h, $i to $j $k");
  EXPECT_EQ(read.values, (Item{{"b", AttributeValue::number(1)}}));
  EXPECT_EQ(read.unknown, (std::vector<std::string>{"$a to random(1, 6)", "$c to $b + 1", "$d.e to 1", "go()",
                                                    "$f to $g and $h", "$i to $j $k"}));
}

TEST(Setters, AreWrittenAsTheyAreRead) {
  for (const std::string_view text :
       {"$coins to $coins - 3, $lamp to true", "$a to \"x\"", "$a to 'say \"x\"'", "$b to $a, $a to 1"}) {
    EXPECT_EQ(write_setter(read_setter(text).values), text);
  }
  const auto written = [](const AttributeValue& content) { return write_setter({{"x", content}}); };
  EXPECT_EQ(written(AttributeValue::string("=coalesce(x, 0) + 1")), std::nullopt);
  EXPECT_EQ(written(AttributeValue::string("=a AND b")), std::nullopt);
  EXPECT_EQ(written(AttributeValue::string("=size(a)")), std::nullopt);
  EXPECT_EQ(written(AttributeValue(value::List{})), std::nullopt);
  EXPECT_EQ(write_setter({{"a", AttributeValue::string("=b")}, {"b", AttributeValue::string("=a")}}), std::nullopt)
      << "an exchange cannot be said in two steps";
}

TEST(Setters, OfStoryInitAreVariables) {
  const auto read = read_story_init("<<set $a to 1>>\n<<set $b to \"x\", $c to $a>>\n<<widget>>");
  EXPECT_EQ(read.values, (Item{{"a", AttributeValue::number(1)}, {"b", AttributeValue::string("x")}}));
  EXPECT_EQ(read.unknown, (std::vector<std::string>{"$c to $a", "<<widget>>"}));
  EXPECT_EQ(write_story_init(read.values), "<<set $a to 1>>\n<<set $b to \"x\">>\n");
}

}  // namespace
}  // namespace stator::systems::stories
