#include "stator/storage/memory/memory_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "stator/base/random.h"
#include "stator/storage/testing/contract.h"

namespace stator::storage {
namespace {

const auto new_place = testing::place_for([] { return open_memory_store(); });
const bool registered = testing::register_contract_tests("MemoryStoreContract", new_place);

Bytes item_key(std::uint64_t n) {
  Bytes key("i\0\0\0\x01\0\0", 7);
  append_u64be(key, n * 0x9E3779B97F4A7C15U);
  return key + fmt::format("customer#{}", n);
}

void fill(Store& store, std::uint64_t count, std::size_t value_size = 1024) {
  for (std::uint64_t n = 0; n < count;) {
    Batch batch;
    for (int i = 0; i < 100 && n < count; ++i, ++n) batch.put(item_key(n), Bytes(value_size, 'v'));
    ASSERT_TRUE(store.commit(std::move(batch)));
  }
}

// Large amounts are freed in the background, so wait for it.
bool shrinks_below(const Store& store, std::uint64_t bytes) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (store.statistics().size_bytes >= bytes) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

TEST(MemoryStore, BehavesLikeAMap) {
  for (const auto seed : testing::seeds(100)) testing::expect_same_as_map(new_place, seed);
}

TEST(MemoryStore, KeepsSnapshotsWholeUnderWrites) { testing::expect_snapshots_whole_under_writes(new_place, 3, 3000); }

TEST(MemoryStore, SpendsLittleBesideKeysAndValues) {
  constexpr std::uint64_t kItems = 20'000;
  const auto store = open_memory_store();
  fill(*store, kItems);
  const auto statistics = store->statistics();
  EXPECT_LT(statistics.size_bytes - statistics.bytes_written, kItems * 64);
}

TEST(MemoryStore, GivesBackWhatWasErased) {
  const auto store = open_memory_store();
  fill(*store, 20'000);
  Batch batch;
  batch.erase_range({});
  ASSERT_TRUE(store->commit(std::move(batch)));
  EXPECT_TRUE(shrinks_below(*store, 1));
}

TEST(MemoryStore, GivesBackWhatWasErasedOneByOne) {
  const auto store = open_memory_store();
  fill(*store, 5000, 10);
  for (std::uint64_t n = 0; n < 5000; ++n) {
    Batch batch;
    batch.erase(item_key(n));
    ASSERT_TRUE(store->commit(std::move(batch)));
  }
  EXPECT_TRUE(shrinks_below(*store, 1));
}

TEST(MemoryStore, KeepsForASnapshotNoMoreThanItSees) {
  const auto store = open_memory_store();
  fill(*store, 1000);
  const auto before = store->statistics().size_bytes;
  const auto snapshot = store->snapshot();
  for (int round = 0; round < 20; ++round) fill(*store, 1000);
  EXPECT_LT(store->statistics().size_bytes, before * 5 / 2) << "what it sees, and what is there now";
  EXPECT_EQ(testing::entries(*snapshot).size(), 1000U);
}

TEST(MemoryStore, HandsGarbageDownThroughOlderSnapshots) {
  const auto store = open_memory_store();
  std::vector<std::unique_ptr<Snapshot>> held;
  for (std::uint64_t n = 1; n <= 20; ++n) {
    fill(*store, n * 10, 50);
    held.push_back(store->snapshot());
  }
  Batch batch;
  batch.erase_range({});
  ASSERT_TRUE(store->commit(std::move(batch)));
  // Let go of them from the middle, so that most have an older and a newer neighbour.
  Random random(1);
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t n = 1; n <= 20; ++n) sizes.push_back(n * 10);
  while (!held.empty()) {
    for (std::size_t i = 0; i < held.size(); ++i) EXPECT_EQ(testing::entries(*held[i]).size(), sizes[i]);
    const auto which = static_cast<std::ptrdiff_t>(random.below(held.size()));
    held.erase(held.begin() + which);
    sizes.erase(sizes.begin() + which);
  }
  EXPECT_TRUE(shrinks_below(*store, 1));
}

TEST(MemoryStore, TakesMoreSnapshotsThanAPinWordCounts) {
  const auto store = open_memory_store();
  fill(*store, 10);
  std::vector<std::unique_ptr<Snapshot>> held;
  for (int i = 0; i < 200'000; ++i) held.push_back(store->snapshot());
  fill(*store, 10);
  EXPECT_EQ(testing::entries(*held.front()).size(), 10U);
  EXPECT_EQ(testing::entries(*held.back()).size(), 10U);
  held.clear();
  Batch batch;
  batch.erase_range({});
  ASSERT_TRUE(store->commit(std::move(batch)));
  EXPECT_TRUE(shrinks_below(*store, 1));
}

TEST(MemoryStore, CountsPinsOfManyThreads) {
  const auto store = open_memory_store();
  fill(*store, 100, 100);
  {
    std::vector<std::jthread> readers;
    for (int t = 0; t < 3; ++t) {
      readers.emplace_back([&store] {
        for (std::uint64_t i = 0; i < 100'000; ++i) EXPECT_TRUE(store->get(item_key(i % 100))->has_value());
      });
    }
  }
  Batch batch;
  batch.erase_range({});
  ASSERT_TRUE(store->commit(std::move(batch)));
  EXPECT_TRUE(shrinks_below(*store, 1));
}

TEST(MemoryStore, RefusesToAddToWhatIsNoCounter) {
  const auto store = open_memory_store();
  fill(*store, 1000);
  const auto before = store->statistics().size_bytes;
  Batch batch;
  for (std::uint64_t n = 0; n < 2000; ++n) batch.put(item_key(n), "changed");
  batch.erase_range({item_key(3), item_key(4)});
  batch.add(item_key(5), 1);
  const auto committed = store->commit(std::move(batch));
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().code, ErrorCode::Corruption);
  EXPECT_EQ(store->statistics().size_bytes, before);
  const auto all = testing::entries(*store->snapshot());
  EXPECT_EQ(all.size(), 1000U);
  for (const auto& [key, value] : all) EXPECT_EQ(value.size(), 1024U);
  EXPECT_TRUE(store->commit({}));
}

TEST(MemoryStore, FindsKeysWithPrefixesOfEveryLength) {
  const auto store = open_memory_store();
  for (std::size_t length = 1; length < 120; ++length) {
    Batch batch;
    for (int i = 0; i < 200; ++i)
      batch.put(Bytes(length, 'p') + fmt::format("{:03}", i), fmt::format("{}/{}", length, i));
    ASSERT_TRUE(store->commit(std::move(batch)));
  }
  for (std::size_t length = 1; length < 120; ++length) {
    for (int i = 0; i < 200; i += 7) {
      const auto value = store->get(Bytes(length, 'p') + fmt::format("{:03}", i));
      ASSERT_TRUE(value->has_value()) << length << " " << i;
      EXPECT_EQ(**value, fmt::format("{}/{}", length, i));
    }
    EXPECT_FALSE(store->get(Bytes(length, 'p') + "2")->has_value());
  }
}

TEST(MemoryStoreLimit, RefusesWhatDoesNotFitUntilThereIsRoomAgain) {
  constexpr std::size_t kValue = 100'000;
  const auto store = open_memory_store(10 << 20);
  const auto put = [&](std::uint64_t n) {
    Batch batch;
    batch.put(item_key(n), Bytes(kValue, 'v'));
    return store->commit(std::move(batch));
  };
  std::uint64_t kept = 0;
  while (put(kept)) ++kept;
  EXPECT_GT(kept, 50U);
  EXPECT_LT(store->statistics().size_bytes, 10U << 20);
  EXPECT_EQ(store->health().trouble, StoreTrouble::MemoryFull);
  EXPECT_FALSE(store->recover());
  EXPECT_TRUE(*store->get(item_key(kept - 1)));
  EXPECT_FALSE(*store->get(item_key(kept))) << "what was refused is not there";

  Batch erase;
  for (std::uint64_t n = 0; n < 10; ++n) erase.erase(item_key(n));
  erase.frees_space();
  ASSERT_TRUE(store->commit(std::move(erase)));
  ASSERT_TRUE(store->recover());
  EXPECT_EQ(store->health().trouble, StoreTrouble::None);
  EXPECT_TRUE(put(kept));
}

}  // namespace
}  // namespace stator::storage
