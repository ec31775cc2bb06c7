#include "stator/model/expression/expression.h"

#include <gtest/gtest.h>

#include <map>

#include "stator/base/random.h"
#include "stator/model/expression/expression_condition.h"
#include "stator/model/expression/expression_tree.h"
#include "stator/value/json.h"

namespace stator::model {
namespace {

using value::AttributeValue;
using value::Item;

Item item_of(std::string_view json) {
  value::JsonParser parser;
  return value::decode_item(parser.parse(json).value()).value();
}

const Item kBook = item_of(R"({
    "Title": {"S": "Crème"}, "Order": {"N": "7"}, "price": {"N": "2.50"}, "lent": {"BOOL": true}, "gone": {"NULL": true},
    "tags": {"SS": ["a", "b"]}, "authors": {"L": [{"S": "Ann"}, {"M": {"last": {"S": "Lee"}}}]},
    "address": {"M": {"city": {"S": "Bern"}}}, "at": {"S": "2026-01-15T23:30:00.000Z"}})");
const Item kInputs = item_of(R"({"me": {"S": "u1"}, "max": {"N": "10"}, "yes": {"BOOL": true}})");

Expression::Scope scope() {
  return {
      .attribute = [](std::string_view name) { return kBook.find(name); },
      .input = [](std::string_view name) { return kInputs.find(name); },
      .generate = [](std::string_view function) { return AttributeValue::string("<" + std::string(function) + ">"); }};
}

std::string shown(const AttributeValue& value) {
  if (const auto* text = value.as_string()) return *text;
  if (const auto* number = value.as_number()) return number->to_string();
  if (const auto* boolean = value.as_bool()) return *boolean ? "true" : "false";
  std::string json;
  value::append_json(json, value);
  return json;
}

// The result of an expression: a value, "null", or an error.
std::string result_of(std::string_view text, const Expression::Scope& in = scope()) {
  const auto expression = Expression::parse(text);
  if (!expression.ok()) return expression.error().message;
  const auto value = expression->evaluate(in);
  if (!value.ok()) return value.error().message;
  return *value ? shown(**value) : "null";
}

struct Case {
  std::string_view text, result;
};

void expect(std::initializer_list<Case> cases) {
  for (const auto& [text, result] : cases) EXPECT_EQ(result_of(text), result) << text;
}

// ------------------------------------------------------------------------------------------------------------- parsing

TEST(ExpressionParse, NamesWhatItReads) {
  const auto expression = Expression::parse("item.LentTo = :me AND Order < :max AND Order > 1 AND :max > 2").value();
  EXPECT_EQ(expression.paths(), (std::vector<std::string>{"item", "Order"}));
  EXPECT_EQ(expression.inputs(), (std::vector<std::string>{"me", "max"}));
}

TEST(ExpressionParse, BindsTighterWhatComesLaterInTheList) {
  expect({{"1 + 2 * 3", "7"},
          {"(1 + 2) * 3", "9"},
          {"10 - 2 - 3", "5"},
          {"12 / 2 / 3", "2"},
          {"-2 * -3", "6"},
          {"-Order + 1", "-6"},
          {"1 - -1", "2"},
          {"1-1", "0"},
          {"false AND false OR true", "true"},
          {"NOT false AND false", "false"},
          {"NOT NOT true", "true"},
          {"NOT 1 = 2", "true"},
          {"1 + 1 = 2", "true"},
          {"2 BETWEEN 1 AND 1 + 1 AND true", "true"}});
}

TEST(ExpressionParse, KnowsWordsWithoutRegardToCase) {
  expect({{"True and not FALSE", "true"},
          {"IF(null = NULL, 1, 2)", "2"},
          {"2 between 1 and 3", "true"},
          {"Size(tags)", "2"}});
}

TEST(ExpressionParse, ReadsLiterals) {
  expect({{"'it''s'", "it's"},
          {"''", ""},
          {"12345678901234567890.123456789", "12345678901234567890.123456789"},
          {"1.5e3", "1500"},
          {"2E-2", "0.02"},
          {"null", "null"}});
}

TEST(ExpressionParse, SaysWhatIsWrongAndWhere) {
  expect({
      {"", "column 1: the expression ends too early"},
      {"a =", "column 4: the expression ends too early"},
      {"a b", "column 3: an operator is missing before 'b'"},
      {"a = = b", "column 5: a value is missing before '='"},
      {"a AND OR b", "column 7: a value is missing before 'OR'"},
      {"(a", "column 3: the expression ends too early"},
      {"(a b)", "column 4: ')' is missing before 'b'"},
      {"a = b = c", "column 7: comparisons do not follow one another; join them with AND"},
      {"a BETWEEN 1 OR 2", "column 13: AND is missing before 'OR'"},
      {"a IN 1", "column 6: '(' is missing before '1'"},
      {"a IN ()", "column 3: IN needs at least one value in its parentheses"},
      {"'abc", "column 1: the closing quote is missing"},
      {"a = \"b\"", "column 5: a text is written in single quotes: 'text'"},
      {"a != b", "column 3: not equal is written <>"},
      {"#a = 1", "column 1: names need no placeholder; write the attribute's name"},
      {"a ? b", "column 3: '?' means nothing here"},
      {"a = é", "column 5: this character means nothing outside of quotes"},
      {": = 1", "column 1: the name of an input follows the colon"},
      {"a.1", "column 3: a name is missing before '1'"},
      {"a[x]", "column 3: the number of an element is missing before 'x'"},
      {"a[1.5]", "column 3: the number of an element is missing before '1.5'"},
      {"sise(a)", "column 1: there is no function sise; did you mean size?"},
      {"nonsense(a)", "column 1: there is no function nonsense"},
      {"size(a, b)", "column 1: size takes 1 value, not 2"},
      {"coalesce()", "column 1: coalesce takes at least 1 value, not 0"},
      {"now(1)", "column 1: now takes 0 values, not 1"},
      {"attribute_exists('a')", "column 18: attribute_exists asks for an attribute or an input"},
      {"1e999", "column 1: Number overflow. Attempting to store a number with magnitude larger than supported range"},
  });
}

TEST(ExpressionParse, IsBounded) {
  EXPECT_EQ(result_of(std::string(4097, ' ')), "column 4097: an expression has at most 4096 bytes");
  EXPECT_EQ(result_of(std::string(32, '(') + "1" + std::string(32, ')')), "1");
  EXPECT_EQ(result_of(std::string(33, '(') + "1" + std::string(33, ')')),
            "column 34: an expression nests at most 32 levels");
  EXPECT_EQ(result_of(std::string(1000, '-') + "1"), "column 34: an expression nests at most 32 levels");
  std::string sum = "1";
  for (int i = 0; i < 300; ++i) sum += "+1";
  EXPECT_EQ(result_of(sum), "301");
  EXPECT_EQ(result_of(sum + "+1"), "column 602: an expression has at most 300 operators");
}

TEST(ExpressionParse, TakesAnyTextWithoutHarm) {
  constexpr std::string_view kPieces[] = {"a",     "Order",   ":me",       "'x'",  "1",    "null", "true", " AND ",
                                          " OR ",  "NOT ",    "=",         "<>",   "<",    "+",    "-",    "*",
                                          "/",     "(",       ")",         ",",    ".",    "[0]",  " IN ", "if",
                                          "size(", "concat(", " BETWEEN ", "min(", "\xff", "'"};
  Random random(11);
  for (int round = 0; round < 50000; ++round) {
    std::string text;
    for (auto left = random.below(12); left > 0; --left) text += kPieces[random.below(std::size(kPieces))];
    if (const auto expression = Expression::parse(text)) {
      ignore_error(expression->evaluate(scope()), "only whether it returns");
      ignore_error(bind_condition(*expression, scope()), "only whether it returns");
    }
  }
}

// ---------------------------------------------------------------------------------------------------------- evaluation

TEST(ExpressionEvaluate, ReadsPathsAndInputs) {
  expect({{"Title", "Crème"},
          {"address.city", "Bern"},
          {"authors[0]", "Ann"},
          {"authors[1].last", "Lee"},
          {"authors[2]", "null"},
          {"authors.last", "null"},
          {"Title[0]", "null"},
          {"missing", "null"},
          {"missing.deeper", "null"},
          {"gone", "null"},
          {":me", "u1"},
          {":other", "null"}});
}

TEST(ExpressionEvaluate, Compares) {
  expect({{"Order = 7.0", "true"},
          {"Order <> 8", "true"},
          {"Order < 8 AND Order <= 7 AND Order > 6 AND Order >= 7", "true"},
          {"Order BETWEEN 1 AND :max", "true"},
          {"Order BETWEEN 8 AND 9", "false"},
          {"'a' < 'b'", "true"},
          {"Title IN ('x', 'Crème')", "true"},
          {"Title IN ('x', null)", "false"},
          {"Title = 7", "false"},
          {"Title <> 7", "true"},
          {"Title < 7", "false"}});
}

TEST(ExpressionEvaluate, IsFalseOfNull) {
  expect({{"missing = 1", "false"},
          {"missing <> 1", "false"},
          {"missing = null", "false"},
          {"1 < missing", "false"},
          {"missing BETWEEN 1 AND 2", "false"},
          {"1 BETWEEN 1 AND missing", "false"},
          {"missing IN (null)", "false"},
          {"NOT missing", "true"},
          {"missing OR true", "true"},
          {"begins_with(missing, 'a')", "false"},
          {"contains(tags, missing)", "false"}});
}

TEST(ExpressionEvaluate, ComputesExactly) {
  expect({{"0.1 + 0.2", "0.3"},
          {"price * 4", "10"},
          {"price / 3", "0.83333333333333333333333333333333333333"},
          {"price - missing", "null"},
          {"round(price)", "3"},
          {"round(10 * price / 3) / 10", "0.8"}});
}

TEST(ExpressionEvaluate, CallsFunctions) {
  expect({{"attribute_exists(Title) AND attribute_not_exists(missing)", "true"},
          {"attribute_exists(:me)", "true"},
          {"attribute_type(Title, 'S')", "true"},
          {"attribute_type(Title, 'N')", "false"},
          {"begins_with(Title, 'Cr')", "true"},
          {"contains(tags, 'a') AND contains(Title, 'rè')", "true"},
          {"size(tags) + size(Title)", "7"},
          {"size()", "column 1: size takes 1 value, not 0"},
          {"length('naïve😀')", "6"},
          {"if(Order > 5, 'high', 'low')", "high"},
          {"if(missing, 1, null)", "null"},
          {"if_not_exists(missing, 0)", "0"},
          {"if_not_exists(Order, 0)", "7"},
          {"coalesce(null, missing, 3, 4)", "3"},
          {"concat(Title, ' ', Order, ' ', lent)", "Crème 7 true"},
          {"concat(Title, missing)", "null"},
          {"lower('ÀB')", "àb"},
          {"upper('àb')", "ÀB"},
          {"fold('Crème Brûlée')", "creme brulee"},
          {"sortable('Crème #1')", "creme%20%231"},
          {"fold_letters('Œuvre #1')", "oeuvre #1"},
          {"alphabetical('Œuvre #1')", "oeuvre%20%231"},
          {"min(3, missing, Order)", "3"},
          {"max(3, missing, Order)", "7"},
          {"max('a', 'b')", "b"},
          {"min(missing)", "null"},
          {"size(list_append(authors, missing))", "2"},
          {"size(list_append(authors, authors))", "4"},
          {"date(at)", "2026-01-15"},
          {"date('2026-01-15T23:30:00-01:00')", "2026-01-16"},
          {"date(missing)", "null"},
          {"plus_seconds('2026-01-15T23:30:00Z', 3600)", "2026-01-16T00:30:00.000Z"},
          {"plus_seconds(missing, 1)", "null"},
          {"concat(now(), uuid(), ulid())", "<now><uuid><ulid>"}});
}

TEST(ExpressionEvaluate, LooksOnlyAtWhatItNeeds) {
  expect({{"if(true, 1, 1 / 0)", "1"},
          {"false AND 1 / 0 = 1", "false"},
          {"true OR 1 / 0 = 1", "true"},
          {"coalesce(1, 1 / 0)", "1"}});
}

TEST(ExpressionEvaluate, SaysWhichTypesDoNotGoTogether) {
  expect({{"Title + 1", "+ needs numbers, not a text in the expression: Title + 1"},
          {"1 / 0", "Division by zero in the expression: 1 / 0"},
          {"NOT Title", "NOT needs a condition, not a text in the expression: NOT Title"},
          {"lent AND 1", "AND needs a condition, not a number in the expression: lent AND 1"},
          {"lower(1)", "lower needs a text, not a number in the expression: lower(1)"},
          {"concat(tags)", "concat needs texts, numbers or booleans, not a set in the expression: concat(tags)"},
          {"min(1, 'a')", "min needs values with an order like a number, not a text in the expression: min(1, 'a')"},
          {"list_append(Title, authors)",
           "list_append needs lists, not a text in the expression: list_append(Title, authors)"},
          {"list_append(authors, 'x')", "column 22: list_append joins lists, and no literal is one"},
          {"date('soon')", "date needs a timestamp, not 'soon' in the expression: date('soon')"}});
  EXPECT_EQ(result_of("now()", scope_of(kBook)), "now() cannot be used here in the expression: now()");
}

TEST(ExpressionHolds, NeedsACondition) {
  const auto holds = [](std::string_view text) { return Expression::parse(text)->holds(scope()); };
  EXPECT_TRUE(*holds("lent"));
  EXPECT_FALSE(*holds("missing"));
  EXPECT_EQ(holds("Title").error().message, "a condition is needed, not a text in the expression: Title");
}

// ----------------------------------------------------------------------------------------------------------- functions

TEST(ExpressionFunctions, AreAllUsedAndMisused) {
  struct Uses {
    std::string_view use, result, misuse, problem;
  };
  const std::map<std::string_view, Uses> uses{
      {"attribute_exists",
       {"attribute_exists(Title)", "true", "attribute_exists(1)",
        "column 18: attribute_exists asks for an attribute or an input"}},
      {"attribute_not_exists",
       {"attribute_not_exists(Title)", "false", "attribute_not_exists()",
        "column 1: attribute_not_exists takes 1 value, not 0"}},
      {"attribute_type",
       {"attribute_type(Title, 'S')", "true", "attribute_type(Title, 'X')",
        "column 23: a type is 'S', 'N', 'B', 'SS', 'NS', 'BS', 'BOOL', 'NULL', 'L', 'M'"}},
      {"begins_with",
       {"begins_with(Title, 'Cr')", "true", "begins_with(Title)", "column 1: begins_with takes 2 values, not 1"}},
      {"contains", {"contains(tags, 'a')", "true", "contains(tags)", "column 1: contains takes 2 values, not 1"}},
      {"size", {"size(tags)", "2", "size()", "column 1: size takes 1 value, not 0"}},
      {"if",
       {"if(lent, 1, 2)", "1", "if(Order, 1, 2)",
        "if needs a condition, not a number in the expression: if(Order, 1, 2)"}},
      {"if_not_exists",
       {"if_not_exists(none, 1)", "1", "if_not_exists(none)", "column 1: if_not_exists takes 2 values, not 1"}},
      {"coalesce", {"coalesce(none, 1)", "1", "coalesce()", "column 1: coalesce takes at least 1 value, not 0"}},
      {"concat", {"concat(Title, '!')", "Crème!", "concat()", "column 1: concat takes at least 1 value, not 0"}},
      {"lower",
       {"lower(Title)", "crème", "lower(Order)", "lower needs a text, not a number in the expression: lower(Order)"}},
      {"upper",
       {"upper(Title)", "CRÈME", "upper(Order)", "upper needs a text, not a number in the expression: upper(Order)"}},
      {"fold",
       {"fold(Title)", "creme", "fold(Order)", "fold needs a text, not a number in the expression: fold(Order)"}},
      {"sortable",
       {"sortable(Title)", "creme", "sortable(Order)",
        "sortable needs a text, not a number in the expression: sortable(Order)"}},
      {"fold_letters",
       {"fold_letters(Title)", "creme", "fold_letters(Order)",
        "fold_letters needs a text, not a number in the expression: fold_letters(Order)"}},
      {"alphabetical",
       {"alphabetical(Title)", "creme", "alphabetical(Order)",
        "alphabetical needs a text, not a number in the expression: alphabetical(Order)"}},
      {"length",
       {"length(Title)", "5", "length(Order)", "length needs a text, not a number in the expression: length(Order)"}},
      {"round",
       {"round(price)", "3", "round(Title)", "round needs numbers, not a text in the expression: round(Title)"}},
      {"min",
       {"min(Order, 3)", "3", "min(Title, 3)",
        "min needs values with an order like a text, not a number in the expression: min(Title, 3)"}},
      {"max",
       {"max(Order, 3)", "7", "max(Title, 3)",
        "max needs values with an order like a text, not a number in the expression: max(Title, 3)"}},
      {"list_append",
       {"list_append(none, none)", "{\"L\":[]}", "list_append(Title, authors)",
        "list_append needs lists, not a text in the expression: list_append(Title, authors)"}},
      {"date",
       {"date(at)", "2026-01-15", "date(Title)", "date needs a timestamp, not 'Crème' in the expression: date(Title)"}},
      {"plus_seconds",
       {"plus_seconds(at, 60)", "2026-01-15T23:31:00.000Z", "plus_seconds(Title, 60)",
        "plus_seconds needs a timestamp, not 'Crème' in the expression: plus_seconds(Title, 60)"}},
      {"now", {"now()", "<now>", "now(1)", "column 1: now takes 0 values, not 1"}},
      {"uuid", {"uuid()", "<uuid>", "uuid(1)", "column 1: uuid takes 0 values, not 1"}},
      {"ulid", {"ulid()", "<ulid>", "ulid(Title)", "column 1: ulid takes 0 values, not 1"}},
  };
  for (auto function = Function::AttributeExists; function <= Function::Ulid;
       function = static_cast<Function>(static_cast<int>(function) + 1)) {
    const auto name = name_of(function);
    const auto found = uses.find(name);
    ASSERT_NE(found, uses.end()) << name;
    EXPECT_TRUE(found->second.use.starts_with(name) && found->second.misuse.starts_with(name)) << name;
    expect({{found->second.use, found->second.result}, {found->second.misuse, found->second.problem}});
  }
}

}  // namespace
}  // namespace stator::model
