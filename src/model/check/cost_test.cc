#include "stator/model/check/cost.h"

#include <gtest/gtest.h>

#include "stator/model/testing/load_or_fail.h"

namespace stator::model {
namespace {

const Model& example() {
  static const Model model = load_or_fail(R"(
model: test
table: { name: Things, key: [PK, SK], indexes: { ByName: { key: [GSI1PK, GSI1SK] } } }
entities:
  LIST:
    keys: { PK: "list#{list}", SK: "X", GSI1PK: "lists#{shard:4}", GSI1SK: "{name|sortable}" }
    attributes: { list: uuid, name: { type: string, required: true, max: 50, unique_within: table }, items: { count: ITEM.list } }
  ITEM:
    keys: { PK: "list#{list}", SK: "item#{item}" }
    parents: { list: { entity: LIST, on_delete: cascade } }
    attributes: { list: uuid, item: uuid }
  NOTE:
    keys: { PK: "note#{note}", SK: "X" }
    attributes: { note: uuid }
patterns:
  list:  { query: { PK: "list#{list}", SK: "X" }, returns: LIST, single: true, consistent: true }
  lists: { query: { index: ByName, GSI1PK: "lists#{shard:4}" }, returns: LIST }
  items: { query: { PK: "list#{list}", SK: { begins_with: "item#" } }, returns: ITEM, join: { relation: list, as: of } }
)");
  return model;
}

TEST(Cost, OfAPageCountsShardsAndJoins) {
  const auto all = costs(example(), {.item_size = 1000, .page = 20});
  ASSERT_EQ(all.size(), 3);
  // One row of 1,000 bytes, read consistently.
  EXPECT_EQ(all[0].requests, 1);
  EXPECT_EQ(all[0].items_read, 1);
  EXPECT_EQ(all[0].read_units, 1);
  // Four shards of up to 20 rows each: 20,000 bytes are 5 units, half of that because it is not consistent.
  EXPECT_EQ(all[1].reads, "ByName");
  EXPECT_EQ(all[1].requests, 4);
  EXPECT_EQ(all[1].items_read, 80);
  EXPECT_EQ(all[1].read_units, 10);
  // A query, and one batch-get whose 20 rows are rounded one by one.
  EXPECT_EQ(all[2].requests, 2);
  EXPECT_EQ(all[2].items_read, 40);
  EXPECT_EQ(all[2].read_units, 2.5 + 10);
}

TEST(Cost, OfAPageCountsRequestsByWhatOneCanAnswer) {
  // 400 MB in answers of 1 MB, from each of four shards or from one with joins, which come 16 MB at a time.
  const auto large = costs(example(), {.item_size = 400'000, .page = 1000});
  EXPECT_EQ(large[0].requests, 1);
  EXPECT_EQ(large[1].requests, 4 * 382);
  EXPECT_EQ(large[2].requests, 382 + 24);
  const auto small = costs(example(), {.item_size = 1000, .page = 1000});
  EXPECT_EQ(small[1].requests, 4);
  EXPECT_EQ(small[2].requests, 1 + 10);
}

TEST(Cost, OfACopyIsWhatEachChildWrites) {
  const auto model = load_or_fail(R"yaml(
model: test
table: { name: Things, key: [PK, SK], indexes: { ByName: { key: [GSI1PK, GSI1SK] }, ByDay: { key: [day], projection: keys } } }
entities:
  TENANT:
    keys: { PK: "tenant#{tenant}", SK: "X" }
    attributes: { tenant: uuid, name: { type: string, required: true, max: 50 } }
  PROJECT:
    keys: { PK: "tenant#{tenant}", SK: "project#{project}", GSI1PK: "projects", GSI1SK: "{label}#{project}" }
    parents: { tenant: { entity: TENANT, on_delete: cascade } }
    attributes:
      tenant: uuid
      project: uuid
      day: date
      tenantName: { copy_of: tenant.name }
      label: { type: string, derived: "lower(tenantName)" }
)yaml");
  const auto all = copy_costs(model, {.item_size = 1500, .page = 0});
  ASSERT_EQ(all.size(), 1);
  EXPECT_EQ(all[0].source, "TENANT.name");
  EXPECT_EQ(all[0].copy, "PROJECT.tenantName");
  // The child and a look at its parent in a transaction; its entry by name moves, and that by day does not change.
  EXPECT_EQ(all[0].rows, 1);
  EXPECT_EQ(all[0].index_entries, 2);
  EXPECT_EQ(all[0].write_units, 2 * (2 + 2) + 2 * 2);
}

TEST(Cost, OfACreateCountsWhatIsWrittenWithIt) {
  const auto all = write_costs(example(), {.item_size = 1500, .page = 0});
  ASSERT_EQ(all.size(), 3);
  // The row and its reservation in a transaction, and one entry of the index.
  EXPECT_EQ(all[0].rows, 2);
  EXPECT_EQ(all[0].index_entries, 1);
  EXPECT_EQ(all[0].write_units, 2 * (2 + 1) + 2);
  // The row and its parent, whose count changes and with it the parent's entry.
  EXPECT_EQ(all[1].rows, 2);
  EXPECT_EQ(all[1].index_entries, 1);
  EXPECT_EQ(all[1].write_units, 2 * (2 + 2) + 2);
  // A row by itself needs no transaction.
  EXPECT_EQ(all[2].rows, 1);
  EXPECT_EQ(all[2].write_units, 2);
}

}  // namespace
}  // namespace stator::model
