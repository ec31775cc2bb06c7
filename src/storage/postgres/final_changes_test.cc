#include "stator/storage/postgres/final_changes.h"

#include <gtest/gtest.h>

namespace stator::storage::postgres {
namespace {

std::optional<BytesView> nothing_stored(const Bytes& /*key*/) { return std::nullopt; }

TEST(FinalChanges, KeepTheLastChangeOfAKey) {
  Batch batch;
  batch.put("a", "1");
  batch.put("a", "2");
  batch.put("b", "1");
  batch.erase("b");
  const auto changes = FinalChanges::of(batch, {1}, nothing_stored).value();
  EXPECT_EQ(changes.keys, (std::map<Bytes, std::optional<Bytes>>{{"a", "2"}, {"b", std::nullopt}}));
}

TEST(FinalChanges, EraseARangeBeforeWhatFollowsIt) {
  Batch batch;
  batch.put("a1", "before");
  batch.erase_range(KeyRange::prefix("a"));
  batch.put("a2", "after");
  batch.erase_range({"z", "b"});  // upside down: empty
  const auto changes = FinalChanges::of(batch, {1}, nothing_stored).value();
  EXPECT_EQ(changes.keys, (std::map<Bytes, std::optional<Bytes>>{{"a2", "after"}}));
  ASSERT_EQ(changes.erased_ranges.size(), 1U);
  EXPECT_EQ(changes.erased_ranges[0].begin, "a");
}

TEST(FinalChanges, AddToWhatIsStoredUnlessTheBatchErasedIt) {
  const auto stored = encode_counter(100);
  Batch batch;
  batch.add("kept", 1);
  batch.erase("erased");
  batch.add("erased", 1);
  batch.erase_range(KeyRange::prefix("range"));
  batch.add("range/1", 1);
  const auto changes =
      FinalChanges::of(batch, {1}, [&](const Bytes&) { return std::optional<BytesView>(stored); }).value();
  EXPECT_EQ(changes.keys,
            (std::map<Bytes, std::optional<Bytes>>{
                {"kept", encode_counter(101)}, {"erased", encode_counter(1)}, {"range/1", encode_counter(1)}}));
}

TEST(FinalChanges, RefuseToAddToWhatIsNoCounter) {
  Batch batch;
  batch.put("text", "abc");
  batch.add("text", 1);
  const auto changes = FinalChanges::of(batch, {1}, nothing_stored);
  ASSERT_FALSE(changes);
  EXPECT_EQ(changes.error().code, ErrorCode::Corruption);
}

}  // namespace
}  // namespace stator::storage::postgres
