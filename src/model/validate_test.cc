#include "stator/model/validate.h"

#include <gtest/gtest.h>

#include "stator/base/random.h"
#include "stator/base/test_pieces.h"
#include "stator/model/json_reader.h"
#include "stator/model/problem_list.h"
#include "stator/value/json.h"

namespace stator::model {
namespace {

using stator::testing::Pieces;

using value::AttributeValue;
using value::Item;
using value::Number;

AttributeValue text(std::string_view text) { return AttributeValue::string(text); }
AttributeValue number(std::string_view text) { return AttributeValue(*Number::parse(text)); }

Type type_of(Kind kind) {
  Type type;
  type.kind = kind;
  return type;
}

Type bounded(Kind kind, std::string_view min, std::string_view max, std::string_view step = "") {
  Type type = type_of(kind);
  if (!min.empty()) type.min = *Number::parse(min);
  if (!max.empty()) type.max = *Number::parse(max);
  if (!step.empty()) type.step = *Number::parse(step);
  return type;
}

Type of(Kind kind, const Type& element) {
  Type type = type_of(kind);
  type.element = std::make_shared<const Type>(element);
  return type;
}

Attribute attribute(std::string_view name, Type type, bool required = false) {
  Attribute attribute;
  attribute.name = name;
  attribute.type = std::move(type);
  attribute.required = required;
  return attribute;
}

std::string listed(const std::vector<ValueProblem>& problems) {
  std::string list;
  for (const auto& problem : problems) list += (list.empty() ? "" : "; ") + problem.attribute + " " + problem.problem;
  return list;
}

std::string plain(const AttributeValue& value) {
  std::string json;
  append_plain_json(json, value);
  return json;
}

// The result of the check: the value in its one spelling, or the problems.
std::string checked(const Type& type, AttributeValue value) {
  std::vector<ValueProblem> problems;
  check_value(type, "x", value, problems);
  return problems.empty() ? plain(value) : listed(problems);
}

// ------------------------------------------------------------------------------------------------------------ checking

TEST(CheckValue, CountsCodePointsOfTexts) {
  const Type type = bounded(Kind::String, "1", "5");
  EXPECT_EQ(checked(type, text("naïve")), R"("naïve")");
  EXPECT_EQ(checked(type, text("naïve😀")), "x must have at most 5 characters");
  EXPECT_EQ(checked(type, text("")), "x must have at least 1 character");
  EXPECT_EQ(checked(type, number("1")), "x must be a text");
}

TEST(CheckValue, WantsTextsThatCanBeSeen) {
  using namespace std::string_view_literals;
  const Type name = bounded(Kind::String, "1", "20");
  EXPECT_EQ(checked(name, text(" \u3000\u200B")), "x must not be blank");
  EXPECT_EQ(checked(name, text("")), "x must have at least 1 character");
  EXPECT_EQ(checked(type_of(Kind::String), text("")), R"("")");
  EXPECT_EQ(checked(name, text("a\0"sv)), "x has the control character U+0000");
  EXPECT_EQ(checked(name, text("a\tb")), "x has the control character U+0009");
  EXPECT_EQ(checked(name, text("a\u009Bb")), "x has the control character U+009B");
  EXPECT_EQ(checked(name, text("two\nlines")), "x must be one line");
  EXPECT_EQ(checked(of(Kind::List, name), AttributeValue(value::List{text("a"), text("\x7F")})),
            "x[1] has the control character U+007F");
  EXPECT_EQ(checked(type_of(Kind::Email), text("a\u0085@example.com")), "x has the control character U+0085");
}

TEST(CheckValue, TakesTabsAndLineBreaksInTextsOfManyLines) {
  Type type = type_of(Kind::String);
  type.many_lines = true;
  EXPECT_EQ(checked(type, text("two\r\n\tlines\u2028")), "\"two\\r\\n\\tlines\u2028\"");
  EXPECT_EQ(checked(type, text("a\vb")), "x has the control character U+000B");
  EXPECT_EQ(checked(type, text("\n \n")), "x must not be blank");
}

TEST(CheckValue, MatchesPatternsAgainstTheWholeText) {
  Type type = type_of(Kind::String);
  type.pattern = "[A-Z]{2}";
  EXPECT_EQ(checked(type, text("CH")), R"("CH")");
  EXPECT_EQ(checked(type, text("CHE")), "x is not in the expected form");
  type.form = "Two capital letters.";
  EXPECT_EQ(checked(type, text("CHE")), "x is not in the expected form (Two capital letters)");
  EXPECT_EQ(checked(type, text("ch")), "x is not in the expected form (Two capital letters)");
}

TEST(CheckValue, BoundsNumbers) {
  const Type rating = bounded(Kind::Number, "1", "5", "0.5");
  EXPECT_EQ(checked(rating, number("3.5")), "3.5");
  EXPECT_EQ(checked(rating, number("0.5")), "x must be at least 1");
  EXPECT_EQ(checked(rating, number("5.5")), "x must be at most 5");
  EXPECT_EQ(checked(rating, number("3.3")), "x must be a multiple of 0.5");
  EXPECT_EQ(checked(rating, number("0.3")), "x must be at least 1; x must be a multiple of 0.5");
  EXPECT_EQ(checked(rating, text("3")), "x must be a number");
  EXPECT_EQ(checked(bounded(Kind::Number, "", "", "3"), number("1e38")), "x must be a multiple of 3");
  EXPECT_EQ(checked(bounded(Kind::Number, "", "", "0.1"), number("0.3")), "0.3");
}

TEST(CheckValue, TakesWholeNumbersForIntegers) {
  EXPECT_EQ(checked(type_of(Kind::Integer), number("12e3")), "12000");
  EXPECT_EQ(checked(type_of(Kind::Integer), number("1.5")), "x must be a whole number");
  EXPECT_EQ(checked(type_of(Kind::Integer), text("1")), "x must be a whole number");
}

TEST(CheckValue, BringsTextsIntoTheirOneSpelling) {
  EXPECT_EQ(checked(type_of(Kind::Uuid), text("123E4567-E89B-12D3-A456-426614174000")),
            R"("123e4567-e89b-12d3-a456-426614174000")");
  EXPECT_EQ(checked(type_of(Kind::Ulid), text("01arz3ndektsv4rrffq69g5fav")), R"("01ARZ3NDEKTSV4RRFFQ69G5FAV")");
  EXPECT_EQ(checked(type_of(Kind::Date), text("2024-02-29")), R"("2024-02-29")");
  EXPECT_EQ(checked(type_of(Kind::Timestamp), text("2026-01-15T11:00:00+01:00")), R"("2026-01-15T10:00:00.000Z")");
  EXPECT_EQ(checked(type_of(Kind::Email), text("Ann@Example.com")), R"("Ann@example.com")");
  EXPECT_EQ(checked(type_of(Kind::Url), text("https://example.com/x")), R"("https://example.com/x")");
  EXPECT_EQ(checked(type_of(Kind::Domain), text("HTTPS://www.M\u00fcller.de/x")), R"("xn--mller-kva.de")");
  Type lower = type_of(Kind::Email);
  lower.lower = true;
  EXPECT_EQ(checked(lower, text("Ann@Example.com")), R"("ann@example.com")");
}

TEST(CheckValue, TakesADateForAnEndOfItsDay) {
  Type type = type_of(Kind::Timestamp);
  type.date = DayEnd::Start;
  EXPECT_EQ(checked(type, text("2026-01-31")), R"("2026-01-31T00:00:00.000Z")");
  type.date = DayEnd::End;
  EXPECT_EQ(checked(type, text("2026-01-31")), R"("2026-02-01T00:00:00.000Z")");
  EXPECT_EQ(checked(type, text("2026-01-31T10:00:00Z")), R"("2026-01-31T10:00:00.000Z")");
  EXPECT_EQ(checked(type, text("2026-02-31")), "x is not a timestamp such as 2026-01-15T10:00:00Z");
}

TEST(CheckValue, SaysWhatATextShouldLookLike) {
  EXPECT_EQ(checked(type_of(Kind::Uuid), text("1")), "x is not a uuid such as 123e4567-e89b-12d3-a456-426614174000");
  EXPECT_EQ(checked(type_of(Kind::Ulid), text("1")), "x is not a ulid such as 01ARZ3NDEKTSV4RRFFQ69G5FAV");
  EXPECT_EQ(checked(type_of(Kind::Date), text("2025-02-29")), "x is not a date such as 2026-01-15");
  EXPECT_EQ(checked(type_of(Kind::Date), number("20250101")), "x is not a date such as 2026-01-15");
  EXPECT_EQ(checked(type_of(Kind::Timestamp), text("2026-01-15")), "x is not a timestamp such as 2026-01-15T10:00:00Z");
  EXPECT_EQ(checked(type_of(Kind::Email), text("ann")), "x is not an e-mail address such as ann@example.com");
  EXPECT_EQ(checked(type_of(Kind::Url), text("/x")), "x is not a URL such as https://example.com/page");
  Type status = type_of(Kind::Enum);
  status.values = {"SHELF", "READING", "READ"};
  EXPECT_EQ(checked(status, text("READ")), R"("READ")");
  EXPECT_EQ(checked(status, text("read")), "x must be one of SHELF, READING, READ");
}

TEST(CheckValue, NamesAFewOfManyValues) {
  Type country = type_of(Kind::Enum);
  for (char c = 'A'; c <= 'Z'; ++c) country.values.push_back(std::string("C") + c);
  EXPECT_EQ(checked(country, text("X")), "x must be one of CA, CB, CC, CD, CE, CF, CG, CH, CI, CJ and 16 other values");
}

TEST(CheckValue, ChecksBooleansAndBinary) {
  EXPECT_EQ(checked(type_of(Kind::Boolean), AttributeValue::boolean(true)), "true");
  EXPECT_EQ(checked(type_of(Kind::Boolean), text("true")), "x must be true or false");
  EXPECT_EQ(checked(bounded(Kind::Binary, "", "2"), AttributeValue::binary("ab")), R"("YWI=")");
  EXPECT_EQ(checked(bounded(Kind::Binary, "", "2"), AttributeValue::binary("abc")), "x must have at most 2 bytes");
}

TEST(CheckValue, NamesTheMembersOfLists) {
  Type tags = of(Kind::List, bounded(Kind::String, "", "3"));
  tags.max = Number::from_int(3);
  const AttributeValue list(value::List{text("abcd"), text("a"), number("1"), text("b")});
  EXPECT_EQ(checked(tags, list),
            "x must have at most 3 members; x[0] must have at most 3 characters; x[2] must be a text");
  EXPECT_EQ(checked(type_of(Kind::List), list), R"(["abcd","a",1,"b"])");
  EXPECT_EQ(checked(tags, text("a")), "x must be a list");
}

TEST(CheckValue, ChecksSets) {
  const Type emails = of(Kind::Set, type_of(Kind::Email));
  EXPECT_EQ(checked(emails, *value::make_string_set({"a@B.com", "a@b.com", "c@d.com"})), R"(["a@b.com","c@d.com"])");
  EXPECT_EQ(checked(emails, *value::make_string_set({"a@b.com", "c"})),
            "x[1] is not an e-mail address such as ann@example.com");
  EXPECT_EQ(checked(of(Kind::Set, bounded(Kind::Integer, "0", "")), *value::make_number_set({Number::from_int(-1)})),
            "x[0] must be at least 0");
  EXPECT_EQ(checked(emails, *value::make_number_set({Number::from_int(1)})), "x must be a list of different values");
}

TEST(CheckValue, ChecksTheShapeOfMaps) {
  Type address = type_of(Kind::Map);
  address.shape = {attribute("city", bounded(Kind::String, "1", ""), true), attribute("zip", type_of(Kind::Integer)),
                   attribute("country", type_of(Kind::String))};
  address.shape[2].default_value = text("CH");
  EXPECT_EQ(checked(address, AttributeValue(Item{{"city", text("Bern")}})), R"({"city":"Bern","country":"CH"})");
  EXPECT_EQ(checked(address, AttributeValue(Item{{"zip", text("a")}, {"citi", text("b")}})),
            "x.city is required; x.zip must be a whole number; x.citi is not an attribute of this; did you mean city?");
  EXPECT_EQ(checked(type_of(Kind::Map), AttributeValue(Item{{"a", text("b")}})), R"({"a":"b"})");
  EXPECT_EQ(checked(type_of(Kind::Map), text("a")), "x must be an object");
}

TEST(CheckValue, TakesAnything) {
  EXPECT_EQ(checked(type_of(Kind::Any), AttributeValue(value::List{text("a"), AttributeValue()})), R"(["a",null])");
}

// ---------------------------------------------------------------------------------------------------------- plain JSON

std::vector<Attribute> book() {
  Type address = type_of(Kind::Map);
  address.shape = {attribute("city", type_of(Kind::String)), attribute("seen", of(Kind::Set, type_of(Kind::Date)))};
  return {attribute("Title", type_of(Kind::String)),
          attribute("price", type_of(Kind::Number)),
          attribute("lent", type_of(Kind::Boolean)),
          attribute("cover", type_of(Kind::Binary)),
          attribute("tags", of(Kind::Set, type_of(Kind::String))),
          attribute("sizes", of(Kind::Set, type_of(Kind::Integer))),
          attribute("authors", of(Kind::List, type_of(Kind::String))),
          attribute("due", type_of(Kind::Date)),
          attribute("address", address),
          attribute("extra", type_of(Kind::Any))};
}

// "values nulls: ... problems: ...", or why it is not JSON.
std::string read(std::string_view json) {
  std::vector<ValueProblem> problems;
  const auto object = read_plain_json(json, book(), problems);
  if (!object.ok()) return object.error().message;
  std::string result;
  value::append_json(result, object->values);
  for (const auto& name : object->nulls) result += " null " + name;
  return problems.empty() ? result : result + " " + listed(problems);
}

TEST(PlainJson, BecomesValues) {
  EXPECT_EQ(read(R"( { "Title" : "a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é" , "lent":false } )"),
            R"({"Title":{"S":"a\"\\/\b\f\n\r\té😀é"},"lent":{"BOOL":false}})");
  EXPECT_EQ(
      read(R"({"cover":"YWI=","tags":["b","a","b"],"sizes":[3,1.0,1],"authors":["x","x"]})"),
      R"({"authors":{"L":[{"S":"x"},{"S":"x"}]},"cover":{"B":"YWI="},"sizes":{"NS":["1","3"]},"tags":{"SS":["a","b"]}})");
  EXPECT_EQ(
      read(R"({"address":{"city":null,"seen":["2026-01-15"]},"extra":{"a":[null,1,{}]}})"),
      R"({"address":{"M":{"seen":{"SS":["2026-01-15"]}}},"extra":{"M":{"a":{"L":[{"NULL":true},{"N":"1"},{"M":{}}]}}}})");
  EXPECT_EQ(read("{}"), "{}");
}

TEST(PlainJson, KeepsEveryDigit) {
  EXPECT_EQ(read(R"({"price":12345678901234567890.123456789012345678})"),
            R"({"price":{"N":"12345678901234567890.123456789012345678"}})");
  EXPECT_EQ(read(R"({"price":-0.1e2})"), R"({"price":{"N":"-10"}})");
  EXPECT_EQ(read(R"({"price":1e999,"lent":true})"),
            R"({"lent":{"BOOL":true}} price must be a number of at most 38 digits, from 1E-130 to 9.99E+125 in size)");
}

TEST(PlainJson, TellsNullFromAbsence) {
  EXPECT_EQ(read(R"({"Title":null,"price":1})"), R"({"price":{"N":"1"}} null Title)");
  EXPECT_EQ(read(R"({"tags":[]})"), "{} null tags");
}

TEST(PlainJson, ReportsWhatDoesNotFitAllAtOnce) {
  EXPECT_EQ(
      read(
          R"({"Title":1,"price":"2","lent":0,"cover":"!","tags":"a","authors":[1,null],"due":5,"address":{"city":1}})"),
      "{} Title must be a text; address.city must be a text; authors[0] must be a text; authors[1] must be a text; "
      "cover must be binary, written in base64; due is not a date such as 2026-01-15; lent must be true or false; "
      "price must be a number; tags must be a list of different values");
}

TEST(PlainJson, ReportsNamesThatNobodyKnowsOrThatComeTwice) {
  EXPECT_EQ(read(R"({"Titel":"x"})"), "{} Titel is not an attribute of this; did you mean Title?");
  EXPECT_EQ(read(R"({"lent":true,"lent":false,"lent":true})"), "{} lent is given twice");
  EXPECT_EQ(read(R"({"extra":[{"a":1,"a":2}]})"), "{} extra[0].a is given twice");
}

TEST(PlainJson, RefusesWhatIsNotAnObject) {
  EXPECT_EQ(read(""), "byte 1: it is not a JSON object");
  EXPECT_EQ(read("[]"), "byte 1: it is not a JSON object");
  EXPECT_EQ(read("{} x"), "byte 4: something follows the JSON object");
  EXPECT_EQ(read("{"), "byte 2: a name in quotes is missing");
  EXPECT_EQ(read(R"({"a")"), "byte 5: a colon is missing");
  EXPECT_EQ(read(R"({"a":1,})"), "byte 8: a name in quotes is missing");
  EXPECT_EQ(read(R"({"a":1 "b":2})"), "byte 8: a comma or } is missing");
  EXPECT_EQ(read(R"({"a":[1 2]})"), "byte 9: a comma or ] is missing");
  EXPECT_EQ(read(R"({"a":[1,]})"), "byte 9: a value is missing");
  EXPECT_EQ(read(R"({"a":"b)"), "byte 6: the closing quote is missing");
  EXPECT_EQ(read("{\"a\":\"\n\"}"), "byte 7: a control character must be written as an escape");
  EXPECT_EQ(read(R"({"a":"\x"})"), "byte 8: there is no such escape");
  EXPECT_EQ(read(R"({"a":"\u12g4"})"), "byte 11: \\u is followed by four hexadecimal digits");
  EXPECT_EQ(read(R"({"a":"\ud83d"})"), "byte 13: an escape is half of a character");
  EXPECT_EQ(read(R"({"a":"\ude00"})"), "byte 13: an escape is half of a character");
  EXPECT_EQ(read("{\"a\":\"\xff\"}"), "it is not UTF-8");
  for (const std::string_view value : {"01", "+1", ".5", "1.", "1e", "-", "NaN", "tru", "'a'"}) {
    EXPECT_TRUE(read("{\"extra\":" + std::string(value) + "}").starts_with("byte ")) << value;
  }
}

TEST(PlainJson, IsBounded) {
  const auto nested = [](std::size_t levels) {
    return R"({"extra":)" + std::string(levels, '[') + std::string(levels, ']') + "}";
  };
  EXPECT_TRUE(read(nested(32)).starts_with("{\"extra\""));
  EXPECT_EQ(read(nested(33)), "byte 42: it nests more than 32 levels");
  EXPECT_EQ(read(nested(100'000)), "byte 42: it nests more than 32 levels");
}

TEST(PlainJson, BuildsNoMoreValuesThanAnItemCanHold) {
  const auto ones = [](std::size_t count) {
    std::string json = R"({"extra":[1)";
    for (std::size_t i = 1; i < count; ++i) json += ",1";
    return json + "]}";
  };
  EXPECT_TRUE(read(ones(kMostJsonValues - 1)).starts_with("{\"extra\""));
  EXPECT_EQ(read(ones(kMostJsonValues)), "it has more than 100000 values");
  const std::string text(kMostTextBytes + 1, 'x');
  EXPECT_EQ(read("{\"Title\":\"" + text + "\"}"), "{} Title must have at most 409600 bytes");
  EXPECT_EQ(read("{\"Title\":\"" + text.substr(1) + "\"}").size(),
            kMostTextBytes + std::string(R"({"Title":{"S":""}})").size());
}

TEST(PlainJson, SkipsWhatNobodyKnowsAndTellsOfAHundred) {
  std::string json = R"({"price":1)";
  for (int i = 0; i < 200'000; ++i) json += ",\"x" + std::to_string(i) + "\":[[],{}]";
  std::vector<ValueProblem> problems;
  const auto object = read_plain_json(json + "}", book(), problems);
  ASSERT_TRUE(object);
  EXPECT_NE(object->values.find("price"), nullptr);
  const auto told = short_list(problems);
  EXPECT_EQ(told.first.size(), 100U);
  EXPECT_EQ(told.first.front()->attribute, "x0");
  EXPECT_EQ(told.more, 199'900U);
  EXPECT_LE(problems.size(), 101U);
  EXPECT_EQ(read(R"({"a":{"b":[1,{"c":"\u00e9\n"}]},"d":1e9})"),
            "{} a is not an attribute of this; d is not an attribute of this");
  EXPECT_EQ(read(R"({"a":[1,}]})"), "byte 9: a value is missing");
  EXPECT_EQ(read(R"({"a":)" + std::string(100, '[')), "byte 38: it nests more than 32 levels");
  EXPECT_LT(read("{\"" + std::string(100'000, 'n') + "\":1}").size(), 500U);
}

TEST(PlainJson, TellsOfAHundredValuesThatDoNotFit) {
  for (const std::string_view wrong : {"1", "{}", "1e999"}) {
    std::string json = R"({"authors":[)" + std::string(wrong);
    for (int i = 1; i < 50'000; ++i) json += "," + std::string(wrong);
    std::vector<ValueProblem> problems;
    ASSERT_TRUE(read_plain_json(json + "]}", book(), problems));
    EXPECT_LE(problems.size(), 101U) << wrong;
    EXPECT_GE(problem_count(problems), 50'000U) << wrong;
  }
  value::List long_texts(5000, text("xyz"));
  AttributeValue list(std::move(long_texts));
  std::vector<ValueProblem> problems;
  check_value(of(Kind::List, bounded(Kind::String, "", "2")), "tags", list, problems);
  EXPECT_EQ(short_list(problems).first.size(), 100U);
  EXPECT_EQ(short_list(problems).more, 4900U);
}

TEST(PlainJson, ComesInPiecesOfAnySize) {
  const std::string json =
      R"( {"a" : [1, -2.5e10 ,true,false , null,"x\u00e9\ud83d\ude00\"é"], "skipped":{"b":[1,{}]} , "c":{}} )";
  for (std::size_t size = 1; size <= json.size(); ++size) {
    Pieces pieces(json, size);
    std::vector<ValueProblem> problems;
    JsonReader reader(pieces, problems);
    ASSERT_TRUE(reader.open('{'));
    std::string name, read;
    while (true) {
      const auto more = reader.next_member(name);
      ASSERT_TRUE(more) << size;
      if (!*more) break;
      if (name == "skipped") {
        ASSERT_TRUE(reader.skip(2)) << size;
        continue;
      }
      const auto content = reader.value({.name = name}, 2);
      ASSERT_TRUE(content) << size << content.error().message;
      read += name + plain(*content);
    }
    EXPECT_TRUE(reader.end());
    EXPECT_EQ(read, R"(a[1,-25000000000,true,false,null,"xé😀\"é"]c{})") << size;
  }
  for (const std::string_view wrong : {R"({"a":tru})", R"({"a":"x)", R"({"a":01})", R"({"a":[1 2]})", R"({"a":1}x)"}) {
    for (std::size_t size = 1; size <= wrong.size(); ++size) {
      Pieces pieces(wrong, size);
      std::vector<ValueProblem> problems;
      JsonReader reader(pieces, problems);
      std::string name;
      ASSERT_TRUE(reader.open('{') && reader.next_member(name));
      const bool read = reader.value({.name = name}, 2).ok() && reader.next_member(name).ok() && reader.end().ok();
      EXPECT_FALSE(read) << wrong << size;
    }
  }
}

TEST(PlainJson, ReadsBackWhatItWrites) {
  const std::string json =
      R"({"address":{"city":"Bern"},"authors":["a"],"cover":"YWI=","extra":[1,null,{"a":true}],"sizes":[1,2],"tags":["a","b"]})";
  std::vector<ValueProblem> problems;
  const auto object = read_plain_json(json, book(), problems);
  EXPECT_EQ(plain(AttributeValue(object->values)), json);
}

TEST(PlainJson, TakesAnyBytesWithoutHarm) {
  constexpr std::string_view kPieces[] = {"{",        "}",         "[",    "]", ",",    ":",   "\"",   "\"Title\"",
                                          "\"tags\"", "\"extra\"", "1",    "-", ".5",   "e9",  "null", "true",
                                          "\\",       "\\u",       "d83d", " ", "\xc3", "\xa9"};
  Random random(5);
  for (int round = 0; round < 50000; ++round) {
    std::string json = random.below(2) == 0 ? "{" : "{\"extra\":";
    for (auto left = random.below(12); left > 0; --left) json += kPieces[random.below(std::size(kPieces))];
    read(json);
  }
}

}  // namespace
}  // namespace stator::model
