#include "stator/value/item_size.h"

#include <gtest/gtest.h>

namespace stator::value {
namespace {

AttributeValue text(std::string_view value) { return AttributeValue::string(value); }

TEST(ItemSize, FollowsTheServicesRules) {
  struct Case {
    AttributeValue value;
    std::size_t size;
    std::string_view why;
  };
  for (const auto& [value, size, why] : {
           Case{text(""), 0, "an empty string is free"},
           Case{text("aé"), 3, "UTF-8 bytes, not characters"},
           Case{AttributeValue::number(0), 1, "zero"},
           Case{AttributeValue::number(12), 2, "two digits and the exponent"},
           Case{AttributeValue::number(-12), 3, "and the sign"},
           Case{AttributeValue::binary("abc"), 3, "raw bytes, not base64"},
           Case{AttributeValue(Null{}), 1, "null"},
           Case{AttributeValue::boolean(true), 1, "bool"},
           Case{*make_string_set({"a", "bc"}), 3, "a set is the sum of its members"},
           Case{*make_number_set({Number::from_int(1), Number::from_int(123)}), 5, "2 + 3"},
           Case{*make_binary_set({"a", "bc"}), 3, "raw bytes again"},
           Case{AttributeValue(List{}), 3, "an empty list"},
           Case{AttributeValue(List{text("abc"), AttributeValue(Null{})}), 3 + 1 + 3 + 1 + 1, "one more per element"},
           Case{AttributeValue(AttributeMap{}), 3, "an empty map"},
           Case{AttributeValue(AttributeMap{{"ab", text("c")}}), 3 + 1 + 2 + 1, "one more per member, and its name"},
           Case{AttributeValue(List{AttributeValue(List{})}), 3 + 1 + 3, "nested"},
       }) {
    EXPECT_EQ(value_size_bytes(value), size) << why;
    EXPECT_EQ(attribute_size_bytes("naïve", value), 6 + size) << why;
  }
}

TEST(ItemSize, OfAnItemIsItsNamesAndValues) {
  EXPECT_EQ(item_size_bytes({}), 0U);
  EXPECT_EQ(item_size_bytes({{"pk", text("user")}, {"n", AttributeValue::number(7)}}), 2U + 4 + 1 + 2);
}

AttributeMap nested_in_maps(int maps) {
  AttributeValue value = text("core");
  for (int i = 0; i < maps; ++i) value = AttributeValue(AttributeMap{{"m", std::move(value)}});
  return {{"a", std::move(value)}};
}

TEST(Nesting, Reaches32LevelsIncludingTheValueInTheMiddle) {
  EXPECT_TRUE(check_nesting(nested_in_maps(31)).ok());
  const auto refused = check_nesting(nested_in_maps(32));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported "
            "limit");
}

}  // namespace
}  // namespace stator::value
