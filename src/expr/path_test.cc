#include "stator/expr/path.h"

#include <gtest/gtest.h>

#include "stator/expr/test_support.h"

namespace stator::expr {
namespace {

using testing::item;
using testing::json;

constexpr std::string_view kItem =
    R"({"a":{"M":{"b":{"L":[{"N":"2"},{"N":"4"},{"M":{"x":{"S":"hi"},"y":{"S":"yo"}}}]},"c":{"N":"5"}}},"b":{"S":"hello"},"p":{"S":"k"}})";

TEST(Project, KeepsWhatThePathsSelect) {
  struct Case {
    std::string_view text, expected;
  };
  for (const auto& [text, expected] : {
           Case{"b", R"({"b":{"S":"hello"}})"},
           Case{"p, b, gone", R"({"b":{"S":"hello"},"p":{"S":"k"}})"},
           Case{"a.c", R"({"a":{"M":{"c":{"N":"5"}}}})"},
           Case{"a.b[0]", R"({"a":{"M":{"b":{"L":[{"N":"2"}]}}}})"},
           Case{"a.b[2].y", R"({"a":{"M":{"b":{"L":[{"M":{"y":{"S":"yo"}}}]}}}})"},
           Case{"a.b[1], a.c, a.b[0], b",
                R"({"a":{"M":{"b":{"L":[{"N":"2"},{"N":"4"}]},"c":{"N":"5"}}},"b":{"S":"hello"}})"},
           Case{"a.b[2].x, a.b[0]", R"({"a":{"M":{"b":{"L":[{"N":"2"},{"M":{"x":{"S":"hi"}}}]}}}})"},
           Case{"a.x, a.b[0], x, a.b[3].x", R"({"a":{"M":{"b":{"L":[{"N":"2"}]}}}})"},
           Case{"x", "{}"},
           Case{"a.b[3]", "{}"},
           Case{"a.x.y", "{}"},
           Case{"a.b.x", "{}"},
           Case{"a[0]", "{}"},
           Case{"a.b[0][0]", "{}"},
           Case{"b.c", "{}"},
       }) {
    Cache cache;
    const auto projection = Binder(std::nullopt, std::nullopt, cache).projection(text);
    ASSERT_TRUE(projection) << projection.error().message;
    EXPECT_EQ(json(projection->apply(item(kItem))), expected) << text;
  }
}

TEST(Project, TakesADotInANameLiterally) {
  Cache cache;
  const auto projection = Binder(Names{{"#n", "a.b"}}, std::nullopt, cache).projection("#n");
  ASSERT_TRUE(projection);
  EXPECT_EQ(json(projection->apply(item(R"({"a":{"M":{"b":{"N":"1"}}},"a.b":{"N":"2"}})"))), R"({"a.b":{"N":"2"}})");
}

TEST(Find, FollowsAPath) {
  const auto document = item(kItem);
  const Path path{"a", {"b", 2U, "x"}};
  ASSERT_NE(find(document, path), nullptr);
  EXPECT_EQ(*find(document, path)->as_string(), "hi");
  EXPECT_EQ(path.to_string(), "[a, b, [2], x]");
  EXPECT_EQ(find(document, {"a", {"b", 3U}}), nullptr);
  EXPECT_EQ(find(document, {"gone", {}}), nullptr);
}

}  // namespace
}  // namespace stator::expr
