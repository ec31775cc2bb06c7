#include "stator/value/attribute_value.h"

#include <gtest/gtest.h>

namespace stator::value {
namespace {

AttributeValue text(std::string_view value) { return AttributeValue::string(value); }

template <typename T>
std::string error_of(const Result<T>& result) {
  return result.ok() ? "no error" : result.error().message;
}

std::string names_of(const AttributeMap& map) {
  std::string names;
  for (const auto& [name, value] : map) names += name + ' ';
  return names;
}

TEST(AttributeValue, KnowsItsType) {
  EXPECT_EQ(type_name(text("a").type()), "S");
  EXPECT_EQ(type_name(AttributeValue::number(1).type()), "N");
  EXPECT_EQ(type_name(AttributeValue::binary("a").type()), "B");
  EXPECT_EQ(type_name(make_string_set({"a"})->type()), "SS");
  EXPECT_EQ(type_name(make_number_set({Number()})->type()), "NS");
  EXPECT_EQ(type_name(make_binary_set({"a"})->type()), "BS");
  EXPECT_EQ(type_name(AttributeValue(AttributeMap()).type()), "M");
  EXPECT_EQ(type_name(AttributeValue(List()).type()), "L");
  EXPECT_EQ(type_name(AttributeValue().type()), "NULL");
  EXPECT_EQ(type_name(AttributeValue::boolean(false).type()), "BOOL");
}

TEST(AttributeValue, ComparesLikeTheService) {
  EXPECT_EQ(AttributeValue(Number::parse("1.0").value()), AttributeValue::number(1));
  EXPECT_EQ(*make_string_set({"b", "a"}), *make_string_set({"a", "b"}));
  EXPECT_NE(AttributeValue(List{text("b"), text("a")}), AttributeValue(List{text("a"), text("b")}));
  EXPECT_NE(text("a"), AttributeValue::binary("a"));
  EXPECT_NE(text("1"), AttributeValue::number(1));
  EXPECT_NE(*make_string_set({"a"}), *make_binary_set({"a"}));
  EXPECT_EQ(AttributeValue(AttributeMap{{"x", text("1")}, {"y", text("2")}}),
            AttributeValue(AttributeMap{{"y", text("2")}, {"x", text("1")}}));
}

TEST(AttributeMap, KeepsNamesInByteOrderEachOnce) {
  AttributeMap map;
  for (const auto* name : {"b", "é", "a", "B", "", "b"}) map.set(name, text(name));
  EXPECT_EQ(names_of(map), " B a b é ");
  EXPECT_EQ(map.size(), 5U);
}

TEST(AttributeMap, SetReplaces) {
  AttributeMap map{{"a", text("old")}};
  map.set("a", text("new"));
  EXPECT_EQ(map, (AttributeMap{{"a", text("new")}}));
}

TEST(AttributeMap, FindsWhatIsThereAndNothingElse) {
  AttributeMap map{{"b", text("1")}, {"d", text("2")}};
  ASSERT_NE(map.find("d"), nullptr);
  EXPECT_EQ(*map.find("d"), text("2"));
  for (const auto* name : {"", "a", "c", "e", "dd"}) EXPECT_EQ(map.find(name), nullptr) << name;
  *map.find("b") = text("3");
  EXPECT_EQ(*map.find("b"), text("3"));
}

TEST(AttributeMap, GivesTextsAndWholeNumbersOrNothing) {
  const AttributeMap map{{"text", text("a")},
                         {"empty", text("")},
                         {"number", AttributeValue::number(-7)},
                         {"fraction", AttributeValue(Number::parse("1.5").value())},
                         {"large", AttributeValue(Number::parse("1e30").value())},
                         {"digits", text("7")}};
  struct Case {
    std::string_view name, text;
    std::int64_t integer;
  };
  for (const auto& [name, expected_text, expected_integer] :
       {Case{"text", "a", 0}, Case{"empty", "", 0}, Case{"number", "", -7}, Case{"fraction", "", 0},
        Case{"large", "", 0}, Case{"digits", "7", 0}, Case{"absent", "", 0}}) {
    EXPECT_EQ(map.text(name), expected_text) << name;
    EXPECT_EQ(map.integer(name), expected_integer) << name;
  }
}

TEST(AttributeMap, GivesNumbersOrNull) {
  const AttributeMap map{{"number", AttributeValue(Number::parse("1.5").value())}, {"digits", text("7")}};
  ASSERT_NE(map.number("number"), nullptr);
  EXPECT_EQ(map.number("number")->to_string(), "1.5");
  EXPECT_EQ(map.number("digits"), nullptr);
  EXPECT_EQ(map.number("absent"), nullptr);
}

TEST(AttributeMap, ErasesOne) {
  AttributeMap map{{"a", text("1")}, {"b", text("2")}};
  EXPECT_FALSE(map.erase("c"));
  EXPECT_TRUE(map.erase("a"));
  EXPECT_EQ(names_of(map), "b ");
  EXPECT_TRUE(map.erase("b"));
  EXPECT_TRUE(map.empty());
}

TEST(AttributeMap, OfUnsortedEntriesKeepsTheLaterOfTwo) {
  const auto map =
      AttributeMap::from_unsorted({{"b", text("1")}, {"a", text("2")}, {"b", text("3")}, {"a", text("4")}});
  EXPECT_EQ(map, (AttributeMap{{"a", text("4")}, {"b", text("3")}}));
}

TEST(Sets, HoldTheirMembersInOrder) {
  EXPECT_EQ(make_string_set({"b", "é", "a", ""})->as_string_set()->members,
            (std::vector<std::string>{"", "a", "b", "é"}));
  EXPECT_EQ(make_binary_set({"\xff", "\x7f"})->as_binary_set()->members, (std::vector<std::string>{"\x7f", "\xff"}));
  const auto numbers = make_number_set({Number::from_int(10), Number::from_int(-3), Number::from_int(9)});
  EXPECT_EQ(numbers->as_number_set()->members,
            (std::vector<Number>{Number::from_int(-3), Number::from_int(9), Number::from_int(10)}));
}

TEST(Sets, AreNeverEmpty) {
  EXPECT_EQ(error_of(make_string_set({})),
            "One or more parameter values were invalid: An string set  may not be empty");
  EXPECT_EQ(error_of(make_number_set({})),
            "One or more parameter values were invalid: An number set  may not be empty");
  EXPECT_EQ(error_of(make_binary_set({})),
            "One or more parameter values were invalid: Binary sets should not be empty");
}

TEST(Sets, HoldNothingTwice) {
  EXPECT_EQ(error_of(make_string_set({"b", "a", "b"})),
            "One or more parameter values were invalid: Input collection [b, a, b] contains duplicates.");
  EXPECT_EQ(error_of(make_string_set({"", ""})),
            "One or more parameter values were invalid: Input collection [, ] contains duplicates.");
  EXPECT_EQ(error_of(make_number_set({Number::from_int(1), Number::parse("1.0").value()})),
            "Input collection contains duplicates");
  EXPECT_EQ(
      error_of(make_binary_set({"b", "a", "b"})),
      "One or more parameter values were invalid: Input collection [Yg==, YQ==, Yg==]of type BS contains duplicates.");
}

TEST(Sets, ShowOnlyTheBeginningOfALongCollection) {
  const std::string megabyte(1 << 20, 'x');
  EXPECT_EQ(error_of(make_string_set({"a", megabyte, megabyte})),
            "One or more parameter values were invalid: Input collection [a, ...] contains duplicates.");
}

}  // namespace
}  // namespace stator::value
