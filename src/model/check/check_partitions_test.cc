#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stator/model/check/testing/found.h"

namespace stator::model {
namespace {

TEST(CheckPartitions, FindsHotOnes) {
  const auto with_key = [](std::string_view key) {
    return fmt::format(R"yaml(
entities:
  POST:
    keys: {{ PK: "POST#{{id}}", SK: "X", GSI1PK: "{}", GSI1SK: "{{at}}" }}
    attributes:
      id: {{ type: uuid, generated: uuid }}
      at: {{ type: timestamp, generated: now }}
      status: {{ type: enum, values: [draft, live], required: true }}
)yaml",
                       key);
  };
  EXPECT_EQ(
      found("hot-partition", kTable, with_key("POSTS")),
      Lines{
          "warning GSI1: every POST is in one partition of GSI1, and a partition takes at most 1,000 writes and 3,000 "
          "reads a second (GSI1PK 'POSTS')"});
  EXPECT_EQ(
      found("hot-partition", kTable, with_key("POSTS#{status}")),
      Lines{
          "warning GSI1: every POST is in one of 2 partitions of GSI1, and a partition takes at most 1,000 writes and "
          "3,000 reads a second (GSI1PK 'POSTS#{status}')"});
  EXPECT_EQ(found("hot-partition", kTable, with_key("POSTS#{shard:8}")), Lines{});
  EXPECT_EQ(found("hot-partition", kTable, with_key("POSTS#{id}")), Lines{});
  EXPECT_EQ(found("hot-partition", kPlainTable, R"yaml(
entities:
  SETTINGS: { keys: { PK: "SETTINGS", SK: "X" }, attributes: { theme: string } }
)yaml"),
            Lines{});  // one row is no load
}

TEST(CheckPartitions, FindsThoseThatGrowForEver) {
  const auto with_key = [](std::string_view key) {
    return fmt::format(R"yaml(
entities:
  LOG:
    append_only: true
    keys: {{ PK: "{}", SK: "{{id}}" }}
    attributes:
      user: {{ type: string, max: 40 }}
      id: {{ type: ulid, generated: ulid }}
      at: {{ type: timestamp, generated: now }}
)yaml",
                       key);
  };
  EXPECT_EQ(found("unbounded-partition", kPlainTable, with_key("USER#{user}")),
            Lines{"warning LOG: LOG rows are only added and never expire, and all those under 'USER#{user}' are in one "
                  "partition"});
  EXPECT_EQ(found("unbounded-partition", kPlainTable, with_key("USER#{user}#{at|month}")), Lines{});
  EXPECT_EQ(found("unbounded-partition", kPlainTable, R"yaml(
entities:
  NOTE: { append_only: true, keys: { PK: "NOTE#{note}", SK: "NOTE" }, attributes: { note: { type: string, min: 1, max: 40 } } }
)yaml"),
            Lines{})
      << "each has a partition to itself";
}

TEST(CheckPartitions, RemembersTheLimitOfLocalIndexes) {
  constexpr std::string_view kEntities = R"yaml(
entities:
  URL: { keys: { PK: "SHOP#{shop}", SK: "URL#{id}" }, attributes: { shop: uuid, id: uuid, rank: integer } }
)yaml";
  EXPECT_EQ(found("collection-size", R"yaml(
table: { name: Things, key: [PK, SK], indexes: { ByRank: { local: "rank:N" } } }
)yaml",
                  kEntities),
            Lines{"warning ByRank: because ByRank is a local index, all rows under one PK may take 10 GB together, and "
                  "URL rows "
                  "have no bound"});
  EXPECT_EQ(found("collection-size", kPlainTable, kEntities), Lines{});
}

}  // namespace
}  // namespace stator::model
