#include "stator/database.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <string>

namespace stator {
namespace {

using value::AttributeValue;
using value::Item;

// Songs by artist and title.
api::CreateTableRequest music_table() {
  return {.table = "Music",
          .definitions = {{.name = "Artist"}, {.name = "Song"}},
          .keys = {{.name = "Artist"}, {.name = "Song", .role = api::KeyRole::Range}},
          .billing_mode = api::BillingMode::PayPerRequest};
}

Item song(std::string_view artist, std::string_view title) {
  return {{"Artist", AttributeValue::string(artist)}, {"Song", AttributeValue::string(title)}};
}

TEST(Database, AnswersEachRequestWithItsOwnType) {
  Database database({.in_memory = true});
  const api::ChangedTableAnswer created = database.ask(music_table()).value();
  EXPECT_EQ(created.table.name, "Music");

  auto spoon = song("Can", "Spoon");
  spoon.set("Year", AttributeValue::number(1972));
  ASSERT_TRUE(database.ask(api::PutItemRequest{.table = "Music", .item = spoon}));

  api::GetItemAnswer got = database.ask(api::GetItemRequest{.table = "Music", .key = song("Can", "Spoon")}).value();
  EXPECT_EQ(std::move(*got.item).take().value(), spoon);
  EXPECT_FALSE(database.ask(api::GetItemRequest{.table = "Music", .key = song("Can", "Mushroom")})->item);
}

TEST(Database, AnswersAMistakeWithAFault) {
  Database database({.in_memory = true});
  const auto missing = database.ask(api::GetItemRequest{.table = "Nobody", .key = song("Can", "Spoon")});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().name(), "ResourceNotFoundException");
  EXPECT_EQ(missing.error().message, "Requested resource not found");
}

TEST(Database, TakesExpressionsThatAreMadeInCpp) {
  Database database({.in_memory = true});
  ASSERT_TRUE(database.ask(music_table()));
  const auto played = [&] {
    return database.ask(api::UpdateItemRequest{
        .table = "Music",
        .key = song("Can", "Spoon"),
        .update = expr::UpdateBuilder().add("Plays", AttributeValue::number(1)).finish(),
        .condition = expr::to_condition(
            expr::any_of({expr::absent("Plays"), expr::compare("Plays", expr::Op::Less, AttributeValue::number(2))})),
        .return_values = api::ReturnValues::UpdatedNew});
  };
  EXPECT_EQ(std::move(*played()->attributes).take()->integer("Plays"), 1);
  EXPECT_EQ(std::move(*played()->attributes).take()->integer("Plays"), 2);
  EXPECT_EQ(played().error().name(), "ConditionalCheckFailedException");
}

TEST(Database, TakesExpressionsThatAreText) {
  Database database({.in_memory = true});
  ASSERT_TRUE(database.ask(music_table()));
  const auto absent = expr::bind_condition("attribute_not_exists(Song)").value();
  const api::PutItemRequest put{.table = "Music", .item = song("Can", "Spoon"), .condition = absent};
  EXPECT_TRUE(database.ask(put));
  EXPECT_EQ(database.ask(put).error().name(), "ConditionalCheckFailedException");
}

TEST(Database, QueriesByAKeyCondition) {
  Database database({.in_memory = true});
  ASSERT_TRUE(database.ask(music_table()));
  for (const auto* title : {"Spoon", "Vitamin C", "Sing Swan Song"}) {
    ASSERT_TRUE(database.ask(api::PutItemRequest{.table = "Music", .item = song("Can", title)}));
  }
  const auto made = expr::KeyCondition{{expr::key_equals("Artist", AttributeValue::string("Can")),
                                        expr::key_begins_with("Song", AttributeValue::string("S"))}};
  const auto bound = expr::bind_key_condition(
      "Artist = :can AND begins_with(Song, :s)",
      {.values = {{":can", AttributeValue::string("Can")}, {":s", AttributeValue::string("S")}}});
  for (const auto& condition : {made, *bound}) {
    auto page = database.ask(api::QueryRequest{.page = {.table = "Music"}, .condition = condition}).value();
    EXPECT_EQ(std::move(page.items).take().value(), (std::vector{song("Can", "Sing Swan Song"), song("Can", "Spoon")}));
  }
}

TEST(Database, TellsWhichWriteOfATransactionWasRefused) {
  Database database({.in_memory = true});
  ASSERT_TRUE(database.ask(music_table()));
  const auto refused =
      database.ask(api::TransactWriteItemsRequest{.items = {{.table = "Music", .item = song("Can", "Spoon")},
                                                            {.kind = api::TransactWriteItem::Kind::Check,
                                                             .table = "Music",
                                                             .item = song("Can", "Mushroom"),
                                                             .condition = expr::to_condition(expr::exists("Song"))}}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().name(), "TransactionCanceledException");
  ASSERT_EQ(refused.error().reasons->size(), 2U);
  EXPECT_EQ(refused.error().reasons->at(0).code, "None");
  EXPECT_EQ(refused.error().reasons->at(1).code, "ConditionalCheckFailed");
}

TEST(Database, ReadsByTypesWhatWasWrittenAsJson) {
  Database database({.in_memory = true});
  ASSERT_TRUE(database.ask(music_table()));
  ASSERT_TRUE(
      database.call("PutItem", R"({"TableName":"Music","Item":{"Artist":{"S":"Can"},"Song":{"S":"Spoon"}}})").ok);
  auto got = database.ask(api::GetItemRequest{.table = "Music", .key = song("Can", "Spoon")}).value();
  EXPECT_EQ(std::move(*got.item).take().value(), song("Can", "Spoon"));
}

TEST(Database, AnswersByACallbackWhereNobodyWaits) {
  Database database({.in_memory = true});
  std::promise<std::string> told;
  database.ask(api::DescribeTableRequest{.table = "Music"},
               [&](const Result<api::DescribeTableAnswer, api::Fault>& answer) {
                 told.set_value(std::string(answer.error().name()));
               });
  EXPECT_EQ(told.get_future().get(), "ResourceNotFoundException");
}

class DatabaseOnRocksDb : public ::testing::Test {
 protected:
  DatabaseOnRocksDb() { std::filesystem::remove_all(folder_); }
  ~DatabaseOnRocksDb() override { std::filesystem::remove_all(folder_); }

  const std::string folder_ = std::filesystem::temp_directory_path() / "stator-database-rocksdb-test";
};

TEST_F(DatabaseOnRocksDb, LetsACallbackAskAgain) {
  Database database({.data_folder = folder_});
  std::promise<bool> stored;
  database.ask(music_table(), [&](const auto& created) {
    ASSERT_TRUE(created);
    database.ask(api::PutItemRequest{.table = "Music", .item = song("Can", "Spoon")},
                 [&](const auto& put) { stored.set_value(put.ok()); });
  });
  EXPECT_TRUE(stored.get_future().get());
}

TEST_F(DatabaseOnRocksDb, WaitsForAllAnswersBeforeItIsClosed) {
  std::atomic<int> stored = 0;
  {
    Database database({.data_folder = folder_});
    ASSERT_TRUE(database.ask(music_table()));
    for (int i = 0; i < 100; ++i) {
      database.ask(api::PutItemRequest{.table = "Music", .item = song("Can", std::to_string(i))},
                   [&](const auto& put) { stored += put ? 1 : 0; });
    }
  }
  EXPECT_EQ(stored, 100);
}

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
