#include "stator/value/stored_item.h"

#include <gtest/gtest.h>

#include "stator/value/item_size.h"
#include "stator/value/json.h"
#include "stator/value/test_random_value.h"

namespace stator::value {
namespace {

using namespace std::literals;

TEST(StoredItem, HasTheBytesOfItsPage) {
  const Item item{{"pk", AttributeValue::string("u1")}, {"n", AttributeValue::number(15)}};
  const auto stored = StoredItem::from(item);
  EXPECT_EQ(stored.bytes(), "\x01\x07{\"n\":{\"N\":\"15\"},\"pk\":{\"S\":\"u1\"}}"sv);
  EXPECT_EQ(stored.json(), R"({"n":{"N":"15"},"pk":{"S":"u1"}})");
  EXPECT_EQ(stored.item_size_bytes(), 7U);
}

TEST(StoredItem, ReadsBackRandomItems) {
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Item item = random_map(random, 4);
    const auto stored = StoredItem::from(item);
    ASSERT_EQ(stored.item_size_bytes(), item_size_bytes(item));
    ASSERT_GE(stored.bytes().capacity() - stored.bytes().size(), kJsonPadding);
    ASSERT_TRUE(stored.parse().value() == item);

    const StoredItem copy = stored;  // without the room behind its text
    ASSERT_TRUE(copy.parse().value() == item);
    const auto loaded = StoredItem::from_bytes(Bytes(stored.bytes()));
    ASSERT_TRUE(loaded.ok());
    ASSERT_EQ(loaded->item_size_bytes(), stored.item_size_bytes());
    ASSERT_EQ(loaded->json(), stored.json());
    ASSERT_TRUE(loaded->parse().value() == item);
    const auto view = StoredItemView::from(stored.bytes());
    ASSERT_TRUE(view.ok());
    ASSERT_EQ(view->item_size_bytes, stored.item_size_bytes());
    ASSERT_TRUE(view->parse().value() == item);
    ASSERT_EQ(StoredItem::from(loaded->parse().value()).bytes(), stored.bytes());
  }
}

TEST(StoredItem, IsReadEvenWhenNestedDeeperThanARequestMayBe) {
  AttributeValue value = AttributeValue::string("core");
  for (int i = 0; i < 60; ++i) value = AttributeValue(List{std::move(value)});
  const Item item{{"a", std::move(value)}};
  EXPECT_TRUE(StoredItem::from(item).parse().value() == item);
}

TEST(StoredItem, RefusesANewerVersionInOneLine) {
  const auto loaded = StoredItem::from_bytes("\x02\x00{}"s);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().code, ErrorCode::Corruption);
  EXPECT_EQ(loaded.error().message, "a stored item has format version 2, this binary knows up to 1");
}

TEST(StoredItem, ReportsDamageAsCorruption) {
  for (const auto& bytes :
       {""s, "\x00\x00{}"s, "\x01"s, "\x01\x80"s, "\x01\x05"s, "\x01\x05{"s, "\x01\x05[]"s, "\x01\x05{}x"s}) {
    const auto loaded = StoredItem::from_bytes(bytes);
    EXPECT_TRUE(!loaded.ok() && loaded.error().code == ErrorCode::Corruption) << hex(bytes);
    const auto view = StoredItemView::from(bytes);
    EXPECT_TRUE(!view.ok() && view.error().code == ErrorCode::Corruption) << hex(bytes);
  }
  for (const auto& bytes :
       {"\x01\x05{\"a\"}"s, "\x01\x05{\"a\":1}"s, "\x01\x05{\"a\":{\"N\":\"x\"}}"s, "\x01\x05{\"a\":{}}"s}) {
    const auto item = StoredItem::from_bytes(bytes)->parse();
    EXPECT_TRUE(!item.ok() && item.error().code == ErrorCode::Corruption) << hex(bytes);
  }
}

TEST(StoredItem, SurvivesRandomDamage) {
  for (std::uint64_t seed = 1; seed <= 5'000; ++seed) {
    Random random(seed);
    Bytes bytes = StoredItem::from(random_map(random, 3)).bytes();
    for (std::uint64_t hits = 1 + random.below(3); hits > 0; --hits) {
      bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    }
    bytes.resize(bytes.size() - random.below(2) * random.below(bytes.size()));
    bytes.shrink_to_fit();
    const auto loaded = StoredItem::from_bytes(std::move(bytes));
    if (!loaded.ok()) continue;
    const auto item = loaded->parse();
    EXPECT_TRUE(item.ok() || item.error().code == ErrorCode::Corruption) << "seed " << seed;
  }
}

}  // namespace
}  // namespace stator::value
