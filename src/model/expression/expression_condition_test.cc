#include "stator/model/expression/expression_condition.h"

#include <gtest/gtest.h>

#include "stator/base/random.h"
#include "stator/expr/binder.h"
#include "stator/expr/unbinder.h"
#include "stator/value/json.h"

namespace stator::model {
namespace {

using value::AttributeValue;
using value::Item;

Item item_of(std::string_view json) {
  value::JsonParser parser;
  return value::decode_item(parser.parse(json).value()).value();
}

const Item kInputs = item_of(R"({"me": {"S": "u1"}, "max": {"N": "10"}, "yes": {"BOOL": true}, "list": {"L": []}})");

Expression::Scope inputs() {
  return {.attribute = {}, .input = [](std::string_view name) { return kInputs.find(name); }, .generate = {}};
}

Result<BoundCondition> compiled(std::string_view text) {
  const auto expression = Expression::parse(text);
  EXPECT_TRUE(expression.ok()) << text << ": " << (expression.ok() ? "" : expression.error().message);
  return bind_condition(*expression, inputs());
}

// As a request to DynamoDB has it, with names and values put in for their placeholders.
std::string said(std::string_view text) {
  const auto bound = compiled(text);
  if (!bound.ok()) return bound.error().message;
  if (const auto* holds = std::get_if<bool>(&*bound)) return *holds ? "always" : "never";
  expr::Unbinder unbinder;
  std::string result = unbinder.text(std::get<expr::Condition>(*bound));
  const auto replace_all = [&](const std::string& placeholder, const std::string& meaning) {
    for (auto at = result.find(placeholder); at != std::string::npos;
         at = result.find(placeholder, at + meaning.size())) {
      result.replace(at, placeholder.size(), meaning);
    }
  };
  for (const auto& [placeholder, name] : unbinder.names()) replace_all(placeholder, name);
  for (const auto& [placeholder, value] : unbinder.values()) {
    std::string json;
    value::append_json(json, value);
    replace_all(placeholder, json);
  }
  return result;
}

// The result of the condition in DynamoDB.  Its text has to pass all checks of a request.
Result<bool> matches(const expr::Condition& condition, const Item& item) {
  expr::Unbinder unbinder;
  const auto text = unbinder.text(condition);
  const auto& names = unbinder.names();
  const auto& values = unbinder.values();
  expr::Binder binder(names.empty() ? std::nullopt : std::optional(names),
                      values.empty() ? std::nullopt : std::optional(values));
  TRY(binder.check_placeholders());
  const auto bound = TRY(binder.condition(expr::Kind::Filter, text));
  TRY(binder.check_all_used());
  EXPECT_EQ(bound.matches(item), condition.matches(item)) << text;
  return bound.matches(item);
}

TEST(ExpressionToDynamoDb, HasEveryNameAndValueOfWhatIsLeft) {
  const auto bound =
      compiled("LentTo = :me AND :yes AND address.city <> 'Bern' AND (none = :none OR a[0] = :me)").value();
  const auto& condition = std::get<expr::Condition>(bound);
  EXPECT_EQ(condition.attributes(), (std::vector<std::string_view>{"LentTo", "address", "a"}));
  EXPECT_EQ(condition.nested_attributes(), (std::vector<std::string_view>{"address", "a"}));
  EXPECT_EQ(condition.values().size(), 3U);
}

TEST(ExpressionToDynamoDb, SaysWhatDynamoDbCanSay) {
  EXPECT_EQ(said("a = 1"), R"(a = {"N":"1"})");
  EXPECT_EQ(said("a < b"), "a < b");
  EXPECT_EQ(said("1 + 1 < a"), R"({"N":"2"} < a)");
  EXPECT_EQ(said("a BETWEEN 1 AND :max * 2"), R"(a BETWEEN {"N":"1"} AND {"N":"20"})");
  EXPECT_EQ(said("a IN (:me, null, 'x', b)"), R"(a IN ({"S":"u1"}, {"S":"x"}, b))");
  EXPECT_EQ(said("attribute_not_exists(list[2].x)"), "attribute_not_exists(list[2].x)");
  EXPECT_EQ(said("attribute_type(a, 'SS')"), R"(attribute_type(a, {"S":"SS"}))");
  EXPECT_EQ(said("contains(tags, :me) AND size(tags) < 5"),
            R"((contains(tags, {"S":"u1"})) AND (size(tags) < {"N":"5"}))");
  EXPECT_EQ(said("a <> 1"), R"((attribute_exists(a)) AND (a <> {"N":"1"}))");
  EXPECT_EQ(said("size(a) <> 1"), R"((size(a) >= {"N":"0"}) AND (size(a) <> {"N":"1"}))");
}

TEST(ExpressionToDynamoDb, TakesABooleanAttributeForACondition) {
  EXPECT_EQ(said("deleted"), R"(deleted = {"BOOL":true})");
  EXPECT_EQ(said("NOT deleted"), R"(NOT (deleted = {"BOOL":true}))");
}

TEST(ExpressionToDynamoDb, JoinsWhatBelongsTogether) {
  EXPECT_EQ(said("((a = 1))"), R"(a = {"N":"1"})");
  EXPECT_EQ(said("(a OR b) AND (c AND (d))"),
            R"(((a = {"BOOL":true}) OR (b = {"BOOL":true})) AND (c = {"BOOL":true}) AND (d = {"BOOL":true}))");
  EXPECT_EQ(said("NOT (attribute_exists(a) AND attribute_exists(b))"),
            "NOT ((attribute_exists(a)) AND (attribute_exists(b)))");
}

TEST(ExpressionToDynamoDb, ComputesWhatTheInputsDecide) {
  EXPECT_EQ(said(":yes AND a = 1"), R"(a = {"N":"1"})");
  EXPECT_EQ(said(":yes OR a = 1"), "always");
  EXPECT_EQ(said("NOT :yes AND a = 1"), "never");
  EXPECT_EQ(said("a = :missing"), "never");
  EXPECT_EQ(said("a <> :missing"), "never");
  EXPECT_EQ(said("NOT a = :missing"), "always");
  EXPECT_EQ(said("attribute_not_exists(:missing) OR a = :missing"), "always");
  EXPECT_EQ(said("a IN (:missing, null)"), "never");
  EXPECT_EQ(said("contains(a, :missing)"), "never");
  EXPECT_EQ(said("true"), "always");
}

TEST(ExpressionToDynamoDb, DecidesWhereDynamoDbWouldRefuseTheValue) {
  EXPECT_EQ(said("a BETWEEN 2 AND 1"), "never");
  EXPECT_EQ(said("a BETWEEN 1 AND 'x'"), "never");
  EXPECT_EQ(said("a < :yes"), "never");
  EXPECT_EQ(said("begins_with(a, 1)"), "never");
  EXPECT_EQ(said("attribute_type(a, concat('X', ''))"), "never");
}

TEST(ExpressionToDynamoDb, RefusesWhatDynamoDbCannotSay) {
  for (const std::string_view text : {"a + 1 = 2", "if(a, true, false)", "fold(a) = 'x'", "(a = 1) = true", "a = a",
                                      "size(concat(a, b)) = 1", "b OR size(a)", "a BETWEEN a AND b", "length(a) < 3"}) {
    EXPECT_FALSE(Expression::parse(text)->is_dynamodb()) << text;
    EXPECT_EQ(said(text), "DynamoDB cannot evaluate values that are computed from attributes in the expression: " +
                              std::string(text));
  }
  EXPECT_EQ(said("a AND :me"), "a condition is needed, not a value in the expression: a AND :me");
}

// A condition, of the kinds that DynamoDB can say.
std::string random_condition(Random& random, int depth) {
  constexpr std::string_view kOperands[] = {"a",   "b",    "c.x",  "d[0]", "1",    "2",       "'u1'",
                                            ":me", ":max", ":yes", ":no",  "null", "size(d)", "size(a)"};
  constexpr std::string_view kPlaces[] = {"a", "b", "c.x", "d[0]", "d", ":me", ":no"};
  constexpr std::string_view kComparators[] = {"=", "<>", "<", "<=", ">", ">="};
  const auto operand = [&] { return std::string(kOperands[random.below(std::size(kOperands))]); };
  const auto place = [&] { return std::string(kPlaces[random.below(std::size(kPlaces))]); };
  const auto deeper = [&] { return random_condition(random, depth - 1); };
  switch (random.below(depth > 0 ? 11 : 7)) {
    case 0: return operand() + " " + std::string(kComparators[random.below(std::size(kComparators))]) + " " + operand();
    case 1: return operand() + " BETWEEN " + operand() + " AND " + operand();
    case 2: return operand() + " IN (" + operand() + ", " + operand() + ")";
    case 3: return "attribute_exists(" + place() + ")";
    case 4: return "begins_with(" + place() + ", " + place() + ")";
    case 5: return "contains(" + place() + ", " + operand() + ")";
    case 6: return operand() + " " + std::string(kComparators[random.below(std::size(kComparators))]) + " " + operand();
    case 7: return "NOT (" + deeper() + ")";
    case 8: return "(" + deeper() + ") AND (" + deeper() + ")";
    case 9: return "(" + deeper() + " OR " + deeper() + ")";
    default: return deeper() + " AND " + deeper() + " OR " + deeper();
  }
}

TEST(ExpressionToDynamoDb, MeansToDynamoDbWhatItMeansHere) {
  const Item items[] = {
      {},
      item_of(
          R"({"a": {"S": "u1"}, "b": {"S": "u"}, "c": {"M": {"x": {"N": "2"}}}, "d": {"L": [{"N": "1"}, {"S": "u1"}]}})"),
      item_of(R"({"a": {"N": "1"}, "b": {"N": "10"}, "c": {"S": "x"}, "d": {"SS": ["u1"]}})"),
      item_of(R"({"b": {"BOOL": true}, "d": {"S": "u1u2"}})"),
  };
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    Random random(seed);
    const std::string text = random_condition(random, 3);
    const auto expression = Expression::parse(text);
    ASSERT_TRUE(expression.ok()) << text << ": " << expression.error().message;
    const auto bound = bind_condition(*expression, inputs());
    ASSERT_EQ(bound.ok(), expression->is_dynamodb()) << text;
    if (!bound.ok()) continue;
    for (const Item& item : items) {
      auto scope = inputs();
      scope.attribute = [&](std::string_view name) { return item.find(name); };
      const bool here = expression->holds(scope).value();
      if (const auto* holds = std::get_if<bool>(&*bound)) {
        ASSERT_EQ(here, *holds) << text;
      } else {
        const auto there = matches(std::get<expr::Condition>(*bound), item);
        ASSERT_TRUE(there.ok()) << text << " | " << said(text) << ": " << there.error().message;
        ASSERT_EQ(here, *there) << text << " | " << said(text);
      }
      ++compared;
    }
  }
  EXPECT_GT(compared, 20'000);
}

}  // namespace
}  // namespace stator::model
