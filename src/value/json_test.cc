#include "stator/value/json.h"

#include <gtest/gtest.h>

#include "stator/value/item_size.h"
#include "stator/value/test_random_value.h"

namespace stator::value {
namespace {

using namespace std::literals;

template <typename T>
std::string error_of(const Result<T>& result) {
  return result.ok() ? "no error" : result.error().message;
}

Result<AttributeValue> decode(std::string_view json) {
  JsonParser parser;
  return decode_value(TRY(parser.parse(json)));
}

Result<AttributeMap> decode_map(std::string_view json) {
  JsonParser parser;
  return decode_item(TRY(parser.parse(json)));
}

std::string encode(const auto& value) {
  std::string json;
  append_json(json, value);
  return json;
}

// The value read from `json`, written again; or the error.
std::string canonical(std::string_view json) {
  const auto value = decode(json);
  return value.ok() ? encode(*value) : error_of(value);
}

std::string json_string(std::string_view text) {
  std::string json;
  append_json_string(json, text);
  return json;
}

// ------------------------------------------------------------------------------------------------------------- parsing

TEST(JsonParser, RefusesWhatIsNotJson) {
  for (const auto text :
       {""sv, " "sv, "{"sv, "}"sv, "{}x"sv, "{\"a\":}"sv, "{'a':1}"sv, "[1,]"sv, "nul"sv, "\"a"sv, "\"\n\""sv,
        "{\"a\":1}{\"b\":2}"sv, "\"\\x\""sv, "\"\xff\""sv, "\"\xc3\""sv, "\"\xed\xa0\x80\""sv, "\0"sv}) {
    JsonParser parser;
    const auto result = parser.parse(text);
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_EQ(result.error().code, ErrorCode::Serialization);
  }
}

TEST(JsonParser, RefusesHalvesOfSurrogatePairs) {
  for (const auto text : {R"("\ud800")"sv, R"("\udc00")"sv, R"("\uDFFF")"sv, R"("x\udc00\ud800")"sv,
                          R"("\ud800\ud800")"sv, R"("\ud800x")"sv, R"("\ud83d\ude00\ude00")"sv, R"({"\udead":1})"sv}) {
    JsonParser parser;
    const auto result = parser.parse(text);
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_EQ(result.error().code, ErrorCode::Serialization);
  }
  EXPECT_EQ(canonical(R"({"S":"\ud83d\ude00 \uD83D\uDE00 \\udc00 \u00e9 \ud7ff \ue000"})"),
            "{\"S\":\"😀 😀 \\\\udc00 é \xed\x9f\xbf \xee\x80\x80\"}");
}

TEST(JsonParser, BoundsDepthAndSize) {
  JsonParser parser;
  EXPECT_FALSE(parser.parse(std::string(200'000, '[')).ok());
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(parser.parse(nested(JsonParser::kMaxJsonDepth - 1)).ok());
  EXPECT_FALSE(parser.parse(nested(JsonParser::kMaxJsonDepth + 1)).ok());
  EXPECT_TRUE(parser.parse('"' + std::string(JsonParser::kMaxJsonBytes - 2, 'x') + '"').ok());
  EXPECT_FALSE(parser.parse('"' + std::string(JsonParser::kMaxJsonBytes - 1, 'x') + '"').ok());
  EXPECT_TRUE(parser.parse("[]").ok());
}

TEST(JsonParser, ReadsPaddedTextInPlace) {
  std::string text = R"({"S":"in place"})";
  text.reserve(text.size() + kJsonPadding);
  JsonParser parser;
  EXPECT_EQ(decode_value(*parser.parse_padded(text)).value(), AttributeValue::string("in place"));
}

TEST(JsonParser, IsReusedAcrossSizes) {
  JsonParser parser;
  for (const std::size_t size : {10U, 10'000U, 5'000'000U, 10U, 3'000U, 100'000U, 0U}) {
    const std::string text(size, 'y');
    const auto json = parser.parse("{\"S\":\"" + text + "\"}");
    ASSERT_TRUE(json.ok()) << size;
    EXPECT_EQ(decode_value(*json).value(), AttributeValue(text)) << size;
  }
}

// ------------------------------------------------------------------------------------------------------------ decoding

TEST(DecodeValue, ReadsEveryType) {
  struct Case {
    std::string_view json, canonical;
  };
  for (const auto& [json, expected] : {
           Case{R"({"S":""})", R"({"S":""})"},
           Case{R"( { "S" : "a" } )", R"({"S":"a"})"},
           Case{R"({"S":"\u0041\/\u00e9\u0001\u007f"})", "{\"S\":\"A/é\\u0001\x7f\"}"},
           Case{R"({"N":"01.50e1"})", R"({"N":"15"})"},
           Case{R"({"B":""})", R"({"B":""})"},
           Case{R"({"B":"/+8="})", R"({"B":"/+8="})"},
           Case{R"({"SS":["b","a","é",""]})", R"({"SS":["","a","b","é"]})"},
           Case{R"({"NS":["10","9.50","-1"]})", R"({"NS":["-1","9.5","10"]})"},
           Case{R"({"BS":["/w==","AA==",""]})", R"({"BS":["","AA==","/w=="]})"},
           Case{R"({"M":{}})", R"({"M":{}})"},
           Case{R"({"M":{"b":{"S":"1"},"a":{"M":{"c":{"L":[]}}}}})",
                R"({"M":{"a":{"M":{"c":{"L":[]}}},"b":{"S":"1"}}})"},
           Case{R"({"L":[{"S":"b"},{"S":"a"},{"L":[{"NULL":true}]}]})",
                R"({"L":[{"S":"b"},{"S":"a"},{"L":[{"NULL":true}]}]})"},
           Case{R"({"NULL":true})", R"({"NULL":true})"},
           Case{R"({"BOOL":true})", R"({"BOOL":true})"},
           Case{R"({"BOOL":false})", R"({"BOOL":false})"},
           Case{R"({"BOOL":"Yes"})", R"({"BOOL":true})"},
           Case{R"({"BOOL":"FALSE"})", R"({"BOOL":false})"},
           Case{R"({"X":1,"S":"unknown members are ignored","N":null})", R"({"S":"unknown members are ignored"})"},
           Case{R"({"S":"early","S":"late"})", R"({"S":"late"})"},
       }) {
    EXPECT_EQ(canonical(json), expected) << json;
  }
}

TEST(DecodeValue, RefusesInTheServicesWords) {
  constexpr auto kEmpty = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"sv;
  constexpr auto kSeveral =
      "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"sv;
  struct Case {
    std::string_view json, message;
  };
  for (const auto& [json, message] : {
           Case{R"({})", kEmpty},
           Case{R"({"X":"a"})", kEmpty},
           Case{R"({"s":"a"})", kEmpty},
           Case{R"({"S":null})", kEmpty},
           Case{R"({"L":[{}]})", kEmpty},
           Case{R"({"L":[null]})", kEmpty},
           Case{R"({"M":{"a":{}}})", kEmpty},
           Case{R"({"S":"a","N":"1"})", kSeveral},
           Case{R"({"X":1,"S":"a","BOOL":true})", kSeveral},
           Case{R"({"S":"a","N":"x"})", "The parameter cannot be converted to a numeric value: x"},
           Case{R"({"N":""})", "The parameter cannot be converted to a numeric value"},
           Case{R"({"N":"b"})", "The parameter cannot be converted to a numeric value: b"},
           Case{R"({"NS":["1","b"]})", "The parameter cannot be converted to a numeric value: b"},
           Case{R"({"N":"1e126"})",
                "Number overflow. Attempting to store a number with magnitude larger than supported range"},
           Case{R"({"N":"1e-131"})",
                "Number underflow. Attempting to store a number with magnitude smaller than supported range"},
           Case{R"({"N":"1.23456789012345678901234567890123456789"})",
                "Attempting to store more than 38 significant digits in a Number"},
           Case{R"({"NULL":false})",
                "One or more parameter values were invalid: Null attribute value types must have the value of true"},
           Case{R"({"SS":[]})", "One or more parameter values were invalid: An string set  may not be empty"},
           Case{R"({"NS":[]})", "One or more parameter values were invalid: An number set  may not be empty"},
           Case{R"({"BS":[]})", "One or more parameter values were invalid: Binary sets should not be empty"},
           Case{R"({"SS":["a","a"]})",
                "One or more parameter values were invalid: Input collection [a, a] contains duplicates."},
           Case{R"({"NS":["1","1.0"]})", "Input collection contains duplicates"},
           Case{R"({"BS":["Yg==","Yg=="]})",
                "One or more parameter values were invalid: Input collection [Yg==, Yg==]of type BS contains "
                "duplicates."},
       }) {
    const auto result = decode(json);
    EXPECT_EQ(error_of(result), message) << json;
    EXPECT_TRUE(!result.ok() && result.error().code == ErrorCode::Validation) << json;
  }
}

TEST(DecodeValue, RefusesOtherJsonTypesAsSerializationErrors) {
  constexpr auto kStructure = "Start of structure or map found where not expected"sv;
  struct Case {
    std::string_view json, message;
  };
  for (const auto& [json, message] : {
           Case{R"(1)", "Unexpected value type in payload"},
           Case{R"("S")", "Unexpected value type in payload"},
           Case{R"([])", "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue"},
           Case{R"({"S":1})", "NUMBER_VALUE cannot be converted to String"},
           Case{R"({"S":-1.5})", "DECIMAL_VALUE cannot be converted to String"},
           Case{R"({"N":123})", "NUMBER_VALUE cannot be converted to String"},
           Case{R"({"N":18446744073709551615})", "NUMBER_VALUE cannot be converted to String"},
           Case{R"({"S":true})", "TRUE_VALUE cannot be converted to String"},
           Case{R"({"S":false})", "FALSE_VALUE cannot be converted to String"},
           Case{R"({"S":[]})", "Unrecognized collection type class java.lang.String"},
           Case{R"({"S":{}})", kStructure},
           Case{R"({"B":1})", "only base-64-encoded strings are convertible to bytes"},
           Case{R"({"B":[]})", "Unrecognized collection type class java.nio.ByteBuffer"},
           Case{R"({"B":{}})", kStructure},
           Case{R"({"B":"fakebase64"})", "Base64 encoded length is expected a multiple of 4 bytes but found: 10"},
           Case{R"({"B":"YY=="})", "Invalid last non-pad Base64 character dectected"},
           Case{R"({"BS":["YQ==","###="]})", "Invalid last non-pad Base64 character dectected"},
           Case{R"({"SS":"a"})", "Unexpected field type"},
           Case{R"({"SS":{}})", kStructure},
           Case{R"({"SS":[1]})", "NUMBER_VALUE cannot be converted to String"},
           Case{R"({"L":1})", "Unexpected field type"},
           Case{R"({"L":[1]})", "Unexpected value type in payload"},
           Case{R"({"M":"a"})", "Unexpected field type"},
           Case{R"({"M":[]})",
                "Unrecognized collection type java.util.Map<java.lang.String, "
                "com.amazonaws.dynamodb.v20120810.AttributeValue>"},
           Case{R"({"BOOL":1})", "NUMBER_VALUE cannot be converted to Boolean"},
           Case{R"({"BOOL":1.5})", "DECIMAL_VALUE cannot be converted to Boolean"},
           Case{R"({"BOOL":"maybe"})", "Unexpected token received from parser"},
           Case{R"({"NULL":[]})", "Unrecognized collection type class java.lang.Boolean"},
           Case{R"({"NULL":{}})", kStructure},
       }) {
    const auto result = decode(json);
    EXPECT_EQ(error_of(result), message) << json;
    EXPECT_TRUE(!result.ok() && result.error().code == ErrorCode::Serialization) << json;
  }
}

std::string nested_in(std::string_view opening, std::string_view closing, int levels) {
  std::string json;
  for (int i = 0; i < levels; ++i) json += opening;
  json += R"({"S":"core"})";
  for (int i = 0; i < levels; ++i) json += closing;
  return json;
}

TEST(DecodeValue, Allows32LevelsIncludingTheValueInTheMiddle) {
  constexpr auto kTooDeep =
      "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit";
  EXPECT_TRUE(decode(nested_in(R"({"L":[)", "]}", 31)).ok());
  EXPECT_EQ(error_of(decode(nested_in(R"({"L":[)", "]}", 32))), kTooDeep);
  EXPECT_TRUE(decode_map(R"({"a":)" + nested_in(R"({"M":{"m":)", "}}", 31) + "}").ok());
  EXPECT_EQ(error_of(decode_map(R"({"a":)" + nested_in(R"({"M":{"m":)", "}}", 32) + "}")), kTooDeep);
}

TEST(DecodeItem, SortsNamesAndKeepsTheLaterOfTwo) {
  const auto item = decode_map(R"({"b":{"S":"1"},"é":{"S":"2"},"a":{"S":"3"},"b":{"S":"4"}})");
  EXPECT_EQ(encode(*item), R"({"a":{"S":"3"},"b":{"S":"4"},"é":{"S":"2"}})");
}

TEST(DecodeItem, ReportsTheFirstMistakeInTheDocument) {
  EXPECT_EQ(error_of(decode_map(R"({"z":{"N":"first"},"a":{"N":"second"}})")),
            "The parameter cannot be converted to a numeric value: first");
}

TEST(DecodeItem, RefusesWhatIsNoObject) {
  for (const auto json : {"1", "null", "\"a\"", "[]", R"({"a":1})"}) {
    const auto result = decode_map(json);
    EXPECT_TRUE(!result.ok() && result.error().code == ErrorCode::Serialization) << json;
  }
}

// ------------------------------------------------------------------------------------------------------------ encoding

TEST(ParseItem, ReadsTheTextOfOneItemOrOfSeveral) {
  const AttributeMap one{{"a", AttributeValue::string("1")}};
  EXPECT_EQ(*parse_item(R"({"a":{"S":"1"}})"), one);
  EXPECT_FALSE(parse_item(""));
  EXPECT_FALSE(parse_item("[]"));
  EXPECT_EQ(*parse_items(R"({"a":{"S":"1"}},{})"), (std::vector<AttributeMap>{one, {}}));
  EXPECT_EQ(parse_items("")->size(), 0U);
  EXPECT_FALSE(parse_items("{},"));
}

TEST(Json, IsCanonicalForRandomItems) {
  JsonParser parser;
  for (std::uint64_t seed = 1; seed <= 5'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const AttributeMap item = random_map(random, 4);
    const std::string json = encode(item);
    const auto again = decode_item(*parser.parse(json));
    ASSERT_TRUE(again.ok()) << again.error().message << "\n" << json;
    ASSERT_TRUE(*again == item) << json;
    ASSERT_EQ(encode(*again), json);
    ASSERT_EQ(item_size_bytes(*again), item_size_bytes(item));
  }
}

TEST(JsonString, EscapesWhatItMustAndNothingElse) {
  EXPECT_EQ(json_string(""), R"("")");
  EXPECT_EQ(json_string("a/b é 😀"), R"("a/b é 😀")");
  EXPECT_EQ(json_string("\"\\\b\f\n\r\t"), R"("\"\\\b\f\n\r\t")");
  EXPECT_EQ(json_string("\0\x01\x1f\x7f"sv), "\"\\u0000\\u0001\\u001f\x7f\"");
}

TEST(JsonString, EscapesAtEveryPosition) {  // in words of eight bytes and in what is left of them
  JsonParser parser;
  for (std::size_t size = 0; size < 40; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      for (int byte = 0; byte < 0x80; ++byte) {
        std::string text(size, 'x');
        text[at] = static_cast<char>(byte);
        const bool plain = byte >= 0x20 && byte != '"' && byte != '\\';
        const std::string json = json_string(text);
        ASSERT_EQ(json == '"' + text + '"', plain) << byte << " at " << at << " of " << size;
        ASSERT_EQ(parser.parse(json)->string(), text) << byte << " at " << at << " of " << size;
      }
    }
  }
}

TEST(Base64, ReadsBackEveryLength) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Random random(seed);
    const std::string bytes = random_bytes(random);
    std::string text, decoded;
    append_base64(text, bytes);
    ASSERT_TRUE(decode_base64(text, decoded)) << "seed " << seed << ": " << text;
    ASSERT_EQ(decoded, bytes) << "seed " << seed;
  }
  std::string text = "kept ";
  append_base64(text, "\xfb\xef\xff");
  EXPECT_EQ(text, "kept ++//");
}

TEST(Base64, IsStrict) {
  std::string bytes;
  for (const auto text : {"A", "AA", "AAA", "AA=", "A===", "====", "=", "AA==AA==", "AAA=AAAA", "A=AA",
                          "AB==", "AAB=", "AA A", "AAA\n", "AA-_", "AA\xff\xff", "AAA=\n", "AAAA="}) {
    EXPECT_FALSE(decode_base64(text, bytes)) << text;
    EXPECT_TRUE(bytes.empty()) << text;
  }
  EXPECT_FALSE(decode_base64("AA\0A"sv, bytes));
  EXPECT_TRUE(decode_base64("", bytes));
}

TEST(JsonWriter, WritesADocumentFrontToBack) {
  std::string json;
  JsonWriter writer(json);
  writer.begin_object();
  writer.key("a\"b").string("x\ny").key("i").integer(-7).key("r").real(0.5).key("t").boolean(true).key("n").null();
  writer.key("list")
      .begin_array()
      .integer(1)
      .begin_array()
      .end_array()
      .begin_object()
      .end_object()
      .integer(2)
      .end_array();
  writer.key("value").attribute(AttributeValue::number(1)).key("item").item({{"k", AttributeValue::string("v")}});
  writer.key("raw").raw("[1,2]").end_object();
  EXPECT_EQ(json, R"({"a\"b":"x\ny","i":-7,"r":0.5,"t":true,"n":null,"list":[1,[],{},2],"value":{"N":"1"},)"
                  R"("item":{"k":{"S":"v"}},"raw":[1,2]})");
}

TEST(JsonWriter, WritesRealsThatReadBackAsTheSame) {
  const auto written = [](double number) {
    std::string json;
    JsonWriter(json).real(number);
    return json;
  };
  EXPECT_EQ(written(0), "0");
  EXPECT_EQ(written(1), "1");
  EXPECT_EQ(written(0.1), "0.1");
  EXPECT_EQ(written(1700000000), "1700000000");
  EXPECT_EQ(written(1700000000.123), "1700000000.123");
  EXPECT_EQ(written(1e300), "1e+300");
  EXPECT_EQ(written(std::numeric_limits<double>::infinity()), "null");
  JsonParser parser;
  for (const double number : {1.0 / 3, 1e-7, 123456789.123456789, 9007199254740993.0, -2.5e-300}) {
    EXPECT_EQ(parser.parse(written(number))->real(), number);
  }
}

TEST(AnyJson, IsWrittenAsItWasWithoutWhiteSpace) {
  JsonParser parser;
  for (const auto& [json, expected] :
       {std::pair(R"( { "a" : [ 1 , -2.5, true, null, "x y" ] , "b" : { } } )",
                  R"({"a":[1,-2.5,true,null,"x y"],"b":{}})"),
        std::pair(R"(["\u0001 \n \" \\ \u00e9"])", "[\"\\u0001 \\n \\\" \\\\ \u00e9\"]")}) {
    EXPECT_EQ(encode(*parser.parse(json)), expected);
  }
}

TEST(JsonWriter, TakesOverMembersOfAnArray) {
  for (const std::string& members : {std::string(), std::string("1"), std::string(40, '7') + ",{\"a\":2}"}) {
    std::string out;
    JsonWriter json(out);
    json.begin_object().key("list").begin_array();
    json.take_members(std::string(members));
    json.end_array().key("more").integer(1).end_object();
    EXPECT_EQ(out, "{\"list\":[" + members + "],\"more\":1}");
  }
}

}  // namespace
}  // namespace stator::value
