#include "stator/console/request_partitions.h"

#include <gtest/gtest.h>

namespace stator::console {
namespace {

std::optional<std::string> key_of(std::string_view table, std::string_view index) {
  if (table != "Books") return std::nullopt;
  if (index.empty()) return "PK";
  return index == "byAuthor" ? std::optional<std::string>("author") : std::nullopt;
}

// "Books/ann Books/bob"
std::string found_in(std::string_view body) {
  std::string text;
  for (const auto& [table, key] : partitions_of(body, key_of)) {
    if (!text.empty()) text += ' ';
    text += table;
    text += '/';
    text += key;
  }
  return text;
}

TEST(RequestPartitions, AreInKeysAndItems) {
  EXPECT_EQ(found_in(R"({"TableName":"Books","Key":{"PK":{"S":"ann"},"SK":{"S":"x"}}})"), "Books/ann");
  EXPECT_EQ(found_in(R"({"TableName":"Books","Item":{"SK":{"S":"x"},"PK":{"N":"7"}}})"), "Books/7");
  EXPECT_EQ(found_in(R"({"TableName":"arn:aws:dynamodb:x:0:table/Books","Key":{"PK":{"B":"YQ=="}}})"), "Books/YQ==");
  EXPECT_EQ(found_in(R"({"TableName":"Films","Key":{"PK":{"S":"ann"}}})"), "") << "there is no such table";
  EXPECT_EQ(found_in(R"({"TableName":"Books"})"), "") << "a scan";
}

TEST(RequestPartitions, AreInKeyConditions) {
  EXPECT_EQ(found_in(R"json({"TableName":"Books","KeyConditionExpression":"PK = :p AND begins_with(SK, :s)",)json"
                     R"("ExpressionAttributeValues":{":p":{"S":"ann"},":s":{"S":"b"}}})"),
            "Books/ann");
  EXPECT_EQ(found_in(R"json({"TableName":"Books","KeyConditionExpression":"(#k>:s)and(:p=#p)",)json"
                     R"("ExpressionAttributeNames":{"#p":"PK","#k":"SK"},)"
                     R"("ExpressionAttributeValues":{":p":{"S":"ann"},":s":{"S":"b"}}})"),
            "Books/ann");
  EXPECT_EQ(found_in(R"({"TableName":"Books","IndexName":"byAuthor","KeyConditionExpression":"author = :a",)"
                     R"("ExpressionAttributeValues":{":a":{"S":"Herbert"}}})"),
            "Books/Herbert");
  EXPECT_EQ(found_in(R"({"TableName":"Books","KeyConditionExpression":"= = =","ExpressionAttributeValues":7})"), "");
}

TEST(RequestPartitions, OfBatchesAndTransactionsAreThereOnce) {
  EXPECT_EQ(found_in(R"({"RequestItems":{"Books":{"Keys":[{"PK":{"S":"a"}},{"PK":{"S":"b"}},{"PK":{"S":"a"}}]}}})"),
            "Books/a Books/b");
  EXPECT_EQ(found_in(R"({"RequestItems":{"Books":[{"PutRequest":{"Item":{"PK":{"S":"a"}}}},)"
                     R"({"DeleteRequest":{"Key":{"PK":{"S":"b"}}}}]}})"),
            "Books/a Books/b");
  EXPECT_EQ(found_in(R"({"TransactItems":[{"Put":{"TableName":"Books","Item":{"PK":{"S":"a"}}}},)"
                     R"({"ConditionCheck":{"TableName":"Books","Key":{"PK":{"S":"b"}}}}]})"),
            "Books/a Books/b");
}

TEST(RequestPartitions, OfWhatCannotBeReadAreNone) {
  for (const auto* body : {"", "{", "[]", "7", R"({"TableName":7,"Key":[]})", R"({"TransactItems":{"Put":1}})"}) {
    EXPECT_EQ(found_in(body), "") << body;
  }
  const auto large = R"({"TableName":"Books","Key":{"PK":{"S":")" + std::string(kMostPartitionBytes, 'x') + R"("}}})";
  EXPECT_EQ(found_in(large), "");
}

}  // namespace
}  // namespace stator::console
