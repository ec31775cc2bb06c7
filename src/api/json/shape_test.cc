#include "stator/api/json/shape.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace stator::api {
namespace {

TEST(Operations, AreAllOfBothServices) {
  EXPECT_EQ(operations().size(), 66U);
  EXPECT_TRUE(std::ranges::is_sorted(operations(), {}, &Operation::name));
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

TEST(Pattern, MatchesWholeTexts) {
  struct Case {
    Pattern pattern;
    std::string_view text;
    bool expected;
  };
  for (const auto& [pattern, text, expected] : {
           Case{Pattern::None, "", true},
           Case{Pattern::Name, "aZ09_.-", true},
           Case{Pattern::Name, "", false},
           Case{Pattern::Name, "a b", false},
           Case{Pattern::Name, "é", false},
           Case{Pattern::Printable, "a ~", true},
           Case{Pattern::Printable, "a\n", false},
           Case{Pattern::Text, "", true},
           Case{Pattern::Text, "é\t😀", true},
           Case{Pattern::Text, "\x01", false},
           Case{Pattern::CsvHeader, "a b", true},
           Case{Pattern::CsvHeader, "a,b", false},
           Case{Pattern::CsvDelimiter, "|", true},
           Case{Pattern::CsvDelimiter, "||", false},
           Case{Pattern::NoDollar, "a", true},
           Case{Pattern::NoDollar, "a$", false},
           Case{Pattern::TwelveDigits, "123456789012", true},
           Case{Pattern::TwelveDigits, "12345678901", false},
           Case{Pattern::HexGroups, "0123456789abcdef", true},
           Case{Pattern::HexGroups, "0123456789ABCDEF", false},
           Case{Pattern::HexGroups, "0123456789abcde", false},
           Case{Pattern::Bucket, "my-bucket.1", true},
           Case{Pattern::Bucket, "-bucket", false},
           Case{Pattern::Bucket, "b", false},
       }) {
    EXPECT_EQ(matches(pattern, text), expected) << static_cast<int>(pattern) << " " << text;
  }
}

}  // namespace
}  // namespace stator::api
