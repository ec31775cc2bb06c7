#include "stator/expr/key_condition.h"

#include <gtest/gtest.h>

#include "stator/expr/test_support.h"

namespace stator::expr {
namespace {

using testing::values;

// "pk Equal S:a, ...", or the message.
std::string shown(std::string_view text) {
  static constexpr std::array<std::string_view, 7> kOps = {"=", "<", "<=", ">", ">=", "between", "begins_with"};
  Cache cache;
  Binder binder(Names{{"#pk", "pk"}}, values(R"({":a":{"S":"a"},":b":{"S":"b"},":n":{"N":"1"},":l":{"L":[]}})"), cache);
  const auto condition = binder.key_condition(text);
  if (!condition) return condition.error().message;
  std::string result;
  for (const KeyTerm& term : condition->terms) {
    if (!result.empty()) result += " & ";
    result += term.attribute + " " + std::string(kOps[static_cast<std::size_t>(term.op)]) + " ";
    value::append_json(result, term.low);
    if (term.op == KeyTerm::Op::Between) value::append_json(result, term.high);
  }
  return result;
}

TEST(KeyCondition, ReadsTerms) {
  EXPECT_EQ(shown("pk = :a"), R"(pk = {"S":"a"})");
  EXPECT_EQ(shown("#pk = :a AND sk < :n"), R"(pk = {"S":"a"} & sk < {"N":"1"})");
  EXPECT_EQ(shown("sk >= :n AND pk = :a"), R"(sk >= {"N":"1"} & pk = {"S":"a"})");
  EXPECT_EQ(shown(":a = pk AND :n < sk"), R"(pk = {"S":"a"} & sk > {"N":"1"})");
  EXPECT_EQ(shown(":a = pk AND :n >= sk"), R"(pk = {"S":"a"} & sk <= {"N":"1"})");
  EXPECT_EQ(shown("pk = :a AND sk BETWEEN :a AND :b"), R"(pk = {"S":"a"} & sk between {"S":"a"}{"S":"b"})");
  EXPECT_EQ(shown("((pk = :a) AND (begins_with(sk, :b)))"), R"(pk = {"S":"a"} & sk begins_with {"S":"b"})");
  EXPECT_EQ(shown("a = :a AND (b = :b AND c = :n)"), R"(a = {"S":"a"} & b = {"S":"b"} & c = {"N":"1"})");
}

TEST(KeyCondition, RefusesOtherConditions) {
  EXPECT_EQ(shown("pk = :a OR sk = :b"), "Invalid operator used in KeyConditionExpression: OR");
  EXPECT_EQ(shown("NOT pk = :a"), "Invalid operator used in KeyConditionExpression: NOT");
  EXPECT_EQ(shown("pk <> :a"), "Invalid operator used in KeyConditionExpression: <>");
  EXPECT_EQ(shown("pk = :a AND sk IN (:b)"), "Invalid operator used in KeyConditionExpression: IN");
  EXPECT_EQ(shown("attribute_exists(pk)"), "Invalid operator used in KeyConditionExpression: attribute_exists");
  EXPECT_EQ(shown("contains(pk, :a)"), "Invalid operator used in KeyConditionExpression: contains");
  EXPECT_EQ(shown("size(pk) = :n"),
            "Invalid KeyConditionExpression: KeyConditionExpressions cannot contain nested operations");
  EXPECT_EQ(shown("pk = :a AND pk = :a"),
            "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key");
  EXPECT_EQ(shown("pk.a = :a"),
            "Invalid KeyConditionExpression: KeyConditionExpressions cannot have conditions on nested attributes");
  EXPECT_EQ(shown("pk = sk"),
            "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition");
  EXPECT_EQ(shown(":a = :b"), "Invalid condition in KeyConditionExpression: No key attribute specified");
  EXPECT_EQ(
      shown(":a BETWEEN sk AND :b"),
      "Invalid condition in KeyConditionExpression: BETWEEN operator must have the key attribute as its first operand");
  // The first mistake in reading order counts.
  EXPECT_EQ(shown("pk > sk.a"),
            "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition");
  EXPECT_EQ(shown("pk.a > sk"),
            "Invalid KeyConditionExpression: KeyConditionExpressions cannot have conditions on nested attributes");
  EXPECT_EQ(shown("pk BETWEEN sk AND size(a)"),
            "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition");
  EXPECT_EQ(shown("begins_with(:a, sk)"),
            "Invalid condition in KeyConditionExpression: begins_with operator must have the key attribute as its "
            "first operand");
}

TEST(KeyCondition, IsFirstACondition) {
  EXPECT_EQ(shown(""), "Invalid KeyConditionExpression: The expression can not be empty;");
  EXPECT_EQ(shown("pk"), R"(Invalid KeyConditionExpression: Syntax error; token: "<EOF>", near: "pk")");
  EXPECT_EQ(shown("BEGINS_WITH(pk, :a)"),
            "Invalid KeyConditionExpression: Invalid function name; function: BEGINS_WITH");
  EXPECT_EQ(shown("begins_with(pk, :n)"),
            "Invalid KeyConditionExpression: Incorrect operand type for operator or function; operator or function: "
            "begins_with, operand type: N");
  EXPECT_EQ(shown("pk = :x"),
            "Invalid KeyConditionExpression: An expression attribute value used in expression is not defined; "
            "attribute value: "
            ":x");
}

}  // namespace
}  // namespace stator::expr
