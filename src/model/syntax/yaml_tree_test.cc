#include "stator/model/syntax/yaml_tree.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace stator::model {
namespace {

// The tree in one line: {a@1:1: x@1:4, b@2:1: [1@2:5, "two"@2:8]}.
std::string printed(const YamlNode& node) {
  const auto at = [](Position position) { return fmt::format("@{}:{}", position.line, position.column); };
  std::string text;
  switch (node.kind) {
    case YamlNode::Kind::Nothing: return "nothing" + at(node.position);
    case YamlNode::Kind::Scalar:
      return fmt::format(fmt::runtime(node.quoted ? "\"{}\"{}" : "{}{}"), node.text.text, at(node.position));
    case YamlNode::Kind::List:
      for (const auto& item : node.items) text += (text.empty() ? "" : ", ") + printed(item);
      return "[" + text + "]";
    case YamlNode::Kind::Map:
      for (const auto& item : node.items)
        text +=
            fmt::format("{}{}{}: {}", text.empty() ? "" : ", ", item.key.text, at(item.key.position), printed(item));
      return "{" + text + "}";
  }
  return text;
}

// The tree, or the first diagnostic.
std::string read(std::string_view text) {
  Report report("model.yaml");
  const auto root = read_yaml(text, report);
  const auto diagnostics = std::move(report).take();
  if (diagnostics.empty()) return printed(*root);
  const auto& first = diagnostics.front();
  return fmt::format("{}:{} {}", first.position.line, first.position.column, first.code);
}

TEST(YamlTree, KeepsPlacesQuotesAndOrder) {
  EXPECT_EQ(read("b: x\na: \"y\"\nlist: [1, 'two']\n"),
            R"({b@1:1: x@1:4, a@2:1: "y"@2:4, list@3:1: [1@3:8, "two"@3:11]})");
  EXPECT_EQ(read("- a: 1\n  b: 2\n- c\n"), "[{a@1:3: 1@1:6, b@2:3: 2@2:6}, c@3:3]");
}

TEST(YamlTree, PlacesNothingAtItsWord) { EXPECT_EQ(read("a:\nb: 1\n"), "{a@1:1: nothing@1:1, b@2:1: 1@2:4}"); }

TEST(YamlTree, ReadsFilesFromEditorsOfOtherSystems) {
  EXPECT_EQ(read("\xEF\xBB\xBF"
                 "a: \"1\"\r\nb: 2\r\n"),
            R"({a@1:1: "1"@1:4, b@2:1: 2@2:4})");
}

TEST(YamlTree, KnowsThePlaceInsideATextThatStandsInTheFileAsItIs) {
  Report report("model.yaml");
  const auto root = read_yaml("plain: abc\nquoted: \"abc\"\nescaped: \"a\\tbc\"\nblock: |\n  abc\n", report);
  std::vector<Position> places;
  for (const auto& item : root->items) places.push_back(item.text.at(2));
  EXPECT_EQ(places, (std::vector<Position>{{1, 10}, {2, 12}, {3, 10}, {4, 8}}));  // the last two: of the whole
}

TEST(YamlTree, RefusesWhatNoModelNeeds) {
  EXPECT_EQ(read("a: &x 1"), "1:4 alias");
  EXPECT_EQ(read("a: !!int 1"), "1:4 tag");
  EXPECT_EQ(read("a: 1\n---\nb: 2\n"), "2:1 several-documents");
  EXPECT_EQ(read("[a, b]: 1"), "1:1 bad-word");
  EXPECT_EQ(read("a: 1\nb: 2\na: 3\n"), "3:1 repeated-word");
  EXPECT_EQ(read("a: \xC3\x28"), "1:4 bad-encoding");
  EXPECT_EQ(read(std::string_view("a: \0b", 5)), "1:4 bad-encoding");
  EXPECT_EQ(read(""), "1:1 empty");
}

TEST(YamlTree, SaysThatTabsCannotIndent) {
  Report report("model.yaml");
  EXPECT_FALSE(read_yaml("a: 1\nb:\n  c: 2\n\td: 3\n", report));
  const auto diagnostics = std::move(report).take();
  ASSERT_EQ(diagnostics.size(), 1U);
  EXPECT_EQ(diagnostics.front().position, (Position{4, 1}));
  EXPECT_EQ(diagnostics.front().message, "this line is indented with a tab, and in YAML only spaces can indent");
  EXPECT_EQ(read("a: \"x\ty\"\nb: [1,\n\t2]\n"), "{a@1:1: \"x\ty\"@1:4, b@2:1: [1@2:5, 2@3:2]}") << "inside brackets";
}

TEST(YamlTree, IsNotImpressedByHostileFiles) {
  const auto code = [](std::string_view text) {
    Report report("model.yaml");
    (void)read_yaml(text, report);
    const auto diagnostics = std::move(report).take();
    return diagnostics.empty() ? std::string("fine") : diagnostics.front().code;
  };
  const auto repeated = [](std::string_view text, std::size_t times = 50'000) {
    std::string result;
    for (std::size_t i = 0; i < times; ++i) result += text;
    return result;
  };
  EXPECT_EQ(code(repeated("[", 1'000'000)), "too-deep");
  EXPECT_EQ(code(repeated("{")), "too-deep");
  EXPECT_EQ(code(repeated("- ")), "too-deep");
  EXPECT_EQ(code(repeated("? ")), "too-deep");
  EXPECT_EQ(code("[" + repeated("a,")), "too-long");
  EXPECT_EQ(code("[" + repeated("[" + repeated("a,", 60) + "],", 1'999)), "too-long");
  EXPECT_EQ(code(repeated("[a]: ")), "bad-word");
  EXPECT_EQ(code(repeated("a: ")), "bad-yaml");
  EXPECT_EQ(code(repeated(" ", 2'000'000)), "too-long");
}

}  // namespace
}  // namespace stator::model
