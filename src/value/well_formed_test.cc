#include "stator/value/well_formed.h"

#include <gtest/gtest.h>

#include "stator/base/random.h"
#include "stator/value/json.h"
#include "stator/value/test_random_value.h"

namespace stator::value {
namespace {

AttributeValue text(std::string_view content) { return AttributeValue::string(content); }

std::string told(const Result<void>& checked) { return checked ? "fine" : checked.error().message; }

AttributeValue nested_in_lists(int lists) {
  AttributeValue value = text("core");
  for (int i = 0; i < lists; ++i) value = AttributeValue(List{std::move(value)});
  return value;
}

TEST(WellFormed, IsWhatDecodingMakes) {
  Random random(1);
  JsonParser parser;
  for (int i = 0; i < 2000; ++i) {
    const auto item = random_map(random, 4);
    EXPECT_EQ(told(check_well_formed(item)), "fine");
    std::string json;
    append_json(json, item);
    EXPECT_TRUE(decode_item(*parser.parse(json)).ok()) << json;
  }
}

TEST(WellFormed, IsNoTextThatIsNotUtf8) {
  for (const std::string_view bad :
       {"\xff", "plain text, and then \xc3", "\xed\xa0\x80", "\xc0\x80", "\xf5\x80\x80\x80"}) {
    const auto broken = [&](const AttributeValue& value) {
      const auto checked = check_well_formed(value);
      return !checked && checked.error().code == ErrorCode::Serialization;
    };
    EXPECT_TRUE(broken(text(bad))) << bad;
    EXPECT_TRUE(broken(AttributeValue(List{text("fine"), text(bad)})));
    EXPECT_TRUE(broken(AttributeValue(AttributeMap{{"m", text(bad)}})));
    EXPECT_TRUE(broken(AttributeValue(AttributeMap{{std::string(bad), text("fine")}})));
    EXPECT_TRUE(broken(*make_string_set({"fine", std::string(bad)})));
    EXPECT_FALSE(broken(AttributeValue::binary(bad)));
    EXPECT_FALSE(check_name(bad).ok());
  }
  EXPECT_TRUE(check_text("naïve 😀 \x7f").ok());
}

TEST(WellFormed, IsNoSetWithoutOrderOrMembers) {
  EXPECT_EQ(told(check_well_formed(AttributeValue(StringSet{}))), make_string_set({}).error().message);
  EXPECT_EQ(told(check_well_formed(AttributeValue(NumberSet{}))), make_number_set({}).error().message);
  EXPECT_EQ(told(check_well_formed(AttributeValue(BinarySet{}))), make_binary_set({}).error().message);
  EXPECT_EQ(told(check_well_formed(AttributeValue(StringSet{{"a", "a"}}))),
            make_string_set({"a", "a"}).error().message);
  EXPECT_EQ(told(check_well_formed(AttributeValue(List{AttributeValue(StringSet{{"b", "a"}})}))),
            "One or more parameter values were invalid: The members of a set are not in order");
}

TEST(WellFormed, IsNothingNestedTooDeep) {
  EXPECT_EQ(told(check_well_formed(nested_in_lists(31))), "fine");
  EXPECT_EQ(told(check_well_formed(nested_in_lists(32))),
            "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported "
            "limit");
  EXPECT_EQ(told(check_well_formed(AttributeMap{{"a", nested_in_lists(31)}})), "fine");
  EXPECT_NE(told(check_well_formed(AttributeMap{{"a", nested_in_lists(32)}})), "fine");
}

TEST(WellFormed, IsNoNameLongerThan65535Characters) {
  const auto named = [](std::string name) { return AttributeMap{{std::move(name), text("x")}}; };
  EXPECT_TRUE(check_well_formed(named(std::string(65535, 'n'))).ok());
  EXPECT_FALSE(check_well_formed(named(std::string(65536, 'n'))).ok());
  std::string wide;
  for (int i = 0; i < 65535; ++i) wide += "é";
  EXPECT_TRUE(check_well_formed(named(wide)).ok());
}

}  // namespace
}  // namespace stator::value
