#include "stator/expr/binder.h"

#include <gtest/gtest.h>

#include "stator/expr/test_support.h"

namespace stator::expr {
namespace {

using testing::outcome;
using testing::values;

constexpr std::string_view kAllTypes =
    R"({":s":{"S":"a"},":n":{"N":"2"},":one":{"N":"1"},":b":{"B":"AQ=="},":ss":{"SS":["a"]},":ns":{"NS":["1"]},":bs":{"BS":["AQ=="]},)"
    R"(":m":{"M":{}},":l":{"L":[]},":null":{"NULL":true},":bool":{"BOOL":true},":type":{"S":"DOG"}})";

Names names() { return {{"#a", "a"}, {"#b", "b"}, {"#a2", "a"}}; }

struct Case {
  std::string_view text;
  std::string_view expected;
};

class BinderTest : public ::testing::Test {
 protected:
  Binder binder() { return Binder(names(), values(kAllTypes), cache_); }

  Cache cache_;
};

TEST_F(BinderTest, ChecksConditions) {
  const std::string prefix = "Invalid FilterExpression: ";
  for (
      const auto& [text, expected] : {
          Case{"a = :s AND #b < :n", "ok"},
          Case{"a = :x", "An expression attribute value used in expression is not defined; attribute value: :x"},
          Case{"#x.a = :n",
               "An expression attribute name used in the document path is not defined; attribute name: #x"},
          Case{"size(a, b) = :n",
               "Incorrect number of operands for operator or function; operator or function: size, number of operands: "
               "2"},
          Case{"attribute_exists(a, b)",
               "Incorrect number of operands for operator or function; operator or function: attribute_exists, number "
               "of "
               "operands: 2"},
          Case{"begins_with(a)",
               "Incorrect number of operands for operator or function; operator or function: begins_with, number of "
               "operands: "
               "1"},
          Case{"begins_with(a, :n)",
               "Incorrect operand type for operator or function; operator or function: begins_with, operand type: N"},
          Case{"begins_with(:l, a)",
               "Incorrect operand type for operator or function; operator or function: begins_with, operand type: L"},
          Case{"begins_with(a, size(b))",
               "Incorrect operand type for operator or function; operator or function: begins_with, operand type: N"},
          Case{"begins_with(a, :b)", "ok"},
          Case{"begins_with(a, c)", "ok"},
          Case{"attribute_exists(:s)",
               "Operator or function requires a document path; operator or function: attribute_exists"},
          Case{"attribute_not_exists(size(a))",
               "Operator or function requires a document path; operator or function: attribute_not_exists"},
          Case{"attribute_type(a, :type)",
               "Invalid attribute type name found; type: DOG, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"},
          Case{
              "attribute_type(a, :n)",
              "Incorrect operand type for operator or function; operator or function: attribute_type, operand type: N"},
          Case{"attribute_type(a, b)",
               "Incorrect operand type for operator or function; operator or function: attribute_type, operand type: "
               "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}"},
          Case{"size(:n) = :n",
               "Incorrect operand type for operator or function; operator or function: size, operand type: N"},
          Case{"size(:bool) = :n",
               "Incorrect operand type for operator or function; operator or function: size, operand type: BOOL"},
          Case{"size(size(a)) = :n",
               "Incorrect operand type for operator or function; operator or function: size, operand type: N"},
          Case{"size(:l) = :n", "ok"},
          Case{"attribute_not_exists(size(:n))",
               "Incorrect operand type for operator or function; operator or function: size, operand type: N"},
          Case{"begins_with(:x, #x, #y)",
               "An expression attribute value used in expression is not defined; attribute value: :x"},
          Case{"begins_with(a, size(b), c)",
               "Incorrect number of operands for operator or function; operator or function: begins_with, number of "
               "operands: 3"},
          Case{
              "attribute_type(c.d[1].#a, c.d[1].a)",
              "The first operand must be distinct from the remaining operands for this operator or function; operator: "
              "attribute_type, first operand: [c, d, [1], a]"},
          Case{"a < :l", "Incorrect operand type for operator or function; operator or function: <, operand type: L"},
          Case{":null >= a",
               "Incorrect operand type for operator or function; operator or function: >=, operand type: NULL"},
          Case{"a BETWEEN :m AND :n",
               "Incorrect operand type for operator or function; operator or function: BETWEEN, operand type: M"},
          Case{"a = :l", "ok"},
          Case{"a <> :null", "ok"},
          Case{"contains(a, :m)", "ok"},
          Case{"a IN (:l, :null)", "ok"},
          Case{"a BETWEEN :n AND :one",
               "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound "
               "operand: "
               "AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1}"},
          Case{"a BETWEEN :s AND :one",
               "The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: "
               "AttributeValue: "
               "{S:a}, upper bound operand: AttributeValue: {N:1}"},
          Case{"a BETWEEN :n AND :n", "ok"},
          Case{"a BETWEEN :n AND b", "ok"},
          Case{"a = a",
               "The first operand must be distinct from the remaining operands for this operator or function; "
               "operator: =, "
               "first operand: [a]"},
          Case{"#a.b[2] < a.b[2]",
               "The first operand must be distinct from the remaining operands for this operator or function; "
               "operator: <, "
               "first operand: [a, b, [2]]"},
          Case{
              "contains(a, #a)",
              "The first operand must be distinct from the remaining operands for this operator or function; operator: "
              "contains, first operand: [a]"},
          Case{"a = a[0]", "ok"},
          Case{":n = :n", "ok"},
          // Within one comparison placeholders come first, then counts, then equal operands, then types; comparisons go
          // left to right.
          Case{"size(:n) = :x", "An expression attribute value used in expression is not defined; attribute value: :x"},
          Case{"a = a AND b = :x",
               "The first operand must be distinct from the remaining operands for this operator or function; "
               "operator: =, "
               "first operand: [a]"},
          Case{"NOT (a < :l) OR b = :x",
               "Incorrect operand type for operator or function; operator or function: <, operand type: L"},
      }) {
    EXPECT_EQ(outcome(binder().condition(Kind::Filter, text)), expected == "ok" ? "ok" : prefix + std::string(expected))
        << text;
  }
}

TEST_F(BinderTest, LimitsTheOperandsOfIn) {
  std::string text = "a IN (:n";
  for (int i = 1; i < 100; ++i) text += ",:n";
  EXPECT_EQ(outcome(binder().condition(Kind::Condition, text + ")")), "ok");
  EXPECT_EQ(outcome(binder().condition(Kind::Condition, text + ",:n)")),
            "Invalid ConditionExpression: The IN operator is provided with too many operands; number of operands: 101");
}

TEST_F(BinderTest, ChecksUpdates) {
  const std::string prefix = "Invalid UpdateExpression: ";
  for (const auto& [text, expected] : {
           Case{"SET a = :n, b.c = :s REMOVE b.d ADD e :ns DELETE f :ss", "ok"},
           Case{"SET #x = :x",
                "An expression attribute name used in the document path is not defined; attribute name: #x"},
           Case{"SET a = :x REMOVE #x",
                "An expression attribute name used in the document path is not defined; attribute name: #x"},
           Case{"SET a = :x", "An expression attribute value used in expression is not defined; attribute value: :x"},
           Case{"SET a = :n REMOVE a",
                "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], "
                "path "
                "two: [a]"},
           Case{"SET #a = :n, #a2 = :s",
                "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], "
                "path "
                "two: [a]"},
           Case{"SET a.b.c = :n, d = :n, a.b = :s",
                "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a, "
                "b, c], "
                "path two: [a, b]"},
           Case{"SET a[1] = :n, a[1][2] = :s",
                "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a, "
                "[1]], "
                "path two: [a, [1], [2]]"},
           Case{"SET a.b = :n, a[1] = :s",
                "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [a, "
                "b], "
                "path two: [a, [1]]"},
           Case{"SET a.b = :n, a[1] = :s, c = :n REMOVE c",
                "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [c], "
                "path "
                "two: [c]"},
           Case{"SET a.b = :n, a.c = :n, a.d[0] = :n, a.d[1] = :n", "ok"},
           Case{"ADD a :s", "Incorrect operand type for operator or function; operator: ADD, operand type: STRING"},
           Case{"ADD a :l", "Incorrect operand type for operator or function; operator: ADD, operand type: LIST"},
           Case{"ADD a :bool", "Incorrect operand type for operator or function; operator: ADD, operand type: BOOLEAN"},
           Case{"ADD a :n, b :bs", "ok"},
           Case{"DELETE a :n",
                "Incorrect operand type for operator or function; operator: DELETE, operand type: NUMBER"},
           Case{"DELETE a :b",
                "Incorrect operand type for operator or function; operator: DELETE, operand type: BINARY"},
           Case{"SET a = :s + :n",
                "Incorrect operand type for operator or function; operator or function: +, operand type: S"},
           Case{"SET a = b - :l",
                "Incorrect operand type for operator or function; operator or function: -, operand type: L"},
           Case{"SET a = list_append(a, :s)",
                "Incorrect operand type for operator or function; operator or function: list_append, operand type: S"},
           Case{"SET a = list_append(:l)",
                "Incorrect number of operands for operator or function; operator or function: list_append, number of "
                "operands: "
                "1"},
           Case{"SET a = if_not_exists(:n, :s)",
                "Operator or function requires a document path; operator or function: if_not_exists"},
           Case{"SET a = if_not_exists(if_not_exists(a, :n), :s)",
                "Operator or function requires a document path; operator or function: if_not_exists"},
           Case{"SET a = a", "ok"},
           Case{"SET a = :s + :n ADD b :s",
                "Incorrect operand type for operator or function; operator: ADD, operand type: STRING"},
       }) {
    EXPECT_EQ(outcome(binder().update(text)), expected == "ok" ? "ok" : prefix + std::string(expected)) << text;
  }
}

TEST_F(BinderTest, ChecksProjections) {
  const std::string prefix = "Invalid ProjectionExpression: ";
  for (const auto& [text, expected] : {
           Case{"a, #b.c[1], #b.c[2]", "ok"},
           Case{"#x, a, a",
                "An expression attribute name used in the document path is not defined; attribute name: #x"},
           Case{"b, a.b, c, a.b.c",
                "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a, "
                "b], path "
                "two: [a, b, c]"},
           Case{"a.b[0], a.b.c",
                "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [a, "
                "b, [0]], "
                "path two: [a, b, c]"},
       }) {
    EXPECT_EQ(outcome(binder().projection(text)), expected == "ok" ? "ok" : prefix + std::string(expected)) << text;
  }
}

TEST_F(BinderTest, ChecksPlaceholders) {
  const auto check = [this](std::optional<Names> names, std::optional<Values> values) {
    return outcome(Binder(std::move(names), std::move(values), cache_).check_placeholders());
  };
  const Values one = values(R"({":v":{"N":"1"}})");
  EXPECT_EQ(check(std::nullopt, std::nullopt), "ok");
  EXPECT_EQ(check(Names{{"#a_1", "b"}}, one), "ok");
  EXPECT_EQ(check(Names{}, one), "ExpressionAttributeNames must not be empty");
  EXPECT_EQ(check(Names{{"#a", "b"}}, Values{}), "ExpressionAttributeValues must not be empty");
  EXPECT_EQ(check(Names{{"x", "b"}}, one), "ExpressionAttributeNames contains invalid key: Syntax error; key: \"x\"");
  EXPECT_EQ(check(Names{{"#", "b"}}, one), "ExpressionAttributeNames contains invalid key: Syntax error; key: \"#\"");
  EXPECT_EQ(check(Names{{"#a-b", "b"}}, one),
            "ExpressionAttributeNames contains invalid key: Syntax error; key: \"#a-b\"");
  EXPECT_EQ(check(Names{{"#a", ""}}, one),
            "ExpressionAttributeNames contains invalid value: Empty attribute name for key #a");
  EXPECT_EQ(check(std::nullopt, values(R"({"v":{"N":"1"}})")),
            "ExpressionAttributeValues contains invalid key: Syntax error; key: \"v\"");
}

TEST_F(BinderTest, NamesWhatNoExpressionUses) {
  Binder binder(Names{{"#a", "a"}, {"#b", "b"}, {"#c", "c"}}, values(R"({":v":{"N":"1"},":w":{"N":"2"}})"), cache_);
  ASSERT_TRUE(binder.condition(Kind::Condition, "#a = :v OR b = :v"));
  EXPECT_EQ(outcome(binder.check_all_used()),
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#b, #c}");
  ASSERT_TRUE(binder.projection("#b.#c"));
  EXPECT_EQ(outcome(binder.check_all_used()),
            "Value provided in ExpressionAttributeValues unused in expressions: keys: {:w}");
  ASSERT_TRUE(binder.update("ADD d :w"));
  EXPECT_EQ(outcome(binder.check_all_used()), "ok");
}

TEST_F(BinderTest, SharesATreeBetweenRequests) {
  std::shared_ptr<const Tree> first;
  std::size_t bytes_of_one = 0;
  for (const std::string_view name : {"x", "y"}) {
    Binder binder(Names{{"#a", std::string(name)}}, values(R"({":v":{"N":"1"}})"), cache_);
    const auto condition = binder.condition(Kind::Filter, "#a = :v");
    ASSERT_TRUE(condition);
    EXPECT_EQ(condition->attributes(), std::vector<std::string_view>{name});
    const auto shared = cache_.find(Kind::Filter, "#a = :v");
    ASSERT_NE(shared, nullptr);
    if (first == nullptr) {
      first = shared;
      bytes_of_one = cache_.bytes();
    }
    EXPECT_EQ(shared, first);
    EXPECT_EQ(cache_.bytes(), bytes_of_one) << "and no other tree";
  }
}

TEST_F(BinderTest, OutlivedByWhatItReturns) {
  std::optional<Condition> condition;
  std::optional<Update> update;
  {
    Cache cache(0);
    Binder binder(Names{{"#a", "a"}}, values(R"({":v":{"N":"1"}})"), cache);
    condition = *binder.condition(Kind::Condition, "#a = :v");
    update = *binder.update("SET #a = :v");
  }
  const Condition copy = *condition;
  condition.reset();
  const auto updated = update->apply({});
  ASSERT_TRUE(updated);
  EXPECT_TRUE(copy.matches(*updated));
  EXPECT_FALSE(copy.matches({}));
}

}  // namespace
}  // namespace stator::expr
