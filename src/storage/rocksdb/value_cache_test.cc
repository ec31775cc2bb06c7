#include "stator/storage/rocksdb/value_cache.h"

#include <gtest/gtest.h>

namespace stator::storage {
namespace {

constexpr std::uint64_t kPlenty = 64ULL << 20;

std::optional<Bytes> look(ValueCache& cache, BytesView key) {
  ValueCache::Miss miss;
  return cache.find(key, miss);
}

// As a reader does that finds `value` in the database.
void read(ValueCache& cache, BytesView key, BytesView value) {
  ValueCache::Miss miss;
  ASSERT_FALSE(cache.find(key, miss));
  cache.fill(key, value, miss);
}

Batch put(const Bytes& key, const Bytes& value) {
  Batch batch;
  batch.put(key, value);
  return batch;
}

void commit(ValueCache& cache, Batch batch) {
  ValueCache::Change change(cache, batch);
  change.done(batch);
}

TEST(ValueCache, KeepsWhatWasRead) {
  ValueCache cache(kPlenty);
  read(cache, "a", "1");
  EXPECT_EQ(look(cache, "a"), "1");
  EXPECT_EQ(look(cache, "b"), std::nullopt);
}

TEST(ValueCache, HasTheValueOfTheLastCommit) {
  ValueCache cache(kPlenty);
  read(cache, "a", "1");
  commit(cache, put("a", "2"));
  EXPECT_EQ(look(cache, "a"), "2");
  Batch twice = put("a", "3");
  twice.put("a", "4");
  commit(cache, std::move(twice));
  EXPECT_EQ(look(cache, "a"), "4") << "the last of a batch counts";
  Batch gone = put("a", "5");
  gone.erase("a");
  commit(cache, std::move(gone));
  EXPECT_EQ(look(cache, "a"), std::nullopt);
}

TEST(ValueCache, LeavesOutWhatNobodyHasRead) {
  ValueCache cache(kPlenty);
  commit(cache, put("a", "1"));
  EXPECT_EQ(look(cache, "a"), std::nullopt);
}

TEST(ValueCache, KnowsNothingOfAKeyWhileACommitChangesIt) {
  ValueCache cache(kPlenty);
  read(cache, "a", "1");
  auto batch = put("a", "2");
  {
    ValueCache::Change change(cache, batch);
    // The database may show either value now.
    EXPECT_EQ(look(cache, "a"), std::nullopt);
    read(cache, "a", "1");
    EXPECT_EQ(look(cache, "a"), std::nullopt) << "what was read meanwhile is not kept";
  }
  EXPECT_EQ(look(cache, "a"), std::nullopt) << "the commit has failed";
}

TEST(ValueCache, DropsWhatWasReadBeforeACommitAndFilledAfterIt) {
  ValueCache cache(kPlenty);
  ValueCache::Miss miss;
  ASSERT_FALSE(cache.find("a", miss));
  commit(cache, put("a", "2"));
  cache.fill("a", "1", miss);
  EXPECT_EQ(look(cache, "a"), std::nullopt);
}

TEST(ValueCache, DropsWhatIsInAnErasedRange) {
  ValueCache cache(kPlenty);
  for (const auto* key : {"a1", "a2", "b1"}) read(cache, key, "1");
  ValueCache::Miss miss;
  ASSERT_FALSE(cache.find("a3", miss));
  Batch batch = put("a1", "2");
  batch.erase_range(KeyRange::prefix("a"));
  commit(cache, std::move(batch));
  cache.fill("a3", "1", miss);
  for (const auto* key : {"a1", "a2", "a3"}) EXPECT_EQ(look(cache, key), std::nullopt) << key;
  EXPECT_EQ(look(cache, "b1"), "1");
}

TEST(ValueCache, IsBounded) {
  ValueCache cache(1 << 20);
  for (int i = 0; i < 10'000; ++i) read(cache, "key " + std::to_string(i), Bytes(1000, 'x'));
  EXPECT_LE(cache.size_bytes(), 1U << 20);
  EXPECT_GE(cache.size_bytes(), 1U << 19);
  read(cache, "large", Bytes(1 << 20, 'x'));
  EXPECT_EQ(look(cache, "large"), std::nullopt);
  cache.clear();
  EXPECT_EQ(cache.size_bytes(), 0U);
}

}  // namespace
}  // namespace stator::storage
