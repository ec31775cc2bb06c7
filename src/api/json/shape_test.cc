#include "stator/api/json/shape.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace stator::api {
namespace {

TEST(Operations, AreAllOfBothServices) {
  EXPECT_EQ(operations().size(), 66U);
  EXPECT_TRUE(std::ranges::is_sorted(operations(), {}, &OperationShape::name));
  ASSERT_NE(find_operation("PutItem"), nullptr);
  EXPECT_EQ(find_operation("PutItem")->service, "DynamoDB_20120810");
  ASSERT_NE(find_operation("GetRecords"), nullptr);
  EXPECT_EQ(find_operation("GetRecords")->service, "DynamoDBStreams_20120810");
  EXPECT_EQ(find_operation("putItem"), nullptr);
  EXPECT_EQ(find_operation(""), nullptr);
  EXPECT_EQ(input_shape("Zap"), nullptr);
}

TEST(Shape, KnowsItsMembers) {
  const auto& shape = *input_shape("PutItem");
  EXPECT_EQ(shape.name, "PutItemInput");
  const auto item = shape.find("Item");
  ASSERT_LT(item, shape.members.size());
  EXPECT_EQ(shape.required >> item & 1, 1U);
  EXPECT_EQ(shape.members[item].shape->type, ShapeType::Map);
  EXPECT_EQ(shape.members[item].shape->element->type, ShapeType::AttributeValue);
  EXPECT_EQ(shape.find("item"), shape.members.size());
}

TEST(Shape, FitsTheWalker) {
  for (const auto& operation : operations()) {
    SCOPED_TRACE(operation.name);
    ASSERT_EQ(operation.input->type, ShapeType::Structure);
    EXPECT_LE(operation.input->members.size(), 64U);
    EXPECT_EQ(operation.input->check_order.size(), operation.input->members.size());
    EXPECT_EQ(operation.input->print_order.size(), operation.input->members.size());
  }
}

TEST(TextPattern, MatchesWholeTexts) {
  struct Case {
    TextPattern pattern;
    std::string_view text;
    bool expected;
  };
  for (const auto& [pattern, text, expected] : {
           Case{TextPattern::None, "", true},
           Case{TextPattern::Name, "aZ09_.-", true},
           Case{TextPattern::Name, "", false},
           Case{TextPattern::Name, "a b", false},
           Case{TextPattern::Name, "é", false},
           Case{TextPattern::Printable, "a ~", true},
           Case{TextPattern::Printable, "a\n", false},
           Case{TextPattern::Text, "", true},
           Case{TextPattern::Text, "é\t😀", true},
           Case{TextPattern::Text, "\x01", false},
           Case{TextPattern::CsvHeader, "a b", true},
           Case{TextPattern::CsvHeader, "a,b", false},
           Case{TextPattern::CsvDelimiter, "|", true},
           Case{TextPattern::CsvDelimiter, "||", false},
           Case{TextPattern::NoDollar, "a", true},
           Case{TextPattern::NoDollar, "a$", false},
           Case{TextPattern::TwelveDigits, "123456789012", true},
           Case{TextPattern::TwelveDigits, "12345678901", false},
           Case{TextPattern::HexGroups, "0123456789abcdef", true},
           Case{TextPattern::HexGroups, "0123456789ABCDEF", false},
           Case{TextPattern::HexGroups, "0123456789abcde", false},
           Case{TextPattern::Bucket, "my-bucket.1", true},
           Case{TextPattern::Bucket, "-bucket", false},
           Case{TextPattern::Bucket, "b", false},
       }) {
    EXPECT_EQ(matches(pattern, text), expected) << static_cast<int>(pattern) << " " << text;
  }
}

}  // namespace
}  // namespace stator::api
