#include "stator/value/json_tree.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stator/value/json.h"

namespace stator::value {
namespace {

struct JsonTree : ::testing::Test {
  JsonElement parse(std::string_view text) { return parser.parse(text).value(); }

  JsonParser parser;
};

TEST_F(JsonTree, TellsWhatEachValueIs) {
  const std::vector<JsonType> types{JsonType::Object, JsonType::Array,  JsonType::String,
                                    JsonType::Int64,  JsonType::Uint64, JsonType::Double,
                                    JsonType::Bool,   JsonType::Bool,   JsonType::Null};
  std::vector<JsonType> found;
  for (const auto element : parse(R"([{}, [], "", -1, 9223372036854775808, 1.5, true, false, null])").array()) {
    found.push_back(element.type());
  }
  EXPECT_EQ(found, types);
}

TEST_F(JsonTree, FindsMembersBehindNestedOnes) {
  const auto root = parse(R"({"a": {"x": [1, {"y": 2.5}], "z": "deep"}, "b": [[], {}, "text"], "c": true})");
  EXPECT_EQ(root["a"]["z"].string(), "deep");
  EXPECT_EQ(root["a"]["x"].array().at(1)["y"].real(), 2.5);
  EXPECT_EQ(root["b"].array().at(2).string(), "text");
  EXPECT_TRUE(root["c"].boolean());
  EXPECT_EQ(root.object().size(), 3U);
  EXPECT_EQ(root["b"].array().size(), 3U);
}

TEST_F(JsonTree, WhatIsNotThereIsNothing) {
  const auto root = parse(R"({"a": [1], "b": "text"})");
  EXPECT_FALSE(root["c"]);
  EXPECT_FALSE(root["c"]["d"]);
  EXPECT_FALSE(root["b"]["a"]);
  EXPECT_FALSE(root["a"].array().at(1));
  JsonElement element;
  JsonObject object;
  std::string_view text = "as it was";
  EXPECT_FALSE(root["c"].get(element));
  EXPECT_FALSE(root["b"].get(object));
  EXPECT_FALSE(root["a"].get(text));
  EXPECT_EQ(text, "as it was");
}

TEST_F(JsonTree, AnObjectOrArrayMadeOfNothingIsEmpty) {
  EXPECT_EQ(JsonObject().size(), 0U);
  EXPECT_TRUE(JsonObject().begin() == JsonObject().end());
  EXPECT_FALSE(JsonObject()["a"]);
  EXPECT_EQ(JsonArray().size(), 0U);
  EXPECT_TRUE(JsonArray().begin() == JsonArray().end());
}

TEST_F(JsonTree, ANumberIsReadByWhatCanHoldIt) {
  const auto array = parse("[7, -7, 18446744073709551615, 0.5]").array();
  std::int64_t integer = 0;
  std::uint64_t natural = 0;
  double real = 0;
  EXPECT_TRUE(array.at(0).get(integer) && array.at(0).get(natural) && array.at(0).get(real));
  EXPECT_EQ(integer, 7);
  EXPECT_EQ(natural, 7U);
  EXPECT_EQ(real, 7.0);
  EXPECT_TRUE(array.at(1).get(integer));
  EXPECT_EQ(integer, -7);
  EXPECT_FALSE(array.at(1).get(natural));
  EXPECT_FALSE(array.at(2).get(integer));
  EXPECT_TRUE(array.at(2).get(natural));
  EXPECT_EQ(natural, 18446744073709551615U);
  EXPECT_FALSE(array.at(3).get(integer));
  EXPECT_FALSE(array.at(3).get(natural));
}

TEST_F(JsonTree, OfAMemberGivenTwiceTheFirstIsFound) { EXPECT_EQ(parse(R"({"a": 1, "a": 2})")["a"].integer(), 1); }

TEST_F(JsonTree, StringsKeepEveryByte) {
  EXPECT_EQ(parse(R"("a\u0000b\n\u00e4")").string(), std::string_view("a\0b\nä", 6));
}

TEST_F(JsonTree, PrintsWhatWasParsedWithoutWhiteSpace) {
  const auto* const printed =
      R"({"a":[1,-2,1.5,18446744073709551615,true,false,null,"\n"],"b":{},"c":[],"":{"x":{"y":[[1]]}}})";
  EXPECT_EQ(json_text(parse(printed)), printed);
  EXPECT_EQ(json_text(parse("[1.0, 1e2, 1e300]")), "[1,100,1e+300]");
  EXPECT_EQ(json_text(parse(" [ 1 ,\n { \"a\" : \"b\" } ] ")), R"([1,{"a":"b"}])");
}

}  // namespace
}  // namespace stator::value
