#include "stator/engine/index/index_entry.h"

#include <gtest/gtest.h>

#include "stator/engine/test_support.h"

namespace stator::engine {
namespace {

using namespace testing;
using value::Item;
using value::StoredItem;

const Item kWhole{{"pk", S("a")}, {"sk", N(1)}, {"g", S("x")}, {"h", N(2)}, {"i", S("included")}, {"o", S("other")}};

// The attributes that an index on g and h holds of an item, or nullopt when it does not hold the item.
std::optional<Item> held(IndexProjection projection, const Item& item) {
  Table t = table("T", keys({"pk:S"}, {"sk:N"}));
  const Index index = add_index(t, "gsi", IndexKind::Global, keys({"g:S"}, {"h:N"}), std::move(projection));
  const auto entry = index_entry(t, index, item, StoredItem::from(item));
  if (!entry) return std::nullopt;
  EXPECT_EQ(entry->key, index_key(t, index, item));
  const auto parsed = entry->item.parse().value();
  for (const auto& attribute : item) {
    EXPECT_EQ(parsed.find(attribute.name) != nullptr, is_projected(t, index, attribute.name)) << attribute.name;
  }
  return parsed;
}

TEST(IndexEntry, OfAllHoldsTheWholeItem) { EXPECT_EQ(held({ProjectionKind::All, {}}, kWhole), kWhole); }

TEST(IndexEntry, OfKeysHoldsTheKeysOfTableAndIndex) {
  const Item expected{{"pk", S("a")}, {"sk", N(1)}, {"g", S("x")}, {"h", N(2)}};
  EXPECT_EQ(held({ProjectionKind::KeysOnly, {}}, kWhole), expected);
}

TEST(IndexEntry, OfIncludedAttributesHoldsThoseToo) {
  const Item expected{{"pk", S("a")}, {"sk", N(1)}, {"g", S("x")}, {"h", N(2)}, {"i", S("included")}};
  EXPECT_EQ(held({ProjectionKind::Include, {"i", "never there"}}, kWhole), expected);
}

TEST(IndexEntry, IsMissingWhereAKeyAttributeIs) {
  for (const auto kind : {ProjectionKind::All, ProjectionKind::KeysOnly, ProjectionKind::Include}) {
    for (const auto* name : {"g", "h"}) {
      Item without = kWhole;
      without.erase(name);
      EXPECT_FALSE(held({kind, {}}, without)) << name;
    }
  }
}

TEST(IndexEntry, OfSeveralKeyAttributesNeedsThemAll) {
  Table t = table("T", keys({"pk:S"}));
  const Index index =
      add_index(t, "gsi", IndexKind::Global, keys({"p1:S", "p2:N"}, {"s1:S", "s2:B"}), {ProjectionKind::KeysOnly, {}});
  const Item whole{{"pk", S("a")}, {"p1", S("b")}, {"p2", N(3)}, {"s1", S("c")}, {"s2", B("d")}};
  auto with_other = whole;
  with_other.set("other", S("e"));
  const auto entry = index_entry(t, index, with_other, StoredItem::from(with_other));
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->item.parse().value(), whole);
  for (const auto* name : {"p1", "p2", "s1", "s2"}) {
    Item without = whole;
    without.erase(name);
    EXPECT_FALSE(index_entry(t, index, without, StoredItem::from(without))) << name;
  }
}

TEST(IndexEntry, OfALocalIndexSharesThePartition) {
  Table t = table("T", keys({"pk:S"}, {"sk:N"}));
  const Index index = add_index(t, "lsi", IndexKind::Local, keys({"pk:S"}, {"h:N"}));
  const auto entry = index_entry(t, index, kWhole, StoredItem::from(kWhole));
  ASSERT_TRUE(entry);
  EXPECT_EQ(hash_of_key(entry->key), hash_of_key(item_key(t, kWhole)));
}

}  // namespace
}  // namespace stator::engine
