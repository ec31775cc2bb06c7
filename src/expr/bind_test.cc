#include "stator/expr/bind.h"

#include <gtest/gtest.h>

#include "stator/expr/test_support.h"

namespace stator::expr {
namespace {

using testing::outcome;
using value::AttributeValue;
using value::Item;

const Item kCounter{{"Name", AttributeValue::string("runs")}, {"Runs", AttributeValue::number(1)}};

TEST(Bind, MakesEachKindOfExpression) {
  const Placeholders one{.values = {{":one", AttributeValue::number(1)}}};
  EXPECT_TRUE(bind_condition("Runs = :one", one)->matches(kCounter));
  EXPECT_FALSE(bind_filter("Runs > :one", one)->matches(kCounter));
  EXPECT_EQ(bind_update("ADD Runs :one", one)->apply(kCounter)->integer("Runs"), 2);
  EXPECT_EQ(bind_projection("Runs")->apply(kCounter), (Item{{"Runs", AttributeValue::number(1)}}));
  const auto terms =
      bind_key_condition("#n = :n", {.names = {{"#n", "Name"}}, .values = {{":n", kCounter.begin()->value}}});
  ASSERT_EQ(terms->terms.size(), 1U);
  EXPECT_EQ(terms->terms[0].attribute, "Name");
}

TEST(Bind, RefusesWhatDynamoDbRefuses) {
  EXPECT_EQ(outcome(bind_condition("Runs =")),
            "Invalid ConditionExpression: Syntax error; token: \"<EOF>\", near: \"=\"");
  EXPECT_EQ(outcome(bind_filter("Runs = :one")),
            "Invalid FilterExpression: An expression attribute value used in expression is not defined; attribute "
            "value: :one");
  EXPECT_EQ(outcome(bind_key_condition("Runs <> :one", {.values = {{":one", AttributeValue::number(1)}}})),
            "Invalid operator used in KeyConditionExpression: <>");
  EXPECT_EQ(outcome(bind_update("REMOVE Runs", {.values = {{":one", AttributeValue::number(1)}}})),
            "Value provided in ExpressionAttributeValues unused in expressions: keys: {:one}");
  EXPECT_EQ(outcome(bind_projection("#r", {.names = {{"r", "Runs"}}})),
            "ExpressionAttributeNames contains invalid key: Syntax error; key: \"r\"");
}

}  // namespace
}  // namespace stator::expr
