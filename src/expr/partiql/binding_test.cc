#include "stator/expr/partiql/binding.h"

#include "stator/expr/partiql/parser.h"
#include "stator/expr/test_support.h"

namespace stator::expr::partiql {
namespace {

using testing::item;
using testing::json;

struct Bound {
  explicit Bound(std::string_view text, std::vector<value::AttributeValue> parameters = {})
      : statement(*parse(text)), binding(*Binding::make(statement, std::move(parameters))) {}

  Result<Condition> where() const { return binding.where(*std::get<Select>(statement.body).where); }

  Statement statement;
  Binding binding;
};

std::string matches(std::string_view condition, std::string_view item_json,
                    std::vector<value::AttributeValue> parameters = {}) {
  const auto where = Bound("SELECT * FROM t WHERE " + std::string(condition), std::move(parameters)).where();
  if (!where) return where.error().message;
  return where->matches(item(item_json)) ? "yes" : "no";
}

TEST(PartiqlBinding, EvaluatesConditions) {
  static constexpr std::string_view kItem =
      R"({"n":{"N":"1"},"s":{"S":"abc"},"ss":{"SS":["x","y"]},"l":{"L":[{"S":"p"}]},"m":{"M":{"k":{"S":"v"}}},"z":{"NULL":true},"t":{"BOOL":true}})";
  for (const std::string_view holds : {
           "n = 1",
           "n <> 2",
           "n < 2",
           "2 > n",
           "n BETWEEN 0 AND 1",
           "n IN [3, 1]",
           "n IN (1)",
           "s > 'abb'",
           "begins_with(s, 'ab')",
           "contains(ss, 'x')",
           "size(l) = 1",
           "attribute_type(m, 'M')",
           "m.k = 'v'",
           "l[0] = 'p'",
           "z IS NULL",
           "z IS NOT MISSING",
           "nope IS MISSING",
           "NOT nope IS NULL",
           "s IS STRING",
           "n IS NUMERIC",
           "m IS STRUCT",
           "m IS TUPLE",
           "l IS LIST",
           "t IS BOOLEAN",
           "ss = <<'y', 'x'>>",
           "m = {'k': 'v'}",
           "l = ['p']",
           "(n = 1 OR n = 2) = true",
           "attribute_exists(nope) = false",
           "attribute_exists(n) = t",
           "attribute_exists(nope) IN [true, false]",
           "attribute_exists(n) <> 1",
           "n = 1 AND NOT (n = 2 OR s = 'x')",
       }) {
    EXPECT_EQ(matches(holds, kItem), "yes") << holds;
  }
  for (const std::string_view fails : {"n = '1'", "nope = 1", "nope < 1", "s IS NULL", "attribute_exists(n) = 1",
                                       "(attribute_exists(n) = true) = false", "n NOT IN [1]", "size(n) = 1"}) {
    EXPECT_EQ(matches(fails, kItem), "no") << fails;
  }
  EXPECT_EQ(matches("n = ? AND s = ?", kItem, {value::AttributeValue::number(1), value::AttributeValue::string("abc")}),
            "yes");
}

TEST(PartiqlBinding, RefusesConditionsWithTheServicesTexts) {
  struct Case {
    std::string_view condition, message;
  };
  for (const auto& [condition, message] : {
           Case{"a < true",
                "Incorrect operand type for operator or function; operator or function: <, operand type: BOOL"},
           Case{"a BETWEEN true AND false",
                "Incorrect operand type for operator or function; operator or function: BETWEEN, operand type: BOOL"},
           Case{"exists(a)", "Unrecognized function: exists at 1:23:6"},
           Case{"set_add(a, <<1>>) = a", "Unrecognized function: set_add at 1:23:7"},
           Case{"a", "WHERE clause must contain an expression that resolves to a boolean at 1:23:1"},
           Case{"a = 1 AND b", "The arguments to AND/OR must be Expressions at 1:29:3"},
           Case{"NOT a", "The argument to NOT must be a Type or Expression at 1:23:3"},
           Case{"a = b + 1", "Unsupported operator in Condition Expression. Operator: + at 1:29:1"},
           Case{"a > -b", "Unsupported operator in Condition Expression. Operator: - at 1:27:1"},
           Case{"a LIKE 'x'", "Unsupported operator in Condition Expression. Operator: LIKE at 1:25:4"},
           Case{"a IS DATE",
                "Unsupported data type for IS operator: DATE. Supported data types are [MISSING, NULL, BOOLEAN, BLOB, "
                "STRING, NUMERIC, STRUCT, TUPLE, LIST] at 1:25:2"},
           Case{"a = <<>>", "Empty bags are not supported"},
           Case{"a = <<1, 'x'>>", "Unexpected data type S in Number Set under key root at 1:32:3"},
           Case{"a = <<true>>",
                "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags"},
           Case{"a = [b]", "Unsupported data type: VariableReference under key root[0] at 1:28:1"},
       }) {
    EXPECT_EQ(matches(condition, "{}"), message) << condition;
  }
}

TEST(PartiqlBinding, AsksForAnItemOrIsContentWithoutOne) {
  const Bound bound("SELECT * FROM t WHERE pk = 'a' AND n IS MISSING");
  const auto root = *std::get<Select>(bound.statement.body).where;
  const auto required = *bound.binding.where(root, Binding::Existence::Required, "pk");
  const auto optional = *bound.binding.where(root, Binding::Existence::Optional, "pk");
  EXPECT_FALSE(required.matches({}));
  EXPECT_TRUE(optional.matches({}));
  for (const auto& condition : {required, optional}) {
    EXPECT_TRUE(condition.matches(item(R"({"pk":{"S":"a"}})")));
    EXPECT_FALSE(condition.matches(item(R"({"pk":{"S":"a"},"n":{"N":"1"}})")));
  }
}

std::string updated(std::string_view assignments, std::string_view old) {
  const Bound bound("UPDATE t " + std::string(assignments) + " WHERE pk = 1");
  const auto update = bound.binding.update(std::get<Update>(bound.statement.body));
  if (!update) return update.error().message;
  const auto result = update->apply(item(old));
  return result ? json(*result) : result.error().message;
}

TEST(PartiqlBinding, AppliesUpdates) {
  EXPECT_EQ(updated("SET a = a + 1 - 2 SET b = {'c': [1]} REMOVE d", R"({"a":{"N":"5"},"d":{"S":"x"}})"),
            R"({"a":{"N":"4"},"b":{"M":{"c":{"L":[{"N":"1"}]}}}})");
  EXPECT_EQ(updated("SET a = set_add(a, <<'y'>>)", R"({"a":{"SS":["x"]}})"), R"({"a":{"SS":["x","y"]}})");
  EXPECT_EQ(updated("SET a = set_delete(a, <<'x'>>)", R"({"a":{"SS":["x"]}})"), "{}");
  EXPECT_EQ(updated("SET a = list_append([0], a)", R"({"a":{"L":[{"N":"1"}]}})"),
            R"({"a":{"L":[{"N":"0"},{"N":"1"}]}})");
  EXPECT_EQ(updated("SET a = b", R"({"b":{"S":"x"}})"), R"({"a":{"S":"x"},"b":{"S":"x"}})");
  EXPECT_EQ(updated("SET a = if_not_exists(a, 0) + 1", "{}"), R"({"a":{"N":"1"}})");
  EXPECT_EQ(updated("SET a = b = c", "{}"), "Unsupported operator in Update Expression. Operator: = at 1:20:1");
  EXPECT_EQ(updated("SET a = size(b)", "{}"), "Unrecognized function: size at 1:18:4");
  EXPECT_EQ(updated("SET a = n - null", "{}"),
            "Incorrect operand type for operator or function; operator or function: -, operand type: NULL");
}

}  // namespace
}  // namespace stator::expr::partiql
