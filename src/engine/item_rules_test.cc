#include "stator/engine/item_rules.h"

#include <gtest/gtest.h>

#include "stator/engine/test_support.h"

namespace stator::engine {
namespace {

using namespace testing;
using value::AttributeValue;
using value::Item;

Table music() {
  Table t = table("T", keys({"pk:S"}, {"sk:N"}));
  add_index(t, "gsi", IndexKind::Global, keys({"g:S"}, {"h:B"}));
  add_index(t, "lsi", IndexKind::Local, keys({"pk:S"}, {"l:S"}));
  return t;
}

const Item kGood{{"pk", S("a")}, {"sk", N(1)},  {"g", S("b")},
                 {"h", B("c")},  {"l", S("d")}, {"other", AttributeValue::boolean(true)}};

Item with(std::string_view name, AttributeValue value) {
  Item item = kGood;
  item.set(name, std::move(value));
  return item;
}
Item without(std::string_view name) {
  Item item = kGood;
  item.erase(name);
  return item;
}

void expect_refused(const Result<void>& result, std::string_view message) {
  ASSERT_FALSE(result) << "not refused: " << message;
  EXPECT_EQ(result.error().code, ErrorCode::Validation);
  EXPECT_EQ(result.error().message, message);
}

TEST(CheckItem, TakesWhatFits) {
  EXPECT_TRUE(check_item(music(), kGood));
  EXPECT_TRUE(check_item(music(), Item{{"pk", S("a")}, {"sk", N(1)}})) << "index keys may be missing";
}

TEST(CheckItem, NamesWhatIsWrongWithTheTablesKey) {
  expect_refused(check_item(music(), without("sk")),
                 "One or more parameter values were invalid: Missing the key sk in the item");
  expect_refused(check_item(music(), with("sk", S("1"))),
                 "One or more parameter values were invalid: Type mismatch for key sk expected: N actual: S");
  expect_refused(check_item(music(), with("pk", S(""))),
                 "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
                 "empty string value. Key: pk");
}

TEST(CheckItem, NamesWhatIsWrongWithAnIndexKey) {
  expect_refused(
      check_item(music(), with("g", N(1))),
      "One or more parameter values were invalid: Type mismatch for Index Key g Expected: S Actual: N IndexName: "
      "gsi");
  expect_refused(
      check_item(music(), with("h", B(""))),
      "One or more parameter values are not valid. A value specified for a secondary index key is not "
      "supported. The AttributeValue for a key attribute cannot contain an empty binary value. IndexName: gsi, "
      "IndexKey: h");
}

TEST(CheckItem, HoldsKeysToTheirSizes) {
  EXPECT_TRUE(check_item(music(), with("pk", S(std::string(2048, 'x')))));
  EXPECT_TRUE(check_item(music(), with("l", S(std::string(1024, 'x')))));
  constexpr std::string_view kPartition =
      "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes";
  constexpr std::string_view kSort =
      "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of "
      "1024 "
      "bytes";
  expect_refused(check_item(music(), with("pk", S(std::string(2049, 'x')))), kPartition);
  expect_refused(check_item(music(), with("g", S(std::string(2049, 'x')))), kPartition);
  expect_refused(check_item(music(), with("h", B(std::string(1025, 'x')))), kSort);
  expect_refused(check_item(music(), with("l", S(std::string(1025, 'x')))), kSort);
  expect_refused(check_item(music(), with("l", S(std::string(512, 'x') + "é" + std::string(511, 'x')))),
                 kSort);  // in bytes
}

TEST(CheckKey, TakesTheKeyAndNothingElse) {
  EXPECT_TRUE(check_key(music(), Item{{"pk", S("a")}, {"sk", N(1)}}));
  constexpr std::string_view kMismatch = "The provided key element does not match the schema";
  expect_refused(check_key(music(), Item{{"pk", S("a")}}), kMismatch);
  expect_refused(check_key(music(), kGood), kMismatch);
  expect_refused(check_key(music(), Item{{"pk", S("a")}, {"g", S("b")}}), kMismatch);
  expect_refused(check_key(music(), Item{{"pk", S("a")}, {"sk", S("1")}}), kMismatch);
  expect_refused(check_key(music(), Item{{"pk", S("")}, {"sk", N(1)}}),
                 "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
                 "empty string value. Key: pk");
  expect_refused(
      check_key(music(), Item{{"pk", S(std::string(2049, 'x'))}, {"sk", N(1)}}),
      "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 "
      "bytes");
}

TEST(CheckUpdatedItem, LooksAtIndexKeysThatChanged) {
  EXPECT_TRUE(check_updated_item(music(), without("g"), kGood));
  EXPECT_TRUE(check_updated_item(music(), kGood, without("g")));
  expect_refused(check_updated_item(music(), kGood, with("g", N(1))),
                 "One or more parameter values were invalid: Type mismatch for Index Key g Expected: S Actual: N "
                 "IndexName: gsi");
  expect_refused(
      check_updated_item(music(), kGood, with("l", S(""))),
      "One or more parameter values are not valid. The update expression attempted to update a secondary index "
      "key to a value that is not supported. The AttributeValue for a key attribute cannot contain an empty "
      "string value.");
  EXPECT_FALSE(check_updated_item(music(), kGood, with("g", S(std::string(2049, 'x')))));
  EXPECT_TRUE(check_updated_item(music(), with("g", N(1)), with("g", N(1))))
      << "what was there before the index may stay";
}

}  // namespace
}  // namespace stator::engine
