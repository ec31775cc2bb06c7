#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stator/base/random.h"
#include "stator/client/call.h"
#include "stator/library/instance.h"
#include "stator/value/json.h"
#include "stator/value/random_value.h"

// A write is carried out, or refused, in the same way and the same words whether it comes as values or as JSON.
namespace stator::client {
namespace {

using api::Write;
using value::AttributeValue;
using value::Item;

AttributeValue text(std::string_view content) { return AttributeValue::string(content); }
AttributeValue number(std::int64_t content) { return AttributeValue::number(content); }

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

std::string told(const api::Reply& reply) {
  if (const auto* fault = std::get_if<api::Fault>(&reply.outcome)) {
    return fmt::format("{}: {} {}", fault->name(), fault->message, fault->members);
  }
  return std::get<std::string>(reply.outcome);
}

// Two databases with the same table: one is written to by values, the other by JSON.
class WriteTest : public ::testing::Test {
 protected:
  struct Side {
    std::unique_ptr<library::Instance> instance =
        library::Instance::open({.data_folder = {}, .in_memory = true, .relaxed_durability = false}).value();
    InProcessClient client{instance->service()};
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
  static Write of(Write::Kind kind, std::string_view id) {
    Write write;
    write.kind = kind;
    write.table = "Table";
    write.item = {{"p", text(id)}};
    return write;
  }
  static Write update(std::string_view id, std::string expression) {
    auto write = of(Write::Kind::Update, id);
    write.update = std::move(expression);
    return write;
  }

  // What both said, after both have been found to say the same and to hold the same.
  std::string both(const Write& write) {
    const auto first = told(write_and_wait(values.client, write));
    EXPECT_EQ(told(write_and_wait(json, write)), first);
    EXPECT_EQ(other.rows(), values.rows());
    return first;
  }
  std::string both(const std::vector<Write>& writes) {
    const auto first = told(transact_and_wait(values.client, writes));
    EXPECT_EQ(told(transact_and_wait(json, writes)), first);
    EXPECT_EQ(other.rows(), values.rows());
    return first;
  }
  // Alone, and as the second of a transaction.
  void both_ways(const Write& write) {
    both(write);
    both({put({{"p", text("beside")}}), write});
  }

  Side values, other;
  JsonClient json{other.client};
};

TEST_F(WriteTest, EveryKindIsCarriedOut) {
  EXPECT_EQ(both(put({{"p", text("a")}, {"n", number(1)}})), "{}");
  EXPECT_EQ(both(update("a", "ADD n :one")),
            "ValidationException: Invalid UpdateExpression: An expression attribute value "
            "used in expression is not defined; attribute value: :one ");
  auto add = update("a", "ADD #n :one");
  add.names = {{"#n", text("n")}};
  add.values = {{":one", number(1)}};
  EXPECT_EQ(both(add), "{}");
  EXPECT_EQ(both(of(Write::Kind::Delete, "a")), "{}");
  EXPECT_EQ(both(of(Write::Kind::Update, "made by an update without an expression")), "{}");

  auto check = of(Write::Kind::Check, "absent");
  check.condition = "attribute_not_exists(p)";
  EXPECT_EQ(both({put({{"p", text("b")}, {"g", text("x")}}), add, check, of(Write::Kind::Delete, "c")}), "{}");
}

TEST_F(WriteTest, AConditionThatFailsTellsTheItem) {
  both(put({{"p", text("a")}, {"n", number(1)}}));
  auto again = put({{"p", text("a")}});
  again.condition = "attribute_not_exists(#p)";
  again.names = {{"#p", text("p")}};
  EXPECT_EQ(both(again),
            R"(ConditionalCheckFailedException: The conditional request failed ,"Item":{"n":{"N":"1"},"p":{"S":"a"}})");
  EXPECT_NE(both({put({{"p", text("b")}}), again}).find(R"("Code":"ConditionalCheckFailed")"), std::string::npos);
  auto absent = of(Write::Kind::Delete, "absent");
  absent.condition = "attribute_exists(p)";
  both_ways(absent);
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
    both_ways(put(item));
    auto key = of(Write::Kind::Delete, "a");
    key.item = item;
    both_ways(key);
  }
  for (const auto* table : {"Other", "x", "", "no table!", "arn:aws:dynamodb:us-east-1:000000000000:table/Table"}) {
    auto elsewhere = put({{"p", text("a")}});
    elsewhere.table = table;
    // The shape of a request refuses a bad name with a text of its own.
    if (const std::string_view name = table; name.size() < 3 || name.find(' ') != std::string_view::npos) {
      EXPECT_TRUE(told(write_and_wait(values.client, elsewhere)).starts_with("ValidationException")) << table;
    } else {
      both_ways(elsewhere);
    }
  }
}

TEST_F(WriteTest, ExpressionsAreHeldToTheSameRules) {
  struct Case {
    Write::Kind kind;
    std::string update, condition;
    Item names, values;
  };
  const auto n = std::string(4097, 'n');
  for (const auto& [kind, expression, condition, names, content] : {
           Case{Write::Kind::Put, "", "attribute_exists(", {}, {}},
           Case{Write::Kind::Put, "", "#p = :v", {{"#p", text("p")}}, {}},
           Case{Write::Kind::Put, "", "p = :v", {{"#p", text("p")}}, {{":v", text("a")}}},
           Case{Write::Kind::Put, "", "p = :v", {}, {{":v", text("a")}, {":w", text("b")}}},
           Case{Write::Kind::Put, "", "", {{"#p", text("p")}}, {}},
           Case{Write::Kind::Put, "", "", {}, {{":v", text("a")}}},
           Case{Write::Kind::Delete, "", "", {}, {{":v", text("a")}}},
           Case{Write::Kind::Update, "", "", {}, {{":v", text("a")}}},
           Case{Write::Kind::Update, "", "", {{"#p", text("p")}}, {}},
           Case{Write::Kind::Put, "", "#p = p", {{"p", text("p")}}, {}},
           Case{Write::Kind::Put, "", "#p = p", {{"#p", text("")}}, {}},
           Case{Write::Kind::Put, "", "p = :v", {}, {{"v", text("a")}}},
           Case{Write::Kind::Put, "", "p[1] = :v", {}, {{":v", text("a")}}},
           Case{Write::Kind::Put, "", n, {}, {}},
           Case{Write::Kind::Put, "", "\xff", {}, {}},
           Case{Write::Kind::Update, "SET p = :v", "", {}, {{":v", text("a")}}},
           Case{Write::Kind::Update, "SET g = :v", "", {}, {{":v", number(1)}}},
           Case{Write::Kind::Update, "SET #g = :v", "", {{"#g", text("\xff")}}, {{":v", number(1)}}},
           Case{Write::Kind::Update, "SET g = :v, g = :v", "", {}, {{":v", text("a")}}},
           Case{Write::Kind::Update, "ADD x :v", "x = :v", {}, {{":v", text("a")}}},
           Case{Write::Kind::Update, "DELETE x :v", "", {}, {{":v", number(1)}}},
           Case{Write::Kind::Update, "SET", "", {}, {}},
       }) {
    Write write = kind == Write::Kind::Put ? put({{"p", text("a")}}) : of(kind, "a");
    write.update = expression;
    write.condition = condition;
    write.names = names;
    write.values = content;
    both_ways(write);
  }
  for (const auto& bad : {AttributeValue(value::StringSet{}), text("\xff")}) {
    auto write = update("a", "SET x = :v");
    write.values = {{":v", bad}};
    both_ways(write);
  }
}

TEST_F(WriteTest, ATransactionHasItsBounds) {
  const auto many = [](int count) {
    std::vector<Write> writes;
    for (int i = 0; i < count; ++i) writes.push_back(put({{"p", text(std::to_string(i))}}));
    return writes;
  };
  EXPECT_EQ(both(many(100)), "{}");
  EXPECT_TRUE(told(transact_and_wait(values.client, many(101))).starts_with("ValidationException"));
  EXPECT_TRUE(told(transact_and_wait(values.client, {})).starts_with("ValidationException"));
  EXPECT_TRUE(both({put({{"p", text("a")}}), of(Write::Kind::Delete, "a")}).starts_with("ValidationException"));
  std::vector<Write> heavy = many(11);
  for (auto& write : heavy) write.item.set("x", text(std::string(390 * 1024, 'x')));
  EXPECT_TRUE(both(heavy).starts_with("ValidationException: Aggregate item size"));
  both(std::vector{of(Write::Kind::Check, "a")});
  both({put({{"p", text("a")}}), of(Write::Kind::Update, "b")});
  EXPECT_TRUE(told(write_and_wait(values.client, of(Write::Kind::Check, "a"))).starts_with("ValidationException"));
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
    if (both(write) == "{}") ++written;
  }
  EXPECT_GT(written, 200);  // some have an attribute without a name
}

}  // namespace
}  // namespace stator::client
