#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "stator/base/random.h"
#include "stator/client/call.h"
#include "stator/client/test_call.h"
#include "stator/expr/binder.h"
#include "stator/library/instance.h"
#include "stator/value/json.h"
#include "stator/value/test_random_value.h"

// A write is carried out, or refused, in the same way and the same words however it comes: as a type in this process,
// as a type over JSON, or as JSON that somebody else wrote.
namespace stator::client {
namespace {

using api::TransactWriteItem;
using Kind = TransactWriteItem::Kind;
using value::AttributeValue;
using value::Item;

AttributeValue text(std::string_view content) { return AttributeValue::string(content); }
AttributeValue number(std::int64_t content) { return AttributeValue::number(content); }

// A write as somebody types it.
struct Write {
  Kind kind = Kind::Put;
  std::string table = {};
  Item item = {};  // Put: the whole item; otherwise its key
  std::string update = {}, condition = {};
  Item names = {}, values = {};
};

// With its expressions bound.  Errors: Validation.
Result<TransactWriteItem> bound(const Write& write) {
  expr::Cache cache;
  TransactWriteItem item{.kind = write.kind, .table = write.table, .item = write.item};
  std::optional<expr::Names> names;
  for (const auto& [placeholder, name] : write.names) {
    if (!names) names.emplace();
    names->emplace(placeholder, *name.as_string());
  }
  std::optional<expr::Values> values;
  for (const auto& [placeholder, content] : write.values) {
    if (!values) values.emplace();
    values->emplace(placeholder, content);
  }
  expr::Binder binder(std::move(names), std::move(values), cache);
  TRY(binder.check_placeholders());
  if (!write.update.empty()) item.update = TRY(binder.update(write.update));
  if (!write.condition.empty()) item.condition = TRY(binder.condition(expr::Kind::Condition, write.condition));
  TRY(binder.check_all_used());
  item.return_item_on_failure = item.condition.has_value();
  return item;
}

// As a request of its own.
api::AnyRequest alone(TransactWriteItem item) {
  switch (item.kind) {
    case Kind::Update:
      return api::UpdateItemRequest{.table = item.table,
                                    .key = item.item,
                                    .update = item.update,
                                    .condition = item.condition,
                                    .return_item_on_failure = item.return_item_on_failure};
    case Kind::Delete:
      return api::DeleteItemRequest{.table = item.table,
                                    .key = item.item,
                                    .condition = item.condition,
                                    .return_item_on_failure = item.return_item_on_failure};
    default:
      return api::PutItemRequest{.table = item.table,
                                 .item = item.item,
                                 .condition = item.condition,
                                 .return_item_on_failure = item.return_item_on_failure};
  }
}

void write_json(value::JsonWriter& json, const Write& write) {
  json.begin_object().key("TableName").string(write.table);
  json.key(write.kind == Kind::Put ? "Item" : "Key").item(write.item);
  if (!write.update.empty()) json.key("UpdateExpression").string(write.update);
  if (!write.condition.empty()) {
    json.key("ConditionExpression").string(write.condition);
    json.key("ReturnValuesOnConditionCheckFailure").string("ALL_OLD");
  }
  if (!write.names.empty()) {
    json.key("ExpressionAttributeNames").begin_object();
    for (const auto& [placeholder, name] : write.names) json.key(placeholder).string(*name.as_string());
    json.end_object();
  }
  if (!write.values.empty()) json.key("ExpressionAttributeValues").item(write.values);
  json.end_object();
}

std::string json_of(const Write& write) {
  std::string body;
  value::JsonWriter json(body);
  write_json(json, write);
  return body;
}

std::string json_of(const std::vector<Write>& writes) {
  constexpr std::array<std::string_view, 4> kMembers = {"Put", "Update", "Delete", "ConditionCheck"};
  std::string body;
  value::JsonWriter json(body);
  json.begin_object().key("TransactItems").begin_array();
  for (const auto& write : writes) {
    json.begin_object().key(kMembers[static_cast<std::size_t>(write.kind)]);
    write_json(json, write);
    json.end_object();
  }
  json.end_array().end_object();
  return body;
}

// Knows no way but JSON.
class JsonClient final : public Client {
 public:
  explicit JsonClient(Client& next) : next_(next) {}
  void call(std::string_view operation, std::string_view json, api::ReplyCallback reply) override {
    next_.call(operation, json, std::move(reply));
  }

 private:
  Client& next_;
};

std::string told(const api::Fault& fault) {
  const auto body = fault.body();
  const auto members = std::min(body.find(",\"Item\""), body.find(",\"CancellationReasons\""));
  return fmt::format("{}: {} {}", fault.name(), fault.message,
                     members == std::string::npos ? "" : body.substr(members, body.size() - 1 - members));
}
std::string told(const api::Reply& reply) { return reply.ok() ? *reply.outcome : told(reply.outcome.error()); }
std::string told(const Result<api::AnyAnswer, api::Fault>& answer) { return answer ? "{}" : told(answer.error()); }

// Three databases with the same table, each written to in its own way.
class WriteTest : public ::testing::Test {
 protected:
  struct Side {
    std::unique_ptr<library::Instance> instance =
        library::Instance::open({.data_folder = {}, .in_memory = true, .relaxed_durability = false}).value();
    InProcessClient client{instance->operations()};
    Side() {
      EXPECT_TRUE(call_and_wait(client, "CreateTable",
                                R"({"TableName":"Table","BillingMode":"PAY_PER_REQUEST",
                                    "KeySchema":[{"AttributeName":"p","KeyType":"HASH"}],
                                    "AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"},
                                                            {"AttributeName":"g","AttributeType":"S"}],
                                    "GlobalSecondaryIndexes":[{"IndexName":"ByG","Projection":{"ProjectionType":"ALL"},
                                      "KeySchema":[{"AttributeName":"g","KeyType":"HASH"}]}]})")
                      .ok());
    }
    std::string rows() { return told(call_and_wait(client, "Scan", R"({"TableName":"Table"})")); }
  };

  static Write put(Item item) {
    Write write;
    write.table = "Table";
    write.item = std::move(item);
    return write;
  }
  static Write of(Kind kind, std::string_view id) {
    Write write;
    write.kind = kind;
    write.table = "Table";
    write.item = {{"p", text(id)}};
    return write;
  }
  static Write update(std::string_view id, std::string expression) {
    auto write = of(Kind::Update, id);
    write.update = std::move(expression);
    return write;
  }

  static std::string run(Client& client, const Result<TransactWriteItem>& item) {
    return item ? told(run_and_wait(client, alone(*item))) : told(api::to_fault(item.error()));
  }
  static std::string run(Client& client, const std::vector<Write>& writes) {
    api::TransactWriteItemsRequest request;
    for (const auto& write : writes) {
      auto item = bound(write);
      if (!item) return told(api::to_fault(item.error()));
      request.items.push_back(std::move(*item));
    }
    return told(run_and_wait(client, std::move(request)));
  }
  static std::string_view operation_of(const Write& write) {
    return write.kind == Kind::Put ? "PutItem" : write.kind == Kind::Update ? "UpdateItem" : "DeleteItem";
  }

  // The answer of all clients, after checking that all gave the same answer and hold the same rows.
  std::string all(const Write& write) {
    const auto first = run(typed.client, bound(write));
    EXPECT_EQ(run(over_json, bound(write)), first);
    EXPECT_EQ(told(call_and_wait(raw.client, operation_of(write), json_of(write))), first);
    expect_equal_rows();
    return first;
  }
  std::string all(const std::vector<Write>& writes) {
    const auto first = run(typed.client, writes);
    EXPECT_EQ(run(over_json, writes), first);
    EXPECT_EQ(told(call_and_wait(raw.client, "TransactWriteItems", json_of(writes))), first);
    expect_equal_rows();
    return first;
  }
  void expect_equal_rows() {
    EXPECT_EQ(other.rows(), typed.rows());
    EXPECT_EQ(raw.rows(), typed.rows());
  }
  // Alone, and as the second of a transaction.
  void alone_and_together(const Write& write) {
    all(write);
    all({put({{"p", text("beside")}}), write});
  }

  Side typed, other, raw;
  JsonClient over_json{other.client};
};

TEST_F(WriteTest, EveryKindIsCarriedOut) {
  EXPECT_EQ(all(put({{"p", text("a")}, {"n", number(1)}})), "{}");
  EXPECT_EQ(all(update("a", "ADD n :one")),
            "ValidationException: Invalid UpdateExpression: An expression attribute value "
            "used in expression is not defined; attribute value: :one ");
  auto add = update("a", "ADD #n :one");
  add.names = {{"#n", text("n")}};
  add.values = {{":one", number(1)}};
  EXPECT_EQ(all(add), "{}");
  EXPECT_EQ(all(of(Kind::Delete, "a")), "{}");
  EXPECT_EQ(all(of(Kind::Update, "made by an update without an expression")), "{}");

  auto check = of(Kind::Check, "absent");
  check.condition = "attribute_not_exists(p)";
  EXPECT_EQ(all({put({{"p", text("b")}, {"g", text("x")}}), add, check, of(Kind::Delete, "c")}), "{}");
}

TEST_F(WriteTest, AConditionThatFailsTellsTheItem) {
  all(put({{"p", text("a")}, {"n", number(1)}}));
  auto again = put({{"p", text("a")}});
  again.condition = "attribute_not_exists(#p)";
  again.names = {{"#p", text("p")}};
  EXPECT_EQ(all(again),
            R"(ConditionalCheckFailedException: The conditional request failed ,"Item":{"n":{"N":"1"},"p":{"S":"a"}})");
  EXPECT_NE(all({put({{"p", text("b")}}), again}).find(R"("Code":"ConditionalCheckFailed")"), std::string::npos);
  auto absent = of(Kind::Delete, "absent");
  absent.condition = "attribute_exists(p)";
  alone_and_together(absent);
}

TEST_F(WriteTest, WhatIsWrongIsToldInTheSameWords) {
  using value::List;
  AttributeValue deep = text("core");
  for (int i = 0; i < 32; ++i) deep = AttributeValue(List{std::move(deep)});
  const auto with = [](std::string_view name, AttributeValue content) {
    return Item{{"p", text("a")}, {std::string(name), std::move(content)}};
  };
  for (const auto& item : {
           Item{},
           Item{{"q", text("no key")}},
           Item{{"p", number(1)}},
           Item{{"p", text("")}},
           Item{{"p", text(std::string(2049, 'k'))}},
           with("g", number(7)),
           with("g", text("")),
           with("s", AttributeValue(value::StringSet{})),
           with("s", AttributeValue(value::NumberSet{})),
           with("s", AttributeValue(value::BinarySet{})),
           with("s", AttributeValue(value::StringSet{{"twice", "twice"}})),
           with("d", deep),
           with("large", text(std::string(400 * 1024, 'x'))),
           with("t", text("\xff")),
           with("\xff", text("t")),
       }) {
    alone_and_together(put(item));
    auto key = of(Kind::Delete, "a");
    key.item = item;
    alone_and_together(key);
  }
  for (const auto* table : {"Other", "x", "", "no table!", "arn:aws:dynamodb:us-east-1:000000000000:table/Table"}) {
    auto elsewhere = put({{"p", text("a")}});
    elsewhere.table = table;
    // The shape of a request refuses a bad name with a text of its own.
    if (const std::string_view name = table; name.size() < 3 || name.find(' ') != std::string_view::npos) {
      EXPECT_TRUE(told(run_and_wait(typed.client, alone(*bound(elsewhere)))).starts_with("ValidationException"))
          << table;
    } else {
      alone_and_together(elsewhere);
    }
  }
}

TEST_F(WriteTest, ExpressionsAreHeldToTheSameRules) {
  struct Case {
    Kind kind;
    std::string update, condition;
    Item names, values;
  };
  const auto n = std::string(4097, 'n');
  for (const auto& [kind, expression, condition, names, content] : {
           Case{Kind::Put, "", "attribute_exists(", {}, {}},
           Case{Kind::Put, "", "#p = :v", {{"#p", text("p")}}, {}},
           Case{Kind::Put, "", "p = :v", {{"#p", text("p")}}, {{":v", text("a")}}},
           Case{Kind::Put, "", "p = :v", {}, {{":v", text("a")}, {":w", text("b")}}},
           Case{Kind::Put, "", "#p = p", {{"p", text("p")}}, {}},
           Case{Kind::Put, "", "#p = p", {{"#p", text("")}}, {}},
           Case{Kind::Put, "", "p = :v", {}, {{"v", text("a")}}},
           Case{Kind::Put, "", "p[1] = :v", {}, {{":v", text("a")}}},
           Case{Kind::Put, "", n, {}, {}},
           Case{Kind::Update, "SET p = :v", "", {}, {{":v", text("a")}}},
           Case{Kind::Update, "SET g = :v", "", {}, {{":v", number(1)}}},
           Case{Kind::Update, "SET #g = :v", "", {{"#g", text("\xff")}}, {{":v", number(1)}}},
           Case{Kind::Update, "SET g = :v, g = :v", "", {}, {{":v", text("a")}}},
           Case{Kind::Update, "ADD x :v", "x = :v", {}, {{":v", text("a")}}},
           Case{Kind::Update, "DELETE x :v", "", {}, {{":v", number(1)}}},
           Case{Kind::Update, "SET", "", {}, {}},
       }) {
    Write write = kind == Kind::Put ? put({{"p", text("a")}}) : of(kind, "a");
    write.update = expression;
    write.condition = condition;
    write.names = names;
    write.values = content;
    alone_and_together(write);
  }
  for (const auto& bad : {AttributeValue(value::StringSet{}), text("\xff")}) {
    auto write = update("a", "SET x = :0");
    write.values = {{":0", bad}};
    alone_and_together(write);
  }
}

TEST_F(WriteTest, ATransactionHasItsBounds) {
  const auto many = [](int count) {
    std::vector<Write> writes;
    for (int i = 0; i < count; ++i) writes.push_back(put({{"p", text(std::to_string(i))}}));
    return writes;
  };
  EXPECT_EQ(all(many(100)), "{}");
  EXPECT_TRUE(run(typed.client, many(101)).starts_with("ValidationException"));
  EXPECT_TRUE(run(typed.client, std::vector<Write>()).starts_with("ValidationException"));
  EXPECT_TRUE(all({put({{"p", text("a")}}), of(Kind::Delete, "a")}).starts_with("ValidationException"));
  std::vector<Write> heavy = many(11);
  for (auto& write : heavy) write.item.set("x", text(std::string(390 * 1024, 'x')));
  EXPECT_TRUE(all(heavy).starts_with("ValidationException: Aggregate item size"));
  all(std::vector{of(Kind::Check, "a")});
  all({put({{"p", text("a")}}), of(Kind::Update, "b")});
}

TEST_F(WriteTest, RandomItemsComeOutAlike) {
  Random random(7);
  int written = 0;
  for (int i = 0; i < 300; ++i) {
    auto item = value::random_map(random, 3);
    item.set("p", text(std::to_string(i % 40)));
    auto write = put(item);
    if (i % 3 == 0) {
      write = update(std::to_string(i % 40), "SET #r = :r");
      write.names = {{"#r", text("r" + value::random_text(random))}};
      write.values = {{":r", value::random_value(random, 3)}};
    }
    if (all(write) == "{}") ++written;
  }
  EXPECT_GT(written, 200);  // some have an attribute without a name
}

}  // namespace
}  // namespace stator::client
