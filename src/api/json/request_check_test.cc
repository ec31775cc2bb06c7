#include "stator/api/json/request_check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <random>
#include <string>
#include <string_view>

#include "stator/api/testing/request_cases.h"

namespace stator::api {
namespace {

// ---- Good requests

TEST(RequestCheck, AcceptsGoodRequests) {
  expect_all({
      {"CreateTable",
       R"({"TableName":"abc","AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"}],
           "KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST",
           "StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"},"Tags":[{"Key":"k","Value":""}]})",
       "ok"},
      {"DescribeTable", R"({"TableName":"abc"})", "ok"},
      {"ListTables", "{}", "ok"},
      {"ListTables", R"({"Limit":100,"ExclusiveStartTableName":"abc"})", "ok"},
      {"DeleteTable", R"({"TableName":"arn:aws:dynamodb:us-east-1:123456789012:table/abc"})", "ok"},
      {"UpdateTable", R"({"TableName":"abc","ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}})",
       "ok"},
      {"PutItem",
       R"({"TableName":"abc","Item":{"a":{"S":""},"b":{"N":"1"},"c":{"B":"AAA="},"d":{"SS":["x"]},"e":{"NS":["1"]},
           "f":{"BS":["","AA==","AAAA"]},"g":{"L":[{"BOOL":true},{"NULL":true},{"M":{"":{"L":[]}}}]},"h":{"M":{}}},
           "ReturnValues":"ALL_OLD"})",
       "ok"},
      {"PutItem", R"({"TableName":"arn:aws:dynamodb:us-east-1:123456789012:table/abc","Item":{}})", "ok"},
      {"GetItem", R"({"TableName":"abc","Key":{"a":{"S":"x"}},"AttributesToGet":["a"],"ConsistentRead":false})", "ok"},
      {"UpdateItem", R"({"TableName":"abc","Key":{},"AttributeUpdates":{"a":{"Action":"ADD","Value":{"N":"1"}}}})",
       "ok"},
      {"DeleteItem", R"({"TableName":"abc","Key":{},"Expected":{"a":{"Exists":false}}})", "ok"},
      {"BatchGetItem", R"({"RequestItems":{"abc":{"Keys":[{"a":{"S":"x"}}]}}})", "ok"},
      {"BatchWriteItem",
       R"({"RequestItems":{"abc":[{"PutRequest":{"Item":{}}}],"arn:aws:dynamodb:r:1:table/t":[{"DeleteRequest":{"Key":{}}}]}})",
       "ok"},
      {"Query",
       R"({"TableName":"abc","Limit":1,"KeyConditions":{"a":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"x"}]}}})",
       "ok"},
      {"Scan", R"({"TableName":"abc","Segment":0,"TotalSegments":1000000})", "ok"},
      {"TransactWriteItems", R"({"TransactItems":[{"Put":{"TableName":"abc","Item":{}}}]})", "ok"},
      {"GetRecords", R"({"ShardIterator":"x"})", "ok"},
  });
}

TEST(RequestCheck, IgnoresWhatTheModelDoesNotKnow) {
  expect_all({
      {"DescribeTable", R"({"TableName":"abc","Colour":7,"tableName":[]})", "ok"},
      {"PutItem", R"({"TableName":"abc","Item":{"a":{"dog":"cat"}}})", "ok"},
  });
}

TEST(RequestCheck, TakesNullForAbsent) {
  expect_all({
      {"ListTables", R"({"Limit":null})", "ok"},
      {"PutItem", R"({"TableName":"abc","Item":{"a":{"S":"x","N":null}},"ReturnValues":null})", "ok"},
      {"PutItem", R"({"TableName":null,"Item":{}})", violations({no_value("tableName")})},
  });
}

TEST(RequestCheck, RefusesNullInsideListsAndMaps) {
  expect_all({
      {"GetItem", R"({"TableName":"abc","Key":{},"AttributesToGet":[null]})",
       violations({no_value("attributesToGet.1.member")})},
      {"BatchGetItem", R"({"RequestItems":{"abc":null}})", violations({no_value("requestItems.abc.member")})},
      {"PutItem", R"({"TableName":"abc","Item":{"a":{"SS":["x",null]}}})",
       violations({no_value("item.a.member.sS.2.member")})},
      {"PutItem", R"({"TableName":"abc","Item":{"a":null}})",
       "Validation: Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"},
      {"PutItem", R"({"TableName":"abc","Item":{"a":{"L":[null]}}})",
       "Validation: Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"},
  });
}

// ---- Sizes

TEST(RequestCheck, CountsCharactersAsTheServiceDoes) {
  std::string wide;
  for (int i = 0; i < 127; ++i) wide += "😀";  // two units each
  expect_all({
      {"UpdateTimeToLive",
       fmt::format(R"({{"TableName":"abc","TimeToLiveSpecification":{{"Enabled":true,"AttributeName":"{}é"}}}})", wide),
       "ok"},
      {"UpdateTimeToLive",
       fmt::format(R"({{"TableName":"abc","TimeToLiveSpecification":{{"Enabled":true,"AttributeName":"{}éé"}}}})",
                   wide),
       violations(
           {bad(wide + "éé", "timeToLiveSpecification.attributeName", "have length less than or equal to 255")})},
  });
}

TEST(RequestCheck, LimitsAttributeNames) {
  const std::string good(65535, 'n');
  const std::string long_name(65536, 'n');
  const auto item = [](std::string_view name) {
    return fmt::format(R"({{"TableName":"abc","Item":{{"{}":{{"S":"x"}}}}}})", name);
  };
  const auto nested = [](std::string_view name) {
    return fmt::format(R"({{"TableName":"abc","Item":{{"a":{{"M":{{"{}":{{"S":"x"}}}}}}}}}})", name);
  };
  const auto names = [](std::string_view name) {
    return fmt::format(R"({{"TableName":"abc","Key":{{}},"ExpressionAttributeNames":{{"#n":"{}"}}}})", name);
  };
  EXPECT_EQ(outcome("PutItem", item(good)), "ok");
  EXPECT_EQ(outcome("PutItem", nested(good)), "ok");
  EXPECT_EQ(outcome("GetItem", names(good)), "ok");
  EXPECT_TRUE(outcome("PutItem", item(long_name))
                  .ends_with("' at 'item' failed to satisfy constraint: Map keys must satisfy constraint: "
                             "[Member must have length less than or equal to 65535]"));
  EXPECT_TRUE(outcome("PutItem", nested(long_name))
                  .ends_with("' at 'item.a.member.m' failed to satisfy constraint: Map keys must satisfy constraint: "
                             "[Member must have length less than or equal to 65535]"));
  EXPECT_TRUE(outcome("GetItem", names(long_name))
                  .ends_with("' at 'expressionAttributeNames' failed to satisfy constraint: Map value must satisfy "
                             "constraint: [Member must have length less than or equal to 65535]"));
}

TEST(RequestCheck, WritesShortMessagesForLongValues) {
  const std::string huge(std::size_t{8} << 20, 'x');
  EXPECT_LT(outcome("PutItem", fmt::format(R"({{"TableName":"abc","Item":{{}},"ReturnValues":"{}"}})", huge)).size(),
            70'000U);
  EXPECT_LT(outcome("DescribeTable", fmt::format(R"({{"TableName":"{}"}})", huge)).size(), 70'000U);
  EXPECT_LT(outcome("BatchGetItem", fmt::format(R"({{"RequestItems":{{"{}":{{}}}}}})", huge)).size(), 140'000U);
}

TEST(RequestCheck, WalksDeepValues) {
  const auto nested = [](int levels) {
    std::string open;
    std::string close;
    for (int i = 0; i < levels; ++i) {
      open += i % 2 == 0 ? R"({"L":[)" : R"({"M":{"a":)";
      close.insert(0, i % 2 == 0 ? "]}" : "}}");
    }
    return fmt::format(R"({{"TableName":"abc","Item":{{"a":{}@{}}}}})", open, close);
  };
  EXPECT_EQ(outcome("PutItem", with(nested(120), R"({"S":"x"})")), "ok");  // too deep, which decoding will tell
  EXPECT_EQ(outcome("PutItem", with(nested(120), R"({"S":1})")),
            "Serialization: NUMBER_VALUE cannot be converted to String");
}

TEST(RequestCheck, RefusesARepeatedMember) {
  expect_all({
      {"PutItem", R"({"TableName":"abc","Item":{},"ReturnValues":"NONE","ReturnValues":"NONE"})",
       "Serialization: Duplicate member: ReturnValues"},
      {"GetItem", R"({"TableName":"abc","Key":null,"Key":{"pk":{"S":"a"}}})", "Serialization: Duplicate member: Key"},
      {"BatchGetItem", R"({"RequestItems":{"abc":{"Keys":[{}]},"abd":{"Keys":[{}]},"abc":{"Keys":[{}]}}})",
       "Serialization: Duplicate member: abc"},
  });
}

// Writes bodies that follow a shape more or less.
class RandomBody {
 public:
  explicit RandomBody(std::uint64_t seed) : random_(seed) {}

  std::string write(const Shape& shape) {
    out_.clear();
    value(shape, 0);
    return std::move(out_);
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  void scalar() {
    static constexpr std::array kTokens = {
        "null", "true", "false", "0",     "-7",       "3.5",     "1e300",
        "[]",   "{}",   "\"\"",  "\"a\"", "\"AAA=\"", "\"é😀\"", "18446744073709551615"};
    out_ += kTokens[below(kTokens.size())];
  }

  void text(const Shape& shape) {
    if (!shape.enum_values.empty() && below(2) == 0) {
      out_ += fmt::format("\"{}\"", shape.enum_values[below(shape.enum_values.size())]);
    } else {
      out_ += fmt::format("\"{}\"", std::string(below(8), 'a'));
    }
  }

  void value(const Shape& shape, int depth) {
    if (depth > 12 || below(40) == 0) return scalar();
    switch (shape.type) {
      case ShapeType::String: return text(shape);
      case ShapeType::Blob: out_ += "\"AAA=\""; return;
      case ShapeType::Boolean: out_ += "true"; return;
      case ShapeType::Integer:
      case ShapeType::Long:
      case ShapeType::Double:
      case ShapeType::Timestamp: out_ += std::to_string(below(120)); return;
      case ShapeType::List: return elements('[', ']', shape, depth);
      case ShapeType::Map: return elements('{', '}', shape, depth);
      case ShapeType::Structure:
      case ShapeType::AttributeValue: return structure(shape, depth);
    }
  }

  void elements(char open, char close, const Shape& shape, int depth) {
    out_ += open;
    for (std::uint64_t left = below(4); left != 0; --left) {
      if (open == '{') out_ += fmt::format("\"{}\":", std::string(below(6), 'k'));
      value(*shape.element, depth + 1);
      if (left != 1) out_ += ',';
    }
    out_ += close;
  }

  void structure(const Shape& shape, int depth) {
    out_ += "{\"unknown\":1";
    for (const auto& member : shape.members) {
      if (below(3) == 0) continue;
      out_ += fmt::format(",\"{}\":", member.name);
      value(*member.shape, depth + 1);
    }
    out_ += '}';
  }

  std::mt19937_64 random_;
  std::string out_;
};

TEST(RequestCheck, HasAnAnswerForAnyBody) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomBody body(seed);
    for (const auto& operation : operations()) {
      const auto text = body.write(*operation.input);
      SCOPED_TRACE(fmt::format("{} {} {}", seed, operation.name, text));
      const auto got = outcome(operation.name, text);
      EXPECT_TRUE(got == "ok" || got.starts_with("Validation: ") || got.starts_with("Serialization: ")) << got;
      EXPECT_NE(got, "Serialization: ");  // a violation was seen and then not found
    }
  }
}

TEST(IntegerOf, RoundsDownAndStaysInRange) {
  value::JsonParser parser;
  const auto number = [&parser](std::string_view text) { return integer_of(*parser.parse(text)); };
  EXPECT_EQ(number("7"), 7);
  EXPECT_EQ(number("7.9"), 7);
  EXPECT_EQ(number("-0.5"), -1);
  EXPECT_EQ(number("18446744073709551615"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(number("1e300"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(number("-1e300"), std::numeric_limits<std::int64_t>::min());
}

}  // namespace
}  // namespace stator::api
