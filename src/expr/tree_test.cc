#include "stator/expr/tree.h"

#include <gtest/gtest.h>

#include "stator/base/random.h"
#include "stator/expr/parser.h"
#include "stator/expr/reserved_words.h"

namespace stator::expr {
namespace {

// Draws valid expressions.  `budget_` keeps them below the limits of the parser.
class Artist {
 public:
  explicit Artist(std::uint64_t seed) : random_(seed) {}

  std::shared_ptr<const Tree> draw(Kind kind) {
    TreeBuilder tree(kind);
    budget_ = 40;
    switch (kind) {
      case Kind::Projection:
        for (auto i = random_.below(5) + 1; i > 0; --i) tree.projected(path(tree));
        break;
      case Kind::Update:
        for (const auto section :
             {Action::Section::Set, Action::Section::Remove, Action::Section::Add, Action::Section::Delete}) {
          for (auto i = random_.below(3) + (section == Action::Section::Set ? 1 : 0); i > 0; --i) {
            const NodeIndex target = path(tree);
            tree.action({section, target, section == Action::Section::Remove ? 0 : assigned(tree, section)});
          }
        }
        break;
      default: condition(tree);
    }
    return tree.finish();
  }

 private:
  Name name() {
    static const std::array<std::string, 5> kNames = {"a", "b_1", "Cd", "#n", "#1"};
    const std::string& text = kNames[random_.below(kNames.size())];
    return {text, text[0] == '#'};
  }

  NodeIndex path(TreeBuilder& tree) {
    const NodeIndex node = tree.path(name());
    while (random_.below(3) == 0) {
      if (random_.below(2) == 0) {
        tree.step(node, name());
      } else {
        tree.step(node, static_cast<std::uint32_t>(random_.below(100)));
      }
    }
    return node;
  }

  NodeIndex value(TreeBuilder& tree) { return tree.value(":v" + std::to_string(random_.below(9))); }

  NodeIndex operand(TreeBuilder& tree) {
    const auto choice = random_.below(6);
    if (choice == 0) return tree.node(Op::Size, {{path(tree)}});
    return choice < 3 ? value(tree) : path(tree);
  }

  NodeIndex assigned(TreeBuilder& tree, Action::Section section) {
    if (section != Action::Section::Set) return value(tree);
    const auto part = [&] {
      if (random_.below(3) != 0) return random_.below(2) == 0 ? value(tree) : path(tree);
      const NodeIndex first = path(tree);
      return tree.node(Op::IfNotExists, {{first, value(tree)}});
    };
    const NodeIndex first = part();
    static constexpr std::array kJoints = {Op::Plus, Op::Minus, Op::ListAppend};
    if (random_.below(2) == 0) return first;
    return tree.node(kJoints[random_.below(kJoints.size())], {{first, part()}});
  }

  NodeIndex condition(TreeBuilder& tree) {
    const auto choice = random_.below(budget_ > 0 ? 14 : 11);
    if (budget_ > 0) --budget_;
    if (choice == 13) return tree.node(Op::Not, {{condition(tree)}});
    if (choice > 10) {
      std::vector<NodeIndex> parts;
      for (auto i = random_.below(3) + 2; i > 0; --i) parts.push_back(condition(tree));
      return tree.node(choice == 11 ? Op::And : Op::Or, parts);
    }
    static constexpr std::array kOps = {Op::Equal,           Op::NotEqual,     Op::Less,    Op::LessEqual,
                                        Op::Greater,         Op::GreaterEqual, Op::Between, Op::In,
                                        Op::AttributeExists, Op::BeginsWith,   Op::Contains};
    const Op op = kOps[choice];
    const std::size_t count = op == Op::Between           ? 3
                              : op == Op::In              ? 2 + random_.below(4)
                              : op == Op::AttributeExists ? 1
                                                          : 2;
    std::vector<NodeIndex> operands;
    for (std::size_t i = 0; i < count; ++i) operands.push_back(operand(tree));
    return tree.node(op, operands);
  }

  Random random_;
  int budget_ = 0;
};

TEST(Tree, IsTheSameAfterPrintingAndParsing) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    for (const Kind kind : {Kind::Condition, Kind::Projection, Kind::Update}) {
      const std::string text = print(*Artist(seed).draw(kind));
      if (text.size() > 4096) continue;
      const auto tree = parse(kind, text);
      ASSERT_TRUE(tree) << "seed " << seed << ": " << tree.error().message << "\n" << text;
      ASSERT_EQ(print(**tree), text) << "seed " << seed;
    }
  }
}

TEST(ReservedWords, AreFoundInAnyCase) {
  for (const auto* word : {"ABORT", "zone", "Name", "TTL", "flattern", "localtimestamp"})
    EXPECT_TRUE(is_reserved_word(word)) << word;
  for (const auto* word : {"", "A", "pk", "NAMED", "ZONES", "localtimestamps", "LOCALTIMESTAMPLOCALTIMESTAMP"}) {
    EXPECT_FALSE(is_reserved_word(word)) << word;
  }
}

}  // namespace
}  // namespace stator::expr
