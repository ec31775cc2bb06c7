#include "stator/expr/condition.h"

#include <gtest/gtest.h>

#include "stator/expr/test_support.h"

namespace stator::expr {
namespace {

using testing::item;
using testing::values;

constexpr std::string_view kItem =
    R"({"s":{"S":"hello"},"n":{"N":"42"},"b":{"B":"f4A="},"t":{"BOOL":true},"nul":{"NULL":true},"ss":{"SS":["x","y"]},)"
    R"("ns":{"NS":["1","2.50"]},"bs":{"BS":["AQ=="]},"l":{"L":[{"N":"1"},{"S":"two"},{"M":{"deep":{"S":"yes"}}}]},)"
    R"("m":{"M":{"k":{"N":"7"},"l":{"L":[]}}},"n2":{"N":"42.0"},"e":{"S":""},"u":{"S":"\u00e9\ud834\udd1e"}})";
constexpr std::string_view kValues =
    R"({":hello":{"S":"hello"},":hell":{"S":"hell"},":z":{"S":"z"},":42":{"N":"4.2E1"},":0":{"N":"0"},":1":{"N":"1"},)"
    R"(":2":{"N":"2"},":3":{"N":"3"},":5":{"N":"5"},":100":{"N":"100"},":b":{"B":"f4A="},":b7f":{"B":"fw=="},":b80":{"B":"gA=="},)"
    R"(":true":{"BOOL":true},":false":{"BOOL":false},":nil":{"NULL":true},":yx":{"SS":["y","x"]},":25":{"N":"2.5"},)"
    R"(":x":{"S":"x"},":map":{"M":{"l":{"L":[]},"k":{"N":"7"}}},":empty":{"S":""},":deep":{"M":{"deep":{"S":"yes"}}},)"
    R"(":S":{"S":"S"},":N":{"S":"N"},":NULL":{"S":"NULL"},":BOOL":{"S":"BOOL"},":L":{"S":"L"},":M":{"S":"M"},":SS":{"S":"SS"}})";

bool matches(std::string_view text) {
  Cache cache;
  Binder binder(std::nullopt, values(kValues), cache);
  const auto condition = binder.condition(Kind::Condition, text);
  if (!condition) {
    ADD_FAILURE() << condition.error().message;
    return false;
  }
  return condition->matches(item(kItem));
}

TEST(Condition, HoldsWhereDynamoDbSaysSo) {
  for (const std::string_view text : {
           "s = :hello",
           "n = :42",
           "n = n2",
           "b = :b",
           "t = :true",
           "ss = :yx",
           "m = :map",
           "l[2] = :deep",
           "s <> :z",
           "s <> :42",      // another type
           "gone <> :42",   // missing on one side
           "gone <> lost",  // or on both
           "n > :5",
           "n >= :42",
           "n <= n2",
           "s < :z",
           "b > :b7f",
           "b < :b80",  // unsigned bytes
           "n BETWEEN :5 AND :100",
           "n BETWEEN :42 AND :42",
           ":5 BETWEEN :1 AND n",
           "s IN (:42, gone, :hello)",
           "m.k IN (:1, m.k)",
           "attribute_exists(l[2].deep)",
           "attribute_exists(e)",
           "attribute_not_exists(l[3])",
           "attribute_not_exists(s.x)",
           "attribute_not_exists(m[0])",
           "attribute_type(s, :S)",
           "attribute_type(n, :N)",
           "attribute_type(t, :BOOL)",
           "attribute_type(l, :L)",
           "attribute_type(m, :M)",
           "attribute_type(ss, :SS)",
           "attribute_type(:1, :N)",
           "begins_with(s, :hell)",
           "begins_with(s, :empty)",
           "begins_with(b, :b7f)",
           "begins_with(:hello, :hell)",
           "contains(s, :hell)",
           "contains(b, :b80)",
           "contains(ss, :x)",
           "contains(ns, :25)",
           "contains(l, :1)",
           "contains(l, :deep)",
           "contains(:yx, :x)",
           "size(s) = :5",
           "size(u) = :3",  // one and two UTF-16 units
           "size(b) = :2",
           "size(ss) = :2",
           "size(ns) = :2",
           "size(bs) = :1",
           "size(l) = :3",
           "size(m) = :2",
           "size(m.l) = :0",
           "size(s) BETWEEN :1 AND :5",
           "size(ss) IN (:1, :2)",
           "size(ss) = size(m)",
           "contains(ns, size(bs))",
           "size(n) <> :1",  // a number has no size, so this is something missing
           "NOT s = :z",
           "NOT gone = :z",
           "NOT gone < :1",
           "s = :z OR n = :42 AND t = :true",
           "NOT (s = :hello AND n = :1)",
       }) {
    EXPECT_TRUE(matches(text)) << text;
  }
}

TEST(Condition, FailsWhereDynamoDbSaysSo) {
  for (const std::string_view text : {
           "s = :z",
           "s = :42",
           "gone = :42",
           "gone = lost",
           "n <> n2",
           "ss <> :yx",
           "s < :42",
           "gone < :42",
           "gone >= lost",
           ":z < gone",
           "t = :false",
           "l < :42",
           "n BETWEEN :1 AND :5",
           "n BETWEEN gone AND :100",
           "s BETWEEN :1 AND :100",
           "n IN (:1, :2)",
           "gone IN (gone.x, :nil)",
           "attribute_exists(gone)",
           "attribute_exists(m.gone)",
           "attribute_not_exists(nul)",
           "attribute_type(s, :N)",
           "attribute_type(gone, :NULL)",
           "begins_with(s, :z)",
           "begins_with(n, :hell)",
           "begins_with(s, :b)",
           "begins_with(gone, :hell)",
           "contains(s, :42)",
           "contains(ss, :yx)",
           "contains(ns, :x)",
           "contains(m, :x)",
           "contains(t, :true)",
           "contains(n, :2)",
           "size(n) = :1",
           "size(gone) = :1",
           "size(t) > :0",
           "NOT s = :hello",
           "s = :hello AND n = :1",
           "s = :z OR n = :1",
       }) {
    EXPECT_FALSE(matches(text)) << text;
  }
}

TEST(Condition, NamesTheAttributesItReads) {
  Cache cache;
  Binder binder(Names{{"#a", "x.y"}}, values(R"({":v":{"N":"1"}})"), cache);
  const auto condition =
      binder.condition(Kind::Filter, "b.c = :v AND (#a[0] < size(d) OR contains(b, :v)) AND NOT e = :v");
  ASSERT_TRUE(condition);
  EXPECT_EQ(condition->attributes(), (std::vector<std::string_view>{"b", "x.y", "d", "e"}));
  EXPECT_EQ(condition->nested_attributes(), (std::vector<std::string_view>{"b", "x.y"}));
}

TEST(Condition, IsBuiltWithoutText) {
  TreeBuilder tree(Kind::Condition);
  const NodeIndex exists = tree.node(Op::AttributeNotExists, {{tree.path({"name"})}});  // reserved only in text
  const NodeIndex path = tree.path({"a b"});
  tree.step(path, 1);
  tree.node(Op::Or, {{exists, tree.node(Op::Equal, {{path, tree.value(":0")}})}});
  auto placeholders = std::make_shared<Placeholders>();
  placeholders->values.emplace(":0", value::AttributeValue::number(3));

  const auto condition = Condition::from_tree(tree.finish(), placeholders);
  EXPECT_TRUE(condition.matches({}));
  EXPECT_FALSE(condition.matches(item(R"({"name":{"S":""}})")));
  EXPECT_TRUE(condition.matches(item(R"({"name":{"S":""},"a b":{"L":[{"S":"0"},{"N":"3"}]}})")));
}

}  // namespace
}  // namespace stator::expr
