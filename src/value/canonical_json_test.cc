#include "stator/value/canonical_json.h"

#include <gtest/gtest.h>

#include "stator/value/json.h"
#include "stator/value/test_random_value.h"

namespace stator::value {
namespace {

std::string printed(const AttributeMap& item) {
  std::string text;
  append_json(text, item);
  return text;
}

TEST(CanonicalJson, IsReadAsItWasPrinted) {
  int read = 0;
  for (std::uint64_t seed = 1; seed <= 3'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const auto item = random_map(random, 4);
    const auto found = read_canonical_json(printed(item));
    if (!found) continue;  // it has a rare escape
    ++read;
    ASSERT_TRUE(*found == item);
  }
  EXPECT_GT(read, 500);
}

TEST(CanonicalJson, HasAllTypesAndTheUsualEscapes) {
  const std::string text =
      R"({"a\"\\":{"S":"\b\f\n\r\t é"},"b":{"N":"-1.5"},"c":{"B":"AAE="},"d":{"SS":["x","y"]},"e":{"NS":["1","2"]},)"
      R"("f":{"BS":["AA=="]},"g":{"M":{"h":{"L":[{"NULL":true},{"BOOL":false}]},"i":{"M":{}}}},"j":{"L":[]},)"
      R"("k":{"BOOL":true},"l":{"S":""}})";
  const auto found = read_canonical_json(text);
  ASSERT_TRUE(found);
  EXPECT_TRUE(*found == parse_item(text).value());
  EXPECT_EQ(printed(*found), text);
}

TEST(CanonicalJson, LeavesEveryOtherTextToTheParserOfJson) {
  AttributeValue deep = AttributeValue::string("core");
  for (int i = 0; i < 60; ++i) deep = AttributeValue(List{std::move(deep)});
  for (const auto& text : {std::string(R"({ "a":{"S":"x"}})"),
                           std::string(R"({"a":{"S":"x"}} )"),
                           std::string(R"({"a":{"S":"\u00e9"}})"),
                           std::string(R"({"a":{"S":"x","N":"1"}})"),
                           std::string(R"({"a":{}})"),
                           std::string(R"({"a":{"Q":"x"}})"),
                           std::string(R"({"a":{"N":"x"}})"),
                           std::string(R"({"a":{"N":1}})"),
                           std::string(R"({"a":{"NULL":false}})"),
                           std::string(R"({"a":{"SS":[]}})"),
                           std::string(R"({"a":{"SS":["x","x"]}})"),
                           std::string(R"({"a":{"B":"A"}})"),
                           std::string(R"({"a":{"S":"x"},})"),
                           std::string("{\"a\":{\"S\":\"\xff\"}}"),
                           std::string("{\"a\":{\"S\":\"\n\"}}"),
                           std::string(),
                           std::string("{"),
                           std::string(R"({"a)"),
                           std::string(R"({"a":{"S":"x\)"),
                           printed(AttributeMap{{"a", std::move(deep)}})}) {
    EXPECT_FALSE(read_canonical_json(text)) << text;
  }
}

// Of damaged text, what is read must be what the parser of JSON reads.
TEST(CanonicalJson, ReadsNothingThatTheParserOfJsonReadsInAnotherWay) {
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    auto text = printed(random_map(random, 3));
    static constexpr std::string_view kLikely = "{}[]\",:SNBML\\tu0 ";
    for (auto hits = 1 + random.below(3); hits > 0; --hits) {
      const auto at = static_cast<std::size_t>(random.below(text.size()));
      const char c =
          random.below(4) == 0 ? static_cast<char>(random.below(256)) : kLikely[random.below(kLikely.size())];
      switch (random.below(3)) {
        case 0: text[at] = c; break;
        case 1: text.insert(at, 1, c); break;
        default: text.erase(at, 1); break;
      }
      if (text.empty()) text = "{";
    }
    const auto found = read_canonical_json(text);
    if (!found) continue;
    const auto parsed = parse_item(text);
    ASSERT_TRUE(parsed.ok()) << text;
    ASSERT_TRUE(*found == *parsed) << text;
  }
}

}  // namespace
}  // namespace stator::value
