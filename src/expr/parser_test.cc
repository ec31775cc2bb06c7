#include "stator/expr/parser.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "stator/expr/lexer.h"

namespace stator::expr {
namespace {

// The tree as text, or the message without "Invalid ...Expression: ".
std::string parsed(Kind kind, std::string_view text) {
  const auto tree = parse(kind, text);
  if (tree) return print(**tree);
  const std::string prefix = fmt::format("Invalid {}: ", parameter_name(kind));
  EXPECT_TRUE(tree.error().message.starts_with(prefix)) << tree.error().message;
  EXPECT_EQ(tree.error().code, ErrorCode::Validation);
  return tree.error().message.substr(prefix.size());
}

struct Case {
  std::string_view text;
  std::string_view expected;
};

void expect_all(Kind kind, std::initializer_list<Case> cases) {
  for (const auto& [text, expected] : cases) EXPECT_EQ(parsed(kind, text), expected) << text;
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

TEST(ParseCondition, ReadsWhatDynamoDbReads) {
  expect_all(Kind::Condition, {
                                  {"a=:b", "a = :b"},
                                  {" a <> :b\n", "a <> :b"},
                                  {"a<b", "a < b"},
                                  {"a <= b", "a <= b"},
                                  {":a > b", ":a > b"},
                                  {"a>=:b", "a >= :b"},
                                  {"a between :b and :c", "a BETWEEN :b AND :c"},
                                  {"a In (:b,:c , d)", "a IN (:b, :c, d)"},
                                  {"a.#b[3].c[0][1] = :v", "a.#b[3].c[0][1] = :v"},
                                  {"a . b [ 1 ] = :v", "a.b[1] = :v"},
                                  {"size(a) > :n", "size(a) > :n"},
                                  {"attribute_exists(a)", "attribute_exists(a)"},
                                  {"attribute_not_exists (a)", "attribute_not_exists(a)"},
                                  {"attribute_type(a, :t)", "attribute_type(a, :t)"},
                                  {"begins_with(a, :p)", "begins_with(a, :p)"},
                                  {"contains(a, size(b))", "contains(a, size(b))"},
                                  {"#1 = :1", "#1 = :1"},
                                  {"#_a = :_", "#_a = :_"},
                                  {"A1_ = :v", "A1_ = :v"},
                              });
}

TEST(ParseCondition, BindsNotThenAndThenOr) {
  expect_all(Kind::Condition, {
                                  {"a=b AND c=d AND e=f", "(a = b) AND (c = d) AND (e = f)"},
                                  {"a=b or c=d AND e=f or g=h", "(a = b) OR ((c = d) AND (e = f)) OR (g = h)"},
                                  {"NOT a=b AND c=d", "(NOT (a = b)) AND (c = d)"},
                                  {"not not a=b", "NOT (NOT (a = b))"},
                                  {"NOT (a=b AND c=d)", "NOT ((a = b) AND (c = d))"},
                                  {"a BETWEEN b AND c AND d=e", "(a BETWEEN b AND c) AND (d = e)"},
                                  {"(a=b OR c=d) AND e=f", "((a = b) OR (c = d)) AND (e = f)"},
                                  {"(a=b AND c=d) AND e=f", "((a = b) AND (c = d)) AND (e = f)"},
                              });
}

TEST(ParseCondition, AllowsOnePairOfParentheses) {
  expect_all(Kind::Condition, {
                                  {"(a = b)", "a = b"},
                                  {"((a = b) AND (c = d))", "(a = b) AND (c = d)"},
                                  {"(a) = (:b)", "a = :b"},
                                  {"((a) = b)", "a = b"},
                                  {"(a.b).c[1] = :v", "a.b.c[1] = :v"},
                                  {"(a)[1] = :v", "a[1] = :v"},
                                  {"contains((a), (:b))", "contains(a, :b)"},
                                  {"(attribute_exists(a))", "attribute_exists(a)"},
                                  {"((a = b))", "The expression has redundant parentheses;"},
                                  {"((a)) = b", "The expression has redundant parentheses;"},
                                  {"a = ((b))", "The expression has redundant parentheses;"},
                                  {"a = b AND ((c = d OR e = f))", "The expression has redundant parentheses;"},
                                  {"(a) between (((b.c)).d) and (c)", "The expression has redundant parentheses;"},
                                  {"a > whatever((:b), ((c)))", "The expression has redundant parentheses;"},
                              });
}

TEST(ParseCondition, ShowsTheTokenOfASyntaxErrorAndItsNeighbours) {
  expect_all(Kind::Condition, {
                                  {"a", R"(Syntax error; token: "<EOF>", near: "a")"},
                                  {"a =", R"(Syntax error; token: "<EOF>", near: "=")"},
                                  {"a-b", R"(Syntax error; token: "-", near: "a-b")"},
                                  {"a AND b = c", R"(Syntax error; token: "AND", near: "a AND b")"},
                                  {"a == :b", R"(Syntax error; token: "=", near: "== :b")"},
                                  {"a != :b", R"(Syntax error; token: "!", near: "a !=")"},
                                  {"a = 1", R"(Syntax error; token: "1", near: "= 1")"},
                                  {"a = 4WHERE", R"(Syntax error; token: "4", near: "= 4WHERE")"},
                                  {"a = : b", R"(Syntax error; token: ":", near: "= : b")"},
                                  {"_a = :b", R"(Syntax error; token: "_", near: "_a")"},
                                  {"a = :b c", R"(Syntax error; token: "c", near: ":b c")"},
                                  {"a IN ()", R"~(Syntax error; token: ")", near: "()")~"},
                                  {"a IN :b", R"(Syntax error; token: ":b", near: "IN :b")"},
                                  {"size() = :b", R"~(Syntax error; token: ")", near: "() =")~"},
                                  {"(a = :b", R"(Syntax error; token: "<EOF>", near: ":b")"},
                                  {"a = :b)", R"~(Syntax error; token: ")", near: ":b)")~"},
                                  {"(a = b) = c", R"(Syntax error; token: "=", near: ") = c")"},
                                  {"a = (b = c)", R"(Syntax error; token: "=", near: "b = c")"},
                                  {"(a) AND b = c", R"(Syntax error; token: "AND", near: ") AND b")"},
                                  {"a = b c = d", R"(Syntax error; token: "c", near: "b c =")"},
                                  {"a BETWEEN :b OR :c", R"(Syntax error; token: "OR", near: ":b OR :c")"},
                                  {"AND = :b", R"(Syntax error; token: "AND", near: "AND =")"},
                                  {"a.and = :b", R"(Syntax error; token: "and", near: ".and =")"},
                                  {"NOT a", R"(Syntax error; token: "<EOF>", near: "a")"},
                                  {":a.b = c", R"(Syntax error; token: ".", near: ":a.b")"},
                                  {"a[:i] = :b", R"(Syntax error; token: ":i", near: "[:i]")"},
                                  {"a[] = :b", R"(Syntax error; token: "]", near: "[] =")"},
                                  {"a[-1] = :b", R"(Syntax error; token: "-", near: "[-1")"},
                                  {"a..b = :b", R"(Syntax error; token: ".", near: "..b")"},
                                  {"(size(a)).b > c", R"~(Syntax error; token: ".", near: ").b")~"},
                                  {"a + b = :c", R"(Syntax error; token: "+", near: "a + b")"},
                                  {"a = \"b\"", "Syntax error; token: \"\"\", near: \"= \"b\""},
                                  {"a = \xC3\xA9", "Syntax error; token: \"\xC3\xA9\", near: \"= \xC3\xA9\""},
                                  {"a =\t\n )", "Syntax error; token: \")\", near: \"=\t\n )\""},
                              });
}

TEST(ParseCondition, RefusesFunctionsThatAreUnknownOrMisplaced) {
  expect_all(
      Kind::Condition,
      {
          {"foo(a)", "Invalid function name; function: foo"},
          {"a = foo(b, c)", "Invalid function name; function: foo"},
          {"SIZE(a) = :n", "Invalid function name; function: SIZE"},
          {"if_not_exists(a, :b)", "The function is not allowed in a condition expression; function: if_not_exists"},
          {"size(a)", "The function is not allowed to be used this way in an expression; function: size"},
          {"a = b AND (size(a))", "The function is not allowed to be used this way in an expression; function: size"},
          {"NOT size(a)", "The function is not allowed to be used this way in an expression; function: size"},
          {"attribute_exists(a) = :b",
           "The function is not allowed to be used this way in an expression; function: attribute_exists"},
          {"a IN (contains(b, c))",
           "The function is not allowed to be used this way in an expression; function: contains"},
          {"size(attribute_exists(a)) = :b",
           "The function is not allowed to be used this way in an expression; function: attribute_exists"},
      });
}

TEST(ParseCondition, RefusesReservedWordsInAnyCase) {
  expect_all(Kind::Condition,
             {
                 {"name = :n", "Attribute name is a reserved keyword; reserved keyword: name"},
                 {"a.Status = :n AND name = :n", "Attribute name is a reserved keyword; reserved keyword: Status"},
                 {"set = :n", "Attribute name is a reserved keyword; reserved keyword: set"},
                 {"#name.zone = :n", "Attribute name is a reserved keyword; reserved keyword: zone"},
                 {"names1 = :n", "names1 = :n"},
             });
}

TEST(ParseCondition, ReportsKindsOfMistakesInDynamoDbsOrder) {
  expect_all(
      Kind::Condition,
      {
          {"name = foo(size(a)) AND ((a = b)) AND", R"(Syntax error; token: "<EOF>", near: "AND")"},
          {"name = foo(a) AND size(b) AND ((a = b))", "The expression has redundant parentheses;"},
          {"size(b) AND name = foo(a)", "Invalid function name; function: foo"},
          {"name = :n AND size(b)", "The function is not allowed to be used this way in an expression; function: size"},
      });
}

TEST(ParseProjection, ReadsPaths) {
  expect_all(Kind::Projection,
             {
                 {"a", "a"},
                 {" a ,#b.c[2], d ", "a, #b.c[2], d"},
                 {"a,", R"(Syntax error; token: "<EOF>", near: ",")"},
                 {",a", R"(Syntax error; token: ",", near: ",a")"},
                 {"a,,b", R"(Syntax error; token: ",", near: ",,b")"},
                 {"a b", R"(Syntax error; token: "b", near: "a b")"},
                 {"(a)", R"(Syntax error; token: "(", near: "(a")"},
                 {":v", R"(Syntax error; token: ":v", near: ":v")"},
                 {"a, and", "Attribute name is a reserved keyword; reserved keyword: and"},
                 {"a[2147483647]", "a[2147483647]"},
                 {"a[007]", "a[7]"},
                 {"a[99999999999999]", "List index is not within the allowable range; index: [99999999999999]"},
             });
}

TEST(ParseUpdate, ReadsSections) {
  expect_all(
      Kind::Update,
      {
          {"set a=:b", "SET a = :b"},
          {"SET a = :b, c.d[1] = e REMOVE f, g[0] ADD h :i DELETE j :k, l :m",
           "SET a = :b, c.d[1] = e REMOVE f, g[0] ADD h :i DELETE j :k, l :m"},
          {"REMOVE a SET b = a + :c", "REMOVE a SET b = a + :c"},
          {"SET a = b-:c", "SET a = b - :c"},
          {"SET a = (b + :c)", "SET a = b + :c"},
          {"SET a = ((b) + (:c))", "SET a = b + :c"},
          {"SET a = if_not_exists(a, :z) + :o", "SET a = if_not_exists(a, :z) + :o"},
          {"SET a = list_append(if_not_exists(a, :e), :v)", "SET a = list_append(if_not_exists(a, :e), :v)"},
          {"SET a = if_not_exists(b, if_not_exists(c, :d))", "SET a = if_not_exists(b, if_not_exists(c, :d))"},
          {"SET a = :b SET c = :d", "The \"SET\" section can only be used once in an update expression;"},
          {"REMOVE a SET c = :d remove b", "The \"REMOVE\" section can only be used once in an update expression;"},
      });
}

TEST(ParseUpdate, RefusesWhatDynamoDbRefuses) {
  expect_all(Kind::Update,
             {
                 {"INVALID SYNTAX HERE", R"(Syntax error; token: "INVALID", near: "INVALID SYNTAX")"},
                 {"SET", R"(Syntax error; token: "<EOF>", near: "SET")"},
                 {"SET a = :b,", R"(Syntax error; token: "<EOF>", near: ",")"},
                 {"SET _123 = :val1", R"(Syntax error; token: "_", near: "SET _123")"},
                 {"SET MyStr = myNum + 1", R"(Syntax error; token: "1", near: "+ 1")"},
                 {"SET a = b Mystr2 c", R"(Syntax error; token: "Mystr2", near: "b Mystr2 c")"},
                 {"ADD hits : incr", R"(Syntax error; token: ":", near: "hits : incr")"},
                 {"SET a = (b.c).d + e", R"~(Syntax error; token: ".", near: ").d")~"},
                 {"SET (a = b)", R"~(Syntax error; token: "(", near: "SET (a")~"},
                 {"SET a = b + c + d", R"(Syntax error; token: "+", near: "c + d")"},
                 {"SET a = (b + c) + d", R"(Syntax error; token: "+", near: ") + d")"},
                 {"SET a = if_not_exists(a, :b + :c)", R"(Syntax error; token: "+", near: ":b + :c")"},
                 {"SET :a = :b", R"(Syntax error; token: ":a", near: "SET :a =")"},
                 {"SET a = :b = c", R"(Syntax error; token: "=", near: ":b = c")"},
                 {"ADD a b", R"(Syntax error; token: "b", near: "a b")"},
                 {"ADD a (:b)", R"(Syntax error; token: "(", near: "a (:b")"},
                 {"REMOVE a = :b", R"(Syntax error; token: "=", near: "a = :b")"},
                 {"SET a = set", R"(Syntax error; token: "set", near: "= set")"},
                 {"SET name = f(:b)", "Attribute name is a reserved keyword; reserved keyword: name"},
                 {"SET a = f(:b) SET c = :d", "Invalid function name; function: f"},
                 {"SET a = LIST_APPEND(:b, :c)", "Invalid function name; function: LIST_APPEND"},
                 {"SET a = attribute_exists(b)",
                  "The function is not allowed in an update expression; function: attribute_exists"},
                 {"SET a = list_append(list_append(:b, :c), :d)",
                  "The function is not allowed to be used this way in an expression; function: list_append"},
             });
}

TEST(Parse, LimitsTheText) {
  EXPECT_EQ(parsed(Kind::Filter, ""), "The expression can not be empty;");
  EXPECT_EQ(parsed(Kind::Filter, " \n"), "The expression can not be empty;");
  EXPECT_EQ(parsed(Kind::Projection, std::string(4096, 'x')), std::string(4096, 'x'));
  for (const Kind kind : {Kind::Projection, Kind::Update, Kind::KeyCondition}) {
    EXPECT_EQ(parsed(kind, std::string(4097, 'x')), "Expression size has exceeded the maximum allowed size;");
  }
  for (const Kind kind : {Kind::Condition, Kind::Filter}) {
    EXPECT_EQ(parsed(kind, std::string(4097, 'x')),
              "Expression size has exceeded the maximum allowed size; expression size: 4097");
  }
}

TEST(Parse, LimitsOperators) {
  const std::string too_many = "The expression contains too many operators; operator count: 301";
  EXPECT_NE(parsed(Kind::Condition, "a<b" + repeated(" or a<b", 149)), too_many);  // 299 operators
  EXPECT_EQ(parsed(Kind::Condition, "a<b" + repeated(" or a<b", 151)), too_many);
  EXPECT_NE(parsed(Kind::Condition, "a<b " + repeated("or (a<b ", 149) + repeated(")", 149)), too_many);
  EXPECT_EQ(parsed(Kind::Condition, "a<b " + repeated("or (a<b ", 350) + repeated(")", 350)), too_many);
  EXPECT_NE(parsed(Kind::Condition, repeated("not ", 299) + "a<b"), too_many);
  EXPECT_EQ(parsed(Kind::Condition, repeated("not ", 1000) + "a<b"), too_many);
}

TEST(Parse, LimitsPaths) {
  EXPECT_EQ(parsed(Kind::Projection, "a" + repeated(".b", 31)), "a" + repeated(".b", 31));
  EXPECT_EQ(parsed(Kind::Projection, "a" + repeated(".b", 32)),
            "The document path has too many nesting levels; nesting levels: 33");
  EXPECT_EQ(parsed(Kind::Update, "REMOVE a" + repeated("[0]", 40)),
            "The document path has too many nesting levels; nesting levels: 41");
}

TEST(Parse, SurvivesDeepNesting) {
  const std::string redundant = "The expression has redundant parentheses;";
  for (const Kind kind : {Kind::Condition, Kind::KeyCondition}) {
    EXPECT_EQ(parsed(kind, repeated("(", 4096)), R"(Syntax error; token: "<EOF>", near: "(")");
    EXPECT_EQ(parsed(kind, repeated("(", 2046) + "a<b" + repeated(")", 2046)), redundant);
    EXPECT_EQ(parsed(kind, "a = " + repeated("(", 2000) + "b" + repeated(")", 2000)), redundant);
    EXPECT_EQ(parsed(kind, "a < " + repeated("f(", 1355) + "b" + repeated(")", 1355)),
              "Invalid function name; function: f");
    EXPECT_EQ(parsed(kind, "a < " + repeated("size(", 680) + "b" + repeated(")", 680)),
              "The expression contains too many operators; operator count: 301");
  }
  EXPECT_EQ(parsed(Kind::Update, "SET a = " + repeated("(", 2000) + "b" + repeated(")", 2000)), redundant);
  EXPECT_EQ(parsed(Kind::Update, "SET a = " + repeated("(", 2000)), R"(Syntax error; token: "<EOF>", near: "(")");
}

TEST(Parse, KeepsPositions) {
  const auto tree = parse(Kind::Condition, "  abc = :v AND  NOT size(d) < e");
  ASSERT_TRUE(tree);
  std::vector<std::pair<Op, std::size_t>> positions;
  for (const Node& node : (*tree)->nodes) positions.emplace_back(node.op, node.position);
  const std::vector<std::pair<Op, std::size_t>> expected = {{Op::Path, 2},  {Op::Value, 8}, {Op::Equal, 2},
                                                            {Op::Path, 25}, {Op::Size, 20}, {Op::Path, 30},
                                                            {Op::Less, 20}, {Op::Not, 16},  {Op::And, 2}};
  EXPECT_EQ(positions, expected);
}

}  // namespace
}  // namespace stator::expr
