#include "stator/expr/partiql/parser.h"

#include <gtest/gtest.h>

#include <random>

namespace stator::expr::partiql {
namespace {

std::string printed(std::string_view text) {
  const auto statement = parse(text);
  return statement ? print(*statement) : statement.error().message;
}

TEST(PartiqlParser, ReadsEveryKindOfStatement) {
  struct Case {
    std::string_view text, tree;
  };
  for (const auto& [text, tree] : {
           Case{"SELECT * FROM t", "SELECT * FROM t"},
           Case{"select a, \"b c\".d[1] from \"my-table\".\"ix\";", "SELECT a, b c.d[1] as d[1] FROM my-table.ix"},
           Case{"SELECT a['k'].b FROM t", "SELECT a.k.b as b FROM t"},
           Case{"SELECT * FROM t WHERE pk = 'a' ORDER BY sk DESC, pk",
                "SELECT * FROM t WHERE (pk = {\"S\":\"a\"}) ORDER BY sk DESC, pk ASC"},
           Case{"INSERT INTO t VALUE {'a': 'it''s', 'b': [1, -2.50], 'c': <<?>>, 'd': {}}",
                "INSERT INTO t VALUE {'a': {\"S\":\"it's\"}, 'b': [{\"N\":\"1\"}, {\"N\":\"-2.5\"}], 'c': <<?0>>, 'd': "
                "{}}"},
           Case{"UPDATE t SET a = ?, b.c = list_append(b.c, ?) SET d = 1 REMOVE e[0] WHERE pk = ? RETURNING MODIFIED "
                "NEW *",
                "UPDATE t SET a = ?0 SET b.c = list_append(b.c, ?1) SET d = {\"N\":\"1\"} REMOVE e[0] WHERE (pk = ?2) "
                "RETURNING MODIFIED NEW *"},
           Case{"DELETE FROM t WHERE pk = 1 RETURNING ALL OLD *",
                "DELETE FROM t WHERE (pk = {\"N\":\"1\"}) RETURNING ALL OLD *"},
           Case{"EXISTS(SELECT * FROM t WHERE a IS NOT MISSING)", "EXISTS(SELECT * FROM t WHERE (NOT (a IS MISSING)))"},
       }) {
    EXPECT_EQ(printed(text), tree) << text;
  }
}

TEST(PartiqlParser, BindsOperatorsAsSqlDoes) {
  struct Case {
    std::string_view condition, tree;
  };
  for (const auto& [condition, tree] : {
           Case{"a = b OR c = d AND e = f", "((a = b) OR ((c = d) AND (e = f)))"},
           Case{"NOT a = b AND c <> d", "((NOT (a = b)) AND (c <> d))"},
           Case{"NOT NOT a < b", "(NOT (NOT (a < b)))"},
           Case{"a BETWEEN b AND c AND d >= e", "((a BETWEEN b AND c) AND (d >= e))"},
           Case{"a NOT BETWEEN b AND c", "(NOT (a BETWEEN b AND c))"},
           Case{"a IN [b, c] AND d IN (e, f)", "((a IN [b, c]) AND (d IN [e, f]))"},
           Case{"a NOT IN (b, c)", "(NOT (a IN [b, c]))"},
           Case{"a + b - c = d", "(((a + b) - c) = d)"},
           Case{"a = - - 1", "(a = {\"N\":\"1\"})"},
           Case{"a=-1", "(a = {\"N\":\"-1\"})"},
           Case{"a=b-1", "(a = (b - {\"N\":\"1\"}))"},
           Case{"a = -b", "(a = (-b))"},
           Case{"a = b = true", "((a = b) = {\"BOOL\":true})"},
           Case{"(a = b) = (c = d)", "((a = b) = (c = d))"},
           Case{"Size(a) > 1 and Begins_With(\"b\", 'x')",
                "((size(a) > {\"N\":\"1\"}) AND begins_with(b, {\"S\":\"x\"}))"},
           Case{"a is null or b IS STRING", "((a IS NULL) OR (b IS STRING))"},
           Case{"a = {'x': <<'y'>>} AND b = [[1]]", "((a = {'x': <<{\"S\":\"y\"}>>}) AND (b = [[{\"N\":\"1\"}]]))"},
           Case{"a -- comment\n = /* b */ 'c--d'", "(a = {\"S\":\"c--d\"})"},
           Case{"\"a\"\"b\" = 'c'", "(a\"b = {\"S\":\"c\"})"},
           Case{"a != .5e1", "(a <> {\"N\":\"5\"})"},
           Case{"a LIKE 'x' OR a * 2 = 3", "((a LIKE {\"S\":\"x\"}) OR ((a * {\"N\":\"2\"}) = {\"N\":\"3\"}))"},
       }) {
    EXPECT_EQ(printed("SELECT * FROM t WHERE " + std::string(condition)), "SELECT * FROM t WHERE " + std::string(tree))
        << condition;
  }
}

TEST(PartiqlParser, SaysWhereAStatementStopsMakingSense) {
  struct Case {
    std::string_view text;
    std::size_t at;
    std::string_view message;
  };
  for (const auto& [text, at, message] : {
           Case{"", 0, "Expected data manipulation"},
           Case{"SLECT * FROM t", 0, "Expected data manipulation"},
           Case{"SELECT FROM t", 7, "Unexpected keyword"},
           Case{"SELECT * FORM t", 9, "Expected FROM"},
           Case{"SELECT * FROM", 13, "Expected identifier for table"},
           Case{"SELECT * FROM t WHERE", 21, "Unexpected end of expression"},
           Case{"SELECT * FROM t WHERE a =", 25, "Unexpected end of expression"},
           Case{"SELECT * FROM t WHERE a = 1 b", 28, "Unexpected token after expression"},
           Case{"SELECT * FROM t WHERE (a = 1", 28, "Expected RIGHT_PAREN"},
           Case{"SELECT * FROM t WHERE size(a = 1", 32, "Expected RIGHT_PAREN"},
           Case{"SELECT * FROM t WHERE a IN [1", 29, "Expected RIGHT_BRACKET"},
           Case{"SELECT * FROM t WHERE a BETWEEN 1 OR 2", 34, "Expected AND after BETWEEN"},
           Case{"SELECT * FROM t WHERE a. = 1", 25, "Invalid path dot component"},
           Case{"SELECT * FROM t WHERE a = 'x", 26, ""},
           Case{"SELECT * FROM t WHERE a = 1 /* x", 28, ""},
           Case{"SELECT * FROM t WHERE a = #", 26, ""},
           Case{"SELECT * FROM t WHERE a = 12ab", 26, ""},
           Case{"INSERT t VALUE {}", 7, "Expected INTO after INSERT"},
           Case{"INSERT INTO t {}", 14, "Expected VALUE after INSERT INTO"},
           Case{"INSERT INTO t VALUE {'a' 1}", 25, "Expected COLON"},
           Case{"UPDATE t WHERE a = 1", 9, "Expected data manipulation"},
           Case{"UPDATE t SET WHERE", 13, "Expected assignment for SET"},
           Case{"UPDATE t SET a 1 WHERE", 15, "Expected '=' for SET assignment"},
           Case{"DELETE t", 7, "Expected FROM after DELETE"},
           Case{"SELECT * FROM t; SELECT * FROM t", 17, "Unexpected token after expression"},
       }) {
    std::size_t error_at = 999;
    const auto statement = parse(text, &error_at);
    ASSERT_FALSE(statement) << text;
    EXPECT_EQ(statement.error().message, "Statement wasn't well formed, can't be processed: " + std::string(message))
        << text;
    EXPECT_EQ(error_at, at) << text;
  }
}

TEST(PartiqlParser, RefusesWhatDynamoDbHasNot) {
  struct Case {
    std::string_view text, message;
  };
  for (const auto& [text, message] : {
           Case{"SELECT *, a FROM t", "Other attributes should not be present in the projection when '*' is used."},
           Case{"SELECT a, b.a FROM t", "Duplicate identifiers in select clause: a"},
           Case{"SELECT size(a) FROM t", "Unexpected path component at 1:8:4"},
           Case{"SELECT a b FROM t", "Aliasing is not supported at 1:10:1"},
           Case{"SELECT * FROM t AS x", "Aliasing is not supported at 1:20:1"},
           Case{"SELECT * FROM t, u", "Only select from a single table or index is supported."},
           Case{"SELECT * FROM t\nLIMIT 10", "Unsupported clause: LIMIT at 2:7:2"},
           Case{"SELECT VALUE a FROM t", "Select projection doesn't support value or pivot keywords at 1:8:5"},
           Case{"SELECT a[*] FROM t", "Wildcard path component like a[*].b are not supported at 1:10:1"},
           Case{"SELECT a.* FROM t", "Unpivot path component like a.*.b are not supported at 1:10:1"},
           Case{"SELECT a[-1] FROM t", "List index is not within the allowable range; index: [-1] at 1:11:1"},
           Case{"SELECT a[1.5] FROM t", "List index is not within the allowable range; index: [1.5] at 1:10:3"},
           Case{"SELECT * FROM \"t\".\"\"", "Path component cannot be an empty string"},
           Case{"SELECT * FROM t WHERE a = MISSING", "MISSING must be compared using IS operator at 1:27:7"},
           Case{"INSERT INTO t VALUE {a: 1}",
                "Tuple keys must be of type String. Actual type: Path under root at 1:22:1"},
           Case{"INSERT INTO t VALUE {'a': 1e999}",
                "Number overflow. Attempting to store a number with magnitude larger than supported range"},
           Case{"CREATE TABLE t", "Unsupported operation: CREATE"},
       }) {
    EXPECT_EQ(printed(text), message) << text;
  }
  // A later malformed part is reported first.
  EXPECT_EQ(printed("SELECT *, a FROM t WHERE ("),
            "Statement wasn't well formed, can't be processed: Unexpected end of expression");
}

TEST(PartiqlParser, CountsPositionsInCharacters) {
  EXPECT_EQ(printed("SELECT \"é\", size(a) FROM t"), "Unexpected path component at 1:13:4");
}

TEST(PartiqlParser, BoundsDepthAndTakesAnyWidth) {
  const auto repeat = [](std::string_view text, int times) {
    std::string out;
    for (int i = 0; i < times; ++i) out += text;
    return out;
  };
  const std::string select = "SELECT * FROM t WHERE ";
  for (const auto& [open, close] :
       {std::pair("(", ")"), std::pair("[", "]"), std::pair("<<", ">>"), std::pair("{'a':", "}"),
        std::pair("size(", ")"), std::pair("NOT ", ""), std::pair("- ", ""), std::pair("a = ", "")}) {
    for (const int times : {1000, 1600}) {
      const auto statement = parse(select + repeat(open, times) + "a" + repeat(close, times));
      if (std::string_view(open) == "- ") {
        EXPECT_TRUE(statement);  // signs add up
      } else {
        ASSERT_FALSE(statement) << open;
        EXPECT_EQ(statement.error().message,
                  "Statement wasn't well formed, can't be processed: Expression is nested too deep");
      }
    }
  }
  EXPECT_TRUE(parse(select + repeat("(", 90) + "a = 1" + repeat(")", 90)));
  EXPECT_TRUE(parse(select + repeat("a = 1 AND ", 700) + "a = 1"));
  EXPECT_TRUE(parse(select + "a IN [" + repeat("1,", 3000) + "1]"));
  EXPECT_FALSE(parse(std::string(100'000, '(')));
}

// Whatever comes in, there is a statement or a message; a statement printed and parsed again keeps its shape.
TEST(PartiqlParser, SurvivesAnything) {
  static constexpr std::array kPieces = {
      "SELECT",   "INSERT INTO", "UPDATE", "DELETE FROM", "FROM", "WHERE",   "SET",    "REMOVE",  "RETURNING ALL OLD *",
      "ORDER BY", "AND",         "OR",     "NOT",         "IN",   "BETWEEN", "IS",     "MISSING", "NULL",
      "VALUE",    "a",           "\"b\"",  "t",           "'s'",  "1",       "-1.5e3", "?",       "=",
      "<>",       "<",           "<=",     ">",           ">=",   "<<",      ">>",     "(",       ")",
      "[",        "]",           "{",      "}",           ",",    ".",       ":",      ";",       "*",
      "+",        "-",           "/",      "'",           "\"",   "/*",      "--",     "\n",      "size(",
      "set_add(", "EXISTS(",     "true",   "\xC3\xA9",    "\x80", "#"};
  static constexpr std::array kSeeds = {"SELECT * FROM t WHERE ",
                                        "UPDATE t SET a = ", "INSERT INTO t VALUE {'a': ", ""};
  std::mt19937 random(20261115);
  std::size_t parsed = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = kSeeds[random() % kSeeds.size()];
    for (auto pieces = random() % 14; pieces > 0; --pieces)
      text += std::string(kPieces[random() % kPieces.size()]) + " ";
    std::size_t at = 0;
    const auto statement = parse(text, &at);
    if (statement) {
      ++parsed;
      EXPECT_FALSE(print(*statement).empty());
    } else {
      EXPECT_LE(at, text.size()) << text;
      EXPECT_FALSE(statement.error().message.empty());
    }
  }
  EXPECT_GT(parsed, 100U);
}

}  // namespace
}  // namespace stator::expr::partiql
