#include "stator/storage/rocksdb/cache/range_cache.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "stator/base/random.h"
#include "stator/storage/memory/memory_store.h"
#include "stator/storage/testing/contract.h"

namespace stator::storage {
namespace {

using testing::Entries;

// How often the base was read.
struct Counts {
  std::atomic<std::uint64_t> gets{0};
  std::atomic<std::uint64_t> cursors{0};
};

class CountedSnapshot final : public Snapshot {
 public:
  CountedSnapshot(std::unique_ptr<Snapshot> snapshot, Counts& counts)
      : snapshot_(std::move(snapshot)), counts_(counts) {}
  Result<std::optional<Bytes>> get(BytesView key) const override {
    ++counts_.gets;
    return snapshot_->get(key);
  }
  std::unique_ptr<Cursor> cursor(const KeyRange& range, Direction direction) const override {
    ++counts_.cursors;
    return snapshot_->cursor(range, direction);
  }

 private:
  const std::unique_ptr<Snapshot> snapshot_;
  Counts& counts_;
};

// A store in memory behind a cache, as RocksDB's is.
class CachedStore final : public Store {
 public:
  explicit CachedStore(std::uint64_t bytes) : cache_(bytes) { cache_.open(new_base()); }

  Result<std::optional<Bytes>> get(BytesView key) const override { return cache_.view().get(key); }
  std::unique_ptr<Snapshot> snapshot() const override { return RangeCache::View::snapshot(cache_.view()); }
  Result<CommitSequence> commit(Batch batch) override {
    MutexLock lock(mutex_);
    const auto sequence = TRY(base_->commit(batch));
    for (auto& operation : batch.operations()) {
      if (operation.kind == Batch::Kind::PutSequenced) write_sequence(operation.key, operation.sequence_at, sequence);
    }
    if (between_) between_();
    cache_.commit(batch, new_base());
    last_commit_.store(sequence.value, std::memory_order_release);
    return sequence;
  }
  CommitSequence last_commit() const override { return {last_commit_.load(std::memory_order_acquire)}; }
  CommitSequence last_commit_of(BytesView /*key*/) const override {
    MutexLock lock(mutex_);  // until a commit that readers see is counted
    return last_commit();
  }
  Result<void> sync() override { return {}; }
  Result<void> recover() override { return {}; }
  Capabilities capabilities() const override { return {}; }
  StoreStatistics statistics() const override { return base_->statistics(); }

  RangeCache& cache() { return cache_; }
  Store& base() { return *base_; }
  // Of the readers since the last time.
  std::uint64_t reads_of_base() { return counts_.gets.exchange(0) + counts_.cursors.exchange(0); }
  // Called in each commit after the base has it, and before the cache knows.
  void between(std::function<void()> function) { between_ = std::move(function); }
  std::shared_ptr<const Snapshot> new_base() { return std::make_shared<CountedSnapshot>(base_->snapshot(), counts_); }

 private:
  Counts counts_;
  const std::unique_ptr<Store> base_ = open_memory_store();
  mutable RangeCache cache_;
  mutable Mutex mutex_;
  std::function<void()> between_;
  std::atomic<std::uint64_t> last_commit_{0};
};

constexpr std::uint64_t kPlenty = 64ULL << 20;

testing::NewPlace place_of(std::uint64_t bytes) {
  return testing::place_for([bytes] { return std::make_unique<CachedStore>(bytes); });
}

const bool contract_is_registered = testing::register_contract_tests("RangeCacheContract", place_of(kPlenty)) &&
                                    testing::register_contract_tests("TinyRangeCacheContract", place_of(20'000)) &&
                                    testing::register_contract_tests("NoRangeCacheContract", place_of(0));

TEST(RangeCache, BehavesLikeAMap) {
  for (const auto seed : testing::seeds(60)) testing::expect_same_as_map(place_of(kPlenty), seed);
}

TEST(RangeCache, BehavesLikeAMapWhileItEvicts) {
  for (const auto seed : testing::seeds(60)) {
    testing::expect_same_as_map(place_of(3000 + seed % 7 * 20'000), seed);
  }
}

TEST(RangeCache, KeepsSnapshotsWholeUnderWrites) {
  testing::expect_snapshots_whole_under_writes(place_of(kPlenty), 3, 3000);
  testing::expect_snapshots_whole_under_writes(place_of(10'000), 3, 3000);
}

void write(Store& store, const Bytes& key, const Bytes& value) {
  Batch batch;
  batch.put(key, value);
  ASSERT_TRUE(store.commit(std::move(batch)));
}

std::string get(const Store& store, BytesView key) { return store.get(key).value().value_or("(missing)"); }

Entries forward(const Store& store, const KeyRange& range) { return testing::entries(*store.snapshot(), range); }
Entries backward(const Store& store, const KeyRange& range) {
  return testing::entries(*store.snapshot(), range, Direction::Backward);
}

TEST(RangeCache, KeepsValuesThatWereRead) {
  CachedStore store(kPlenty);
  write(store, "a", "1");
  EXPECT_EQ(get(store, "a"), "1");
  EXPECT_EQ(store.reads_of_base(), 1U);
  EXPECT_EQ(get(store, "a"), "1");
  write(store, "a", "2");
  EXPECT_EQ(get(store, "a"), "2");
  EXPECT_EQ(store.snapshot()->get("a").value(), "2");
  EXPECT_EQ(store.reads_of_base(), 0U);
}

TEST(RangeCache, KnowsTheSecondTimeThatThereIsNothing) {
  CachedStore store(kPlenty);
  EXPECT_EQ(get(store, "a"), "(missing)");
  EXPECT_EQ(get(store, "a"), "(missing)");
  EXPECT_EQ(store.reads_of_base(), 2U);
  EXPECT_EQ(get(store, "a"), "(missing)");
  EXPECT_EQ(store.reads_of_base(), 0U);
  write(store, "a", "1");
  EXPECT_EQ(get(store, "a"), "1");
  EXPECT_EQ(store.reads_of_base(), 0U);
  Batch batch;
  batch.erase("a");
  ASSERT_TRUE(store.commit(std::move(batch)));
  EXPECT_EQ(get(store, "a"), "(missing)");
}

TEST(RangeCache, KeepsNewValuesOfKeysThatWereLookedFor) {
  CachedStore store(kPlenty);
  write(store, "index entry", "1");
  EXPECT_EQ(get(store, "item"), "(missing)");
  write(store, "item", "1");
  EXPECT_EQ(store.reads_of_base(), 1U);
  EXPECT_EQ(get(store, "item"), "1");
  EXPECT_EQ(store.reads_of_base(), 0U);
  EXPECT_EQ(get(store, "index entry"), "1");
  EXPECT_EQ(store.reads_of_base(), 1U);
}

TEST(RangeCache, KeepsRangesInBothDirections) {
  const Entries all{{"k1", "1"}, {"k2", "2"}, {"k3", "3"}};
  const Entries reversed(all.rbegin(), all.rend());
  for (const bool forward_first : {true, false}) {
    CachedStore store(kPlenty);
    for (const auto& [key, value] : all) write(store, key, value);
    const auto range = KeyRange::prefix("k");
    if (forward_first) {
      EXPECT_EQ(forward(store, range), all);
    } else {
      EXPECT_EQ(backward(store, range), reversed);
    }
    EXPECT_EQ(store.reads_of_base(), 1U);
    EXPECT_EQ(forward(store, range), all);
    EXPECT_EQ(backward(store, range), reversed);
    EXPECT_EQ(forward(store, {"k2", "k3"}), (Entries{{"k2", "2"}}));
    EXPECT_EQ(get(store, "k2"), "2");
    EXPECT_EQ(get(store, "k9"), "(missing)") << "nothing else is in the range";
    EXPECT_EQ(store.reads_of_base(), 0U);
  }
}

TEST(RangeCache, ChangesRangesWithEachCommit) {
  CachedStore store(kPlenty);
  for (const auto* key : {"k1", "k2", "k3", "k4"}) write(store, key, "old");
  EXPECT_EQ(forward(store, KeyRange::prefix("k")).size(), 4U);
  EXPECT_EQ(store.reads_of_base(), 1U);
  Batch batch;
  batch.put("k15", "new");
  batch.put("k2", "newer");
  batch.erase("k1");
  batch.erase_range({"k3", "k5"});
  batch.put("k35", "new");
  batch.add("k8", 5);
  ASSERT_TRUE(store.commit(std::move(batch)));
  Batch more;
  more.add("k8", 6);
  ASSERT_TRUE(store.commit(std::move(more)));
  EXPECT_EQ(forward(store, KeyRange::prefix("k")),
            (Entries{{"k15", "new"}, {"k2", "newer"}, {"k35", "new"}, {"k8", encode_counter(11)}}));
  EXPECT_EQ(store.reads_of_base(), 0U);
}

TEST(RangeCache, KeepsPartsOfARangeAsFarAsACursorWalked) {
  CachedStore store(kPlenty);
  for (int i = 10; i < 30; ++i) write(store, fmt::format("k{}", i), "v");
  {
    const auto snapshot = store.snapshot();
    const auto cursor = snapshot->cursor(KeyRange::prefix("k"), Direction::Forward);
    for (int i = 0; i < 4; ++i) cursor->next();
  }
  {
    const auto snapshot = store.snapshot();
    const auto cursor = snapshot->cursor(KeyRange::prefix("k"), Direction::Backward);
    for (int i = 0; i < 4; ++i) cursor->next();
  }
  EXPECT_EQ(store.reads_of_base(), 2U);
  EXPECT_EQ(forward(store, {"k", Bytes("k14") + '\0'}).size(), 5U);
  EXPECT_EQ(backward(store, {"k25", "l"}).size(), 5U);
  EXPECT_EQ(store.reads_of_base(), 0U);
  EXPECT_EQ(forward(store, KeyRange::prefix("k")).size(), 20U);
  EXPECT_EQ(store.reads_of_base(), 1U) << "in the middle";
  EXPECT_EQ(backward(store, KeyRange::prefix("k")).size(), 20U);
  EXPECT_EQ(store.reads_of_base(), 0U);
}

TEST(RangeCache, TakesLargeRangesInPieces) {
  CachedStore store(kPlenty);
  for (int i = 100; i < 400; ++i) write(store, fmt::format("k{}", i), Bytes(1000, 'v'));
  EXPECT_EQ(forward(store, KeyRange::prefix("k")).size(), 300U);
  EXPECT_EQ(store.reads_of_base(), 1U);
  EXPECT_EQ(forward(store, KeyRange::prefix("k")).size(), 300U);
  EXPECT_EQ(backward(store, KeyRange::prefix("k")).size(), 300U);
  EXPECT_EQ(forward(store, {"k150", "k350"}).size(), 200U);
  EXPECT_EQ(store.reads_of_base(), 0U);
}

TEST(RangeCache, DoesNotTakeWhatACommitHasChangedMeanwhile) {
  CachedStore store(kPlenty);
  for (const auto* key : {"k1", "k2", "k3"}) write(store, key, "old");
  const auto before = store.snapshot();
  write(store, "k2", "new");
  EXPECT_EQ(before->get("k2").value(), "old");
  EXPECT_EQ(testing::entries(*before, KeyRange::prefix("k")), (Entries{{"k1", "old"}, {"k2", "old"}, {"k3", "old"}}));
  EXPECT_EQ(get(store, "k2"), "new");
  EXPECT_EQ(forward(store, KeyRange::prefix("k")), (Entries{{"k1", "old"}, {"k2", "new"}, {"k3", "old"}}));
  store.reads_of_base();
  const auto again = store.snapshot();
  write(store, "other", "1");
  EXPECT_EQ(testing::entries(*again, {"k", "k2"}).size(), 1U);
}

TEST(RangeCache, TakesWhatNoCommitHasTouchedMeanwhile) {
  CachedStore store(kPlenty);
  for (const auto* key : {"k1", "k2", "k3"}) write(store, key, "v");
  const auto before = store.snapshot();
  for (int i = 0; i < 100; ++i) write(store, "m", "1");
  EXPECT_EQ(testing::entries(*before, KeyRange::prefix("k")).size(), 3U);
  store.reads_of_base();
  EXPECT_EQ(forward(store, KeyRange::prefix("k")).size(), 3U);
  EXPECT_EQ(store.reads_of_base(), 0U);
}

TEST(RangeCache, ShowsNoCommitBeforeItIsPublished) {
  CachedStore store(kPlenty);
  write(store, "a", "1");
  write(store, "b", "1");
  EXPECT_EQ(get(store, "a"), "1");
  std::string seen;
  // The base has the commit, and the cache not yet: `a` is read from the cache, `b` and the range from the base.
  store.between([&] {
    seen = get(store, "a") + get(store, "b") + forward(store, {"a", "c"}).at(1).second +
           store.snapshot()->get("b")->value();
  });
  Batch batch;
  batch.put("a", "2");
  batch.put("b", "2");
  ASSERT_TRUE(store.commit(std::move(batch)));
  EXPECT_EQ(seen, "1111");
  EXPECT_EQ(get(store, "a") + get(store, "b"), "22");
}

TEST(RangeCache, CountsTheKeysOfTheLastCommits) {
  CachedStore store(kPlenty);
  const auto before = store.cache().size_bytes();
  const auto write_many = [&](int count) {
    for (int i = 0; i < count; ++i) write(store, Bytes(1000, 'k') + std::to_string(i), "");
  };
  write_many(100);
  EXPECT_GE(store.cache().size_bytes(), before + 100'000);
  write_many(4096);
  EXPECT_LE(store.cache().size_bytes(), before + 4'000'000) << "it forgets what is older";
}

TEST(RangeCache, ForgetsEverythingWhenItIsClosed) {
  CachedStore store(kPlenty);
  write(store, "a", "1");
  EXPECT_EQ(get(store, "a"), "1");
  const auto held = store.snapshot();
  {
    const auto base = store.cache().close();
    EXPECT_FALSE(store.cache().view().is_open());
    EXPECT_EQ(store.get("a").error().code, ErrorCode::Storage);
    const auto cursor = store.snapshot();
    EXPECT_FALSE(cursor->cursor({}, Direction::Forward)->status());
    EXPECT_EQ(held->get("a").value(), "1");
  }
  Batch behind_its_back;
  behind_its_back.put("a", "2");
  ASSERT_TRUE(store.base().commit(std::move(behind_its_back)));
  store.cache().open(store.new_base());
  EXPECT_EQ(held->get("b").value(), std::nullopt) << "its base lives, and what it offers is not taken";
  EXPECT_EQ(get(store, "a"), "2");
}

TEST(RangeCache, LetsAnOldBaseGoWithItsLastView) {
  CachedStore store(kPlenty);
  write(store, "a", "1");
  std::weak_ptr<const Snapshot> base;
  {
    auto first = store.new_base();
    base = first;
    store.cache().open(std::move(first));
  }
  auto held = store.snapshot();
  EXPECT_EQ(get(store, "a"), "1") << "a version of its own, with the same base";
  write(store, "a", "2");
  EXPECT_FALSE(base.expired());
  held.reset();
  EXPECT_TRUE(base.expired());
}

TEST(RangeCache, IsBounded) {
  constexpr std::uint64_t kBytes = 1 << 20;
  CachedStore store(kBytes);
  for (int i = 0; i < 5000; ++i) {
    Batch batch;
    batch.put(fmt::format("k{:05}", i), Bytes(1000, 'x'));
    ASSERT_TRUE(store.base().commit(std::move(batch)));
  }
  store.cache().open(store.new_base());
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 5000; ++i) EXPECT_EQ(get(store, fmt::format("k{:05}", i)).size(), 1000U);
    EXPECT_LE(store.cache().size_bytes(), kBytes);
    EXPECT_GE(store.cache().size_bytes(), kBytes / 2);
    EXPECT_EQ(forward(store, KeyRange::prefix("k")).size(), 5000U);
    EXPECT_LE(store.cache().size_bytes(), kBytes);
  }
  // Writes into a range that is known make it larger.
  EXPECT_EQ(forward(store, KeyRange::prefix("m")).size(), 0U);
  EXPECT_EQ(forward(store, KeyRange::prefix("m")).size(), 0U);
  for (int i = 0; i < 5000; ++i) write(store, fmt::format("m{:05}", i), Bytes(1000, 'x'));
  EXPECT_LE(store.cache().size_bytes(), kBytes);
  EXPECT_EQ(forward(store, KeyRange::prefix("m")).size(), 5000U);
}

TEST(RangeCache, KeepsWhatIsUsedWhenAllIsWalkedOnce) {
  CachedStore store(1 << 20);
  for (int i = 0; i < 10'000; ++i) {
    Batch batch;
    batch.put(fmt::format("k{:05}", i), Bytes(500, 'x'));
    ASSERT_TRUE(store.base().commit(std::move(batch)));
  }
  store.cache().open(store.new_base());
  const auto use = [&] {
    for (int i = 0; i < 500; ++i) EXPECT_EQ(get(store, fmt::format("k{:05}", i * 20)).size(), 500U);
  };
  for (int i = 0; i < 4; ++i) use();
  EXPECT_EQ(forward(store, KeyRange::prefix("k")).size(), 10'000U);
  store.reads_of_base();
  use();
  EXPECT_LT(store.reads_of_base(), 50U);
}

TEST(RangeCache, FollowsWhatIsUsed) {
  CachedStore store(1 << 20);
  for (int i = 0; i < 10'000; ++i) {
    Batch batch;
    batch.put(fmt::format("k{:05}", i), Bytes(500, 'x'));
    ASSERT_TRUE(store.base().commit(std::move(batch)));
  }
  store.cache().open(store.new_base());
  Random random(1);
  for (const std::uint64_t first : {0U, 5000U, 8000U}) {
    const auto read = [&](int times) {
      for (int i = 0; i < times; ++i) {
        EXPECT_EQ(get(store, fmt::format("k{:05}", first + random.below(1000))).size(), 500U);
      }
    };
    read(20'000);
    store.reads_of_base();
    read(1000);
    EXPECT_LT(store.reads_of_base(), 50U) << first;
  }
}

// Pairs of keys get the same number in one commit; readers of all kinds must find both alike, and never an older number
// than one that they have seen, or that was acknowledged, before.
void expect_whole_and_current(std::uint64_t bytes) {
  constexpr int kPairs = 20;
  constexpr int kCommits = 4000;
  CachedStore store(bytes);
  const auto left = [](int pair) { return fmt::format("pair{:02} left", pair); };
  const auto right = [](int pair) { return fmt::format("pair{:02} right", pair); };
  std::array<std::atomic<int>, kPairs> acknowledged{};
  std::atomic<bool> done{false};
  const auto check = [&](int pair, const Entries& found, int& least) {
    int numbers[2] = {0, 0};
    for (const auto& [key, value] : found) numbers[key == right(pair)] = std::stoi(value.substr(0, 8));
    EXPECT_EQ(numbers[0], numbers[1]);
    EXPECT_GE(numbers[0], least);
    least = numbers[0];
  };
  const auto read = [&](std::uint64_t seed) {
    Random random(seed);
    std::array<int, kPairs> seen{};
    while (!done.load()) {
      const auto pair = static_cast<int>(random.below(kPairs));
      auto& least = seen[static_cast<std::size_t>(pair)];
      least = std::max(least, acknowledged[static_cast<std::size_t>(pair)].load(std::memory_order_acquire));
      const auto prefix = fmt::format("pair{:02}", pair);
      switch (random.below(4)) {
        case 0: check(pair, forward(store, KeyRange::prefix(prefix)), least); break;
        case 1: check(pair, backward(store, KeyRange::prefix(prefix)), least); break;
        case 2: {
          const auto snapshot = store.snapshot();
          Entries found;
          for (const auto& key : {left(pair), right(pair)}) {
            if (auto value = snapshot->get(key).value()) found.emplace_back(key, *value);
          }
          check(pair, found, least);
          break;
        }
        default: {
          const auto value = store.get(random.below(2) == 0 ? left(pair) : right(pair)).value();
          const int number = value ? std::stoi(value->substr(0, 8)) : 0;
          EXPECT_GE(number, least);
          least = number;
        }
      }
    }
  };
  std::vector<std::jthread> readers;
  for (std::uint64_t i = 0; i < 3; ++i) readers.emplace_back(read, i + 1);
  Random random(99);
  for (int i = 1; i <= kCommits; ++i) {
    const auto pair = static_cast<int>(random.below(kPairs));
    const auto value = fmt::format("{:08}", i) + Bytes(random.below(300), 'x');
    Batch batch;
    if (random.below(20) == 0) batch.erase_range(KeyRange::prefix(fmt::format("pair{:02}", pair)));
    batch.put(right(pair), value);
    batch.put(left(pair), value);
    batch.put(fmt::format("unread {}", i), value);
    batch.add("counter", 1);
    if (!store.commit(std::move(batch))) std::abort();
    acknowledged[static_cast<std::size_t>(pair)].store(i, std::memory_order_release);
  }
  done.store(true);
  readers.clear();
  EXPECT_EQ(decode_counter(get(store, "counter")).value(), kCommits);
}

TEST(RangeCache, ShowsCommitsWholeAndNoneThatIsOld) { expect_whole_and_current(kPlenty); }
TEST(RangeCache, ShowsCommitsWholeAndNoneThatIsOldWhileItEvicts) { expect_whole_and_current(6000); }

}  // namespace
}  // namespace stator::storage
