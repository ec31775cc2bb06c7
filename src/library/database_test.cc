#include "stator/database.h"

#include <gtest/gtest.h>

#include <filesystem>

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

}  // namespace
}  // namespace stator
