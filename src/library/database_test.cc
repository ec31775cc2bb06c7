#include "stator/database.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace stator {
namespace {

constexpr std::string_view kCreate = R"({"TableName":"Notes","BillingMode":"PAY_PER_REQUEST",
  "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
  "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]})";

TEST(Database, AnswersLikeTheWire) {
  Database database({.in_memory = true});
  ASSERT_TRUE(database.call("CreateTable", kCreate).ok);
  EXPECT_EQ(database.call("PutItem", R"({"TableName":"Notes","Item":{"id":{"S":"a"},"n":{"N":"1.0"}}})").body, "{}");
  EXPECT_EQ(database.call("GetItem", R"({"TableName":"Notes","Key":{"id":{"S":"a"}}})").body,
            R"({"Item":{"id":{"S":"a"},"n":{"N":"1"}}})");
  const auto missing = database.call("GetItem", R"({"TableName":"Nobody","Key":{"id":{"S":"a"}}})");
  EXPECT_FALSE(missing.ok);
  EXPECT_EQ(missing.error_name, "ResourceNotFoundException");
}

TEST(Database, KeepsItsDataWhenItIsOpenedAgain) {
  const auto folder = std::filesystem::temp_directory_path() / "stator-database-test";
  std::filesystem::remove_all(folder);
  {
    Database database({.data_folder = folder});
    ASSERT_TRUE(database.call("CreateTable", kCreate).ok);
    ASSERT_TRUE(database.call("PutItem", R"({"TableName":"Notes","Item":{"id":{"S":"a"}}})").ok);
  }
  {
    Database database({.data_folder = folder});
    EXPECT_EQ(database.call("GetItem", R"({"TableName":"Notes","Key":{"id":{"S":"a"}}})").body,
              R"({"Item":{"id":{"S":"a"}}})");
  }
  std::filesystem::remove_all(folder);
}

// A client chooses both sides of a comparison; without a bound, one request could keep a thread busy for minutes.
TEST(Database, EndsAPageWhoseFilterComparesALot) {
  Database database({.in_memory = true});
  ASSERT_TRUE(database
                  .call("CreateTable", R"({"TableName":"Things","BillingMode":"PAY_PER_REQUEST",
                      "AttributeDefinitions":[{"AttributeName":"p","AttributeType":"N"}],
                      "KeySchema":[{"AttributeName":"p","KeyType":"HASH"}]})")
                  .ok);
  constexpr int kItems = 3000;
  for (int i = 0; i < kItems; ++i) {
    const auto item = R"({"TableName":"Things","Item":{"p":{"N":")" + std::to_string(i) + R"("},"x":{"S":"q"}}})";
    ASSERT_TRUE(database.call("PutItem", item).ok);
  }
  const auto scan = [&](const std::string& constant) {
    return database
        .call("Scan", R"json({"TableName":"Things","Select":"COUNT","FilterExpression":"contains(:l, x)",
                      "ExpressionAttributeValues":{":l":{"S":")json" +
                          constant + R"json("}}})json")
        .body;
  };
  EXPECT_EQ(scan("zq"), R"({"Count":3000,"ScannedCount":3000})");
  const auto page = scan(std::string(390'000, 'z'));
  EXPECT_NE(page.find("LastEvaluatedKey"), std::string::npos) << page;
}

}  // namespace
}  // namespace stator
