#include "stator/expr/update.h"

#include <gtest/gtest.h>

#include "stator/expr/test_support.h"
#include "stator/value/item_size.h"

namespace stator::expr {
namespace {

using testing::item;
using testing::json;
using testing::values;

// Values for the placeholders in these tests; :1 is the number 1, and so on.
constexpr std::string_view kValues =
    R"({":1":{"N":"1"},":2":{"N":"2"},":17":{"N":"17"},":s":{"S":"s"},":t":{"S":"t"},":e":{"L":[]},":l":{"L":[{"S":"x"}]},)"
    R"(":m":{"M":{"x":{"N":"9"}}},":ab":{"SS":["a","b"]},":bc":{"SS":["c","b"]},":n12":{"NS":["1","2"]},":n23":{"NS":["3","2"]},)"
    R"(":bin":{"BS":["AQ=="]},":huge":{"N":"9e125"}})";

std::string shown(const Result<value::Item>& result) { return result ? json(*result) : result.error().message; }

Result<Update> bound(std::string_view text) {
  Cache cache;
  return Binder(std::nullopt, values(kValues), cache).update(text);
}

struct Case {
  std::string_view before;
  std::string_view text;
  std::string_view after;
};

void expect_all(std::initializer_list<Case> cases) {
  for (const auto& [before, text, after] : cases) {
    const auto update = bound(text);
    if (!update) {
      ADD_FAILURE() << update.error().message << ": " << text;
      continue;
    }
    const auto result = update->apply(item(before));
    EXPECT_EQ(shown(result), result ? json(item(after)) : std::string(after)) << text << " on " << before;
  }
}

constexpr std::string_view kMissing = "The provided expression refers to an attribute that does not exist in the item";
constexpr std::string_view kWrongType = "An operand in the update expression has an incorrect data type";
constexpr std::string_view kBadPath = "The document path provided in the update expression is invalid for update";

TEST(UpdateSet, WritesValues) {
  expect_all({
      {R"({})", "SET a = :1", R"({"a":{"N":"1"}})"},
      {R"({"a":{"S":"old"},"z":{"N":"3"}})", "SET a = :m, b = :s",
       R"({"a":{"M":{"x":{"N":"9"}}},"b":{"S":"s"},"z":{"N":"3"}})"},
      {R"({"a":{"S":"v"}})", "SET b = a", R"({"a":{"S":"v"},"b":{"S":"v"}})"},
      {R"({"a":{"N":"1"},"b":{"N":"2"}})", "SET a = b, b = a", R"({"a":{"N":"2"},"b":{"N":"1"}})"},
      {R"({"a":{"S":"v"}})", "REMOVE a SET b = a", R"({"b":{"S":"v"}})"},
      {R"({})", "SET a = b", kMissing},
      {R"({})", "SET x = :1, y = x", kMissing},
  });
}

TEST(UpdateSet, Computes) {
  expect_all({
      {R"({"a":{"N":"2"}})", "SET a = a + :1", R"({"a":{"N":"3"}})"},
      {R"({"a":{"N":"2"}})", "SET b = :17 - a", R"({"a":{"N":"2"},"b":{"N":"15"}})"},
      {R"({})", "SET a = if_not_exists(a, :1) + :2", R"({"a":{"N":"3"}})"},
      {R"({"a":{"S":"v"}})", "SET a = if_not_exists(a, :1), b = if_not_exists(c, :2)",
       R"({"a":{"S":"v"},"b":{"N":"2"}})"},
      {R"({"c":{"N":"5"}})", "SET a = if_not_exists(b, if_not_exists(c, :1))", R"({"a":{"N":"5"},"c":{"N":"5"}})"},
      {R"({"a":{"L":[{"N":"1"}]}})", "SET a = list_append(a, :l)", R"({"a":{"L":[{"N":"1"},{"S":"x"}]}})"},
      {R"({"a":{"L":[{"N":"1"}]}})", "SET a = list_append(:l, a)", R"({"a":{"L":[{"S":"x"},{"N":"1"}]}})"},
      {R"({})", "SET a = list_append(if_not_exists(a, :e), :l)", R"({"a":{"L":[{"S":"x"}]}})"},
      {R"({})", "SET a = a + :1", kMissing},
      {R"({})", "SET a = list_append(a, :l)", kMissing},
      {R"({"a":{"S":"1"}})", "SET a = a + :1", kWrongType},
      {R"({"a":{"S":"1"}})", "SET a = list_append(:l, a)", kWrongType},
      {R"({"a":{"N":"9e125"}})", "SET a = a + :huge",
       "Number overflow. Attempting to store a number with magnitude larger than supported range"},
  });
}

TEST(UpdateSet, ReachesIntoDocuments) {
  expect_all({
      {R"({"a":{"M":{"b":{"N":"3"}}}})", "SET a.b = :1, a.c = :s", R"({"a":{"M":{"b":{"N":"1"},"c":{"S":"s"}}}})"},
      {R"({"a":{"L":[{"N":"1"},{"N":"2"}]}})", "SET a[1] = :s", R"({"a":{"L":[{"N":"1"},{"S":"s"}]}})"},
      {R"({"a":{"M":{"l":{"L":[{"N":"0"},{"M":{"x":{"N":"1"}}}]}}}})", "SET a.l[1].x = a.l[0]",
       R"({"a":{"M":{"l":{"L":[{"N":"0"},{"M":{"x":{"N":"0"}}}]}}}})"},
      // Beyond the end appends, in the order of the positions.
      {R"({"a":{"L":[{"N":"0"}]}})", "SET a[7] = :1", R"({"a":{"L":[{"N":"0"},{"N":"1"}]}})"},
      {R"({"a":{"L":[{"N":"0"}]}})", "SET a[84] = :1, a[37] = :2, a[17] = :17, a[0] = :s",
       R"({"a":{"L":[{"S":"s"},{"N":"17"},{"N":"2"},{"N":"1"}]}})"},
      {R"({"a":{"S":"s"}})", "SET a.b = :1", kBadPath},
      {R"({"a":{"L":[]}})", "SET a.b = :1", kBadPath},
      {R"({"a":{"M":{}}})", "SET a[0] = :1", kBadPath},
      {R"({"a":{"M":{}}})", "SET a.b.c = :1", kBadPath},
      {R"({"a":{"L":[]}})", "SET a[3] = :m, a[0].x = :1", kBadPath},
      {R"({})", "SET a.b = :1", kBadPath},
      {R"({})", "SET a[0] = :1", kBadPath},
  });
}

TEST(UpdateRemove, TakesAway) {
  expect_all({
      {R"({"a":{"N":"1"},"b":{"N":"2"}})", "REMOVE a, c", R"({"b":{"N":"2"}})"},
      {R"({"a":{"M":{"b":{"N":"1"}}}})", "REMOVE a.b, a.c", R"({"a":{"M":{}}})"},
      {R"({"a":{"L":[{"N":"0"}]}})", "REMOVE a[0]", R"({"a":{"L":[]}})"},
      {R"({"a":{"L":[{"N":"0"},{"N":"1"},{"N":"2"},{"N":"3"}]}})", "REMOVE a[1], a[2], a[17]",
       R"({"a":{"L":[{"N":"0"},{"N":"3"}]}})"},
      {R"({"a":{"S":"s"}})", "REMOVE a.b", kBadPath},
      {R"({"a":{"L":[]}})", "REMOVE a.b", kBadPath},
      {R"({})", "REMOVE a.b", kBadPath},
      {R"({})", "REMOVE a[0]", kBadPath},
  });
}

TEST(UpdateRemove, CountsPositionsInTheOldList) {
  constexpr std::string_view list =
      R"({"a":{"L":[{"N":"2"},{"N":"3"},{"N":"4"},{"N":"5"},{"M":{"x":{"N":"6"},"y":{"N":"7"}}}]}})";
  constexpr std::string_view changed = R"({"a":{"L":[{"N":"2"},{"N":"4"},{"N":"17"},{"M":{"y":{"N":"7"}}}]}})";
  expect_all({
      {list, "REMOVE a[1], a[4].x SET a[3] = :17", changed},
      {list, "SET a[3] = :17 REMOVE a[4].x, a[1]", changed},
      {R"({"a":{"L":[{"N":"0"}]}})", "REMOVE a[0], a[2] SET a[1] = :1", R"({"a":{"L":[{"N":"1"}]}})"},
  });
}

TEST(UpdateAdd, AddsNumbersAndUnitesSets) {
  expect_all({
      {R"({"a":{"N":"2"}})", "ADD a :1", R"({"a":{"N":"3"}})"},
      {R"({})", "ADD a :1, b :ab", R"({"a":{"N":"1"},"b":{"SS":["a","b"]}})"},
      {R"({"a":{"SS":["a","b"]}})", "ADD a :bc", R"({"a":{"SS":["a","b","c"]}})"},
      {R"({"a":{"NS":["1","2"]}})", "ADD a :n23", R"({"a":{"NS":["1","2","3"]}})"},
      {R"({"m":{"M":{}}})", "ADD m.x :1", R"({"m":{"M":{"x":{"N":"1"}}}})"},
      {R"({"l":{"L":[{"N":"4"}]}})", "ADD l[0] :1, l[5] :bin", R"({"l":{"L":[{"N":"5"},{"BS":["AQ=="]}]}})"},
      {R"({"a":{"S":"s"}})", "ADD a :1", kWrongType},
      {R"({"a":{"SS":["s"]}})", "ADD a :n12", kWrongType},
      {R"({"a":{"L":[]}})", "ADD a :ab", kWrongType},
      {R"({})", "ADD m.x :1", kBadPath},
  });
}

TEST(UpdateDelete, TakesMembersAndThenTheSet) {
  expect_all({
      {R"({"a":{"SS":["a","b","d"]}})", "DELETE a :bc", R"({"a":{"SS":["a","d"]}})"},
      {R"({"a":{"SS":["d"]}})", "DELETE a :bc", R"({"a":{"SS":["d"]}})"},
      {R"({"a":{"NS":["1","2"]},"b":{"N":"1"}})", "DELETE a :n12", R"({"b":{"N":"1"}})"},
      {R"({"l":{"L":[{"BS":["AQ=="]},{"N":"1"}]}})", "DELETE l[0] :bin", R"({"l":{"L":[{"N":"1"}]}})"},
      {R"({})", "DELETE a :ab", R"({})"},
      {R"({"a":{"NS":["1"]}})", "DELETE a :ab", kWrongType},
      {R"({"a":{"S":"a"}})", "DELETE a :ab", kWrongType},
  });
}

TEST(Update, ReportsTheFirstActionThatFails) {
  expect_all({
      {R"({})", "SET a = b, c.d = :1", kMissing},
      {R"({})", "SET c.d = :1, a = b", kBadPath},
  });
}

TEST(Update, RemovesNothingFromAnItemThatDoesNotExist) {
  const auto update = bound("REMOVE x.y, z[0] SET a = :1");
  ASSERT_TRUE(update);
  EXPECT_EQ(shown(update->create(item(R"({"pk":{"S":"k"}})"))), R"({"a":{"N":"1"},"pk":{"S":"k"}})");
  EXPECT_EQ(shown(update->apply(item(R"({"pk":{"S":"k"}})"))), kBadPath);
  const auto write = bound("SET x.y = :1");
  ASSERT_TRUE(write);
  EXPECT_EQ(shown(write->create(item(R"({"pk":{"S":"k"}})"))), kBadPath);
}

TEST(Update, RefusesToNestTooDeep) {
  value::AttributeValue deep = value::AttributeValue::number(1);
  for (int level = 1; level < value::kMaxNesting; ++level) deep = value::AttributeValue(value::List{deep});
  Cache cache;
  Binder binder(std::nullopt, Values{{":deep", deep}}, cache);
  const auto top = binder.update("SET a = :deep");
  const auto nested = binder.update("SET b[0] = :deep");
  ASSERT_TRUE(top && nested);
  EXPECT_TRUE(top->apply({}));
  EXPECT_EQ(shown(nested->apply(item(R"({"b":{"L":[]}})"))), value::nesting_error().message);
}

TEST(Update, NamesThePathsItTouches) {
  const auto update = bound("REMOVE a.b[1] SET c = if_not_exists(h[0], d) ADD e :1 DELETE f.g :ab");
  ASSERT_TRUE(update);
  std::string paths;
  for (const Path& path : update->paths()) paths += path.to_string();
  EXPECT_EQ(paths, "[a, b, [1]][c][e][f, g]");
  EXPECT_EQ(update->nested_attributes(), (std::vector<std::string_view>{"a", "h", "f"}));
}

TEST(Update, IsChargedForWhatItSays) {
  struct Charge {
    std::string_view text;
    std::size_t bytes;
  };
  for (const auto& [text, bytes] : {
           Charge{"SET a = :s", 3 + 19 + 1 + 1},
           Charge{"SET a = :s, abc = :l", 3 + (19 + 1 + 1) + (19 + 3 + 5)},
           Charge{"SET a[0] = :s", 3 + 19 + (1 + 4 + 1) + 1},
           Charge{"SET a[10] = :s", 3 + 19 + (1 + 4 + 2) + 1},
           Charge{"SET m.leaf = :s", 3 + 19 + (1 + 4 + 4) + 1},
           // Reads are free, from any place.
           Charge{"SET c = abc", 3 + 19 + 1 + (1 + 14 + 3)},
           Charge{"SET c = m.z", 3 + 19 + 1 + (1 + 14 + 1 + 14 + 1)},
           Charge{"SET c = l[10]", 3 + 19 + 1 + (1 + 14 + 1 + 14 + 2)},
           Charge{"SET n = n + :1", 3 + 19 + 1 + 34 + (1 + 14 + 1) + 2},
           Charge{"SET n = n - :1", 3 + 19 + 1 + 37 + (1 + 14 + 1) + 2},
           Charge{"SET c = if_not_exists(c, :s)", 3 + 19 + 1 + 39 + (1 + 14 + 1) + 1},
           Charge{"SET l = list_append(l, :l)", 3 + 19 + 1 + 37 + (1 + 14 + 1) + 5},
           Charge{"ADD abc :1", 3 + 19 + 3 + 2},
           Charge{"ADD ss :ab", 3 + 19 + 2 + 2},
           Charge{"REMOVE abc", 3 + 1 + 3},
           Charge{"REMOVE m.y, l[1]", 3 + (1 + 1 + 4 + 1) + (1 + 1 + 4 + 1)},
           Charge{"DELETE ss :ab", 3 + 1 + 2},
       }) {
    const auto update = bound(text);
    ASSERT_TRUE(update) << text;
    EXPECT_EQ(update->charged_bytes(), bytes) << text;
  }
}

TEST(Update, IsBuiltWithoutText) {
  TreeBuilder tree(Kind::Update);
  const NodeIndex name = tree.path({"name"});
  tree.action({Action::Section::Set, name, tree.value(":0")});
  tree.action({Action::Section::Remove, tree.path({"a.b"})});
  auto placeholders = std::make_shared<Placeholders>();
  placeholders->values.emplace(":0", value::AttributeValue::number(3));
  const auto update = Update::from_tree(tree.finish(), placeholders);
  EXPECT_EQ(shown(update.apply(item(R"({"a.b":{"S":"s"}})"))), R"({"name":{"N":"3"}})");
}

}  // namespace
}  // namespace stator::expr
