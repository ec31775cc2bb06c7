#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stator/model/check/testing/found.h"

namespace stator::model {
namespace {

TEST(CheckRules, WantsChildrenThatCanBeFound) {
  const auto with = [](std::string_view key, std::string_view on_delete) {
    return found("children-not-found", kPlainTable,
                 fmt::format(R"yaml(
entities:
  LIST: {{ keys: {{ PK: "list#{{list}}", SK: "X" }}, attributes: {{ list: uuid }} }}
  ITEM:
    keys: {{ PK: "{}", SK: "item#{{item}}" }}
    parents: {{ list: {{ entity: LIST, on_delete: {} }} }}
    attributes: {{ list: uuid, item: uuid }}
)yaml",
                             key, on_delete));
  };
  EXPECT_EQ(with("item#{item}", "cascade"), Lines{"error ITEM.list: to delete the ITEM of a LIST, somebody must find "
                                                  "them, but no partition key of the table or "
                                                  "an index follows from the LIST"});
  EXPECT_EQ(with("item#{item}", "nothing"), Lines{});
  EXPECT_EQ(with("list#{list}", "cascade"), Lines{});
}

TEST(CheckRules, WantsATimeToLiveForWhatIsPurged) {
  constexpr std::string_view kEntities = R"yaml(
entities:
  NOTE:
    keys: { PK: "note#{note}", SK: "X" }
    soft_delete: { attribute: deleted, at: deletedAt, keep: 30d }
    attributes: { note: uuid, deleted: boolean, deletedAt: timestamp }
)yaml";
  EXPECT_EQ(found("no-ttl", kPlainTable, kEntities),
            Lines{"error NOTE: a deleted NOTE is to be purged after a while, but the table has no TTL attribute"});
  EXPECT_EQ(found("no-ttl", "\ntable: { name: Things, key: [PK, SK], ttl: expiresAt }\n", kEntities), Lines{});
}

TEST(CheckRules, WantsAStreamForWhatFollowsAChange) {
  constexpr std::string_view kEntities = R"yaml(
entities:
  LIST: { keys: { PK: "list#{list}", SK: "X" }, attributes: { list: uuid } }
  ITEM:
    keys: { PK: "list#{list}", SK: "item#{item}" }
    parents: { list: { entity: LIST, on_delete: cascade } }
    attributes: { list: uuid, item: uuid }
)yaml";
  EXPECT_EQ(found("stream-view", "\ntable: { name: Things, key: [PK, SK], stream: keys_only }\n", kEntities),
            Lines{"error Things: what follows a change through ITEM.list needs the row before and after it, and the "
                  "table's stream "
                  "has not both"});
  EXPECT_EQ(found("stream-view", kPlainTable, kEntities), Lines{});
}

TEST(CheckRules, CountsTheRowsOfATransaction) {
  const auto with_steps = [](int steps) {
    std::string text = R"yaml(
entities:
  LINE: { keys: { PK: "line#{line}", SK: "X" }, attributes: { line: { type: uuid, generated: uuid } } }
actions:
  fill:
    post: /fill
    steps:
)yaml";
    for (int i = 0; i < steps; ++i) text += fmt::format("      - {{ create: LINE, as: line{}, set: {{}} }}\n", i);
    return found("transaction-too-large", kPlainTable, text);
  };
  EXPECT_EQ(with_steps(101), Lines{"error fill: it can write 101 rows at once, and a transaction holds at most 100"});
  EXPECT_EQ(with_steps(100), Lines{});
}

}  // namespace
}  // namespace stator::model
