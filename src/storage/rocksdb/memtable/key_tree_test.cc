#include "stator/storage/rocksdb/memtable/key_tree.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "stator/base/bytes.h"
#include "stator/base/random.h"

namespace stator::storage {
namespace {

using rocksdb::Slice;

// User keys by their bytes, and of one key the newest sequence first.
class InternalOrder final : public rocksdb::MemTableRep::KeyComparator {
 public:
  int operator()(const char* a, const char* b) const override { return (*this)(a, decode_key(b)); }
  int operator()(const char* a, const Slice& b) const override {
    const Slice left = decode_key(a);
    const auto order = user_key(left).compare(user_key(b));
    if (order != 0) return order;
    const auto newer = sequence(left), older = sequence(b);
    return newer > older ? -1 : newer < older ? 1 : 0;
  }
  Slice decode_key(const char* entry) const override { return {entry + 1, static_cast<unsigned char>(entry[0])}; }

 private:
  static Slice user_key(const Slice& key) { return {key.data(), key.size() - 8}; }
  static std::uint64_t sequence(const Slice& key) { return read_u64be(key.data() + key.size() - 8); }
};

// A tree beside a set of what it should have.
class Table {
 public:
  static std::string internal(std::string user_key, std::uint64_t sequence) {
    append_u64be(user_key, sequence);
    return user_key;
  }

  void insert(const std::string& user_key, std::uint64_t sequence) {
    const auto key = internal(user_key, sequence);
    entries_.push_back(static_cast<char>(key.size()) + key);
    tree_.insert(entries_.back().data());
    expected_.insert(entries_.back().data());
  }

  const KeyTree& tree() const { return tree_; }
  std::string text(const char* entry) const { return order_.decode_key(entry).ToString(/*hex=*/true); }

  void expect_same() const {
    std::vector<std::string> forward, backward, wanted;
    KeyTree::Cursor cursor(tree_);
    for (cursor.seek_first(); cursor.valid(); cursor.next()) forward.push_back(text(cursor.entry()));
    for (cursor.seek_last(); cursor.valid(); cursor.previous()) backward.push_back(text(cursor.entry()));
    for (const auto* entry : expected_) wanted.push_back(text(entry));
    EXPECT_EQ(forward, wanted);
    std::reverse(backward.begin(), backward.end());
    EXPECT_EQ(backward, wanted);
  }

  void expect_same_around(const std::string& user_key, std::uint64_t sequence) const {
    const auto key = internal(user_key, sequence);
    const auto probe = static_cast<char>(key.size()) + key;
    const auto not_below = expected_.lower_bound(probe.data());
    const auto above = expected_.upper_bound(probe.data());
    const auto shown = [&](auto place) { return place == expected_.end() ? "none" : text(*place); };
    const auto before = [&](auto place) { return place == expected_.begin() ? "none" : text(*std::prev(place)); };
    KeyTree::Cursor cursor(tree_);
    const auto found = [&] { return cursor.valid() ? text(cursor.entry()) : "none"; };
    cursor.seek_not_below(key);
    EXPECT_EQ(found(), shown(not_below));
    cursor.seek_not_above(key);
    EXPECT_EQ(found(), before(above));
  }

 private:
  struct Less {
    bool operator()(const char* a, const char* b) const { return InternalOrder()(a, b) < 0; }
  };
  InternalOrder order_;
  std::deque<std::unique_ptr<char[]>> memory_;
  KeyTree tree_{order_,
                [this](std::size_t bytes) { return memory_.emplace_back(std::make_unique<char[]>(bytes)).get(); }};
  std::deque<std::string> entries_;
  std::set<const char*, Less> expected_;
};

// Many that share their first 16 bytes, some that are a part of others, and some with zeros at the end.
std::string random_key(Random& random) {
  std::string key = fmt::format("table {}", random.below(3));
  if (random.below(2) == 0) key += fmt::format(" partition {}", random.below(40));
  if (random.below(2) == 0) key += fmt::format(" sort {}", random.below(400));
  return key.substr(0, random.below(key.size() + 1)) + std::string(random.below(3), '\0');
}

TEST(KeyTree, IsEmptyAtFirst) {
  const Table table;
  table.expect_same();
  table.expect_same_around("any", 1);
}

TEST(KeyTree, BehavesLikeASet) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Table table;
    for (std::uint64_t sequence = 1; sequence <= 3000; ++sequence) {
      table.insert(random_key(random), sequence);
      if (sequence % 10 == 0) table.expect_same_around(random_key(random), random.below(2 * sequence));
    }
    table.expect_same();
  }
}

TEST(KeyTree, TakesKeysInOrder) {
  Table ascending, descending;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    ascending.insert(fmt::format("{:08}", i), i);
    descending.insert(fmt::format("{:08}", 5000 - i), i);
  }
  ascending.expect_same();
  descending.expect_same();
}

TEST(KeyTree, HasTheNewestSequenceOfAKeyFirst) {
  Table table;
  for (std::uint64_t sequence = 1; sequence <= 200; ++sequence) table.insert("one key for all of them", sequence);
  table.expect_same();
  KeyTree::Cursor cursor(table.tree());
  cursor.seek_not_below(Table::internal("one key for all of them", 100));
  EXPECT_EQ(table.text(cursor.entry()), Slice(Table::internal("one key for all of them", 100)).ToString(true));
}

// A reader sees, in order, at least what was inserted before it began; in both directions.
TEST(KeyTree, IsWholeForReadersWhileItGrows) {
  constexpr std::uint64_t kEntries = 60'000;
  const InternalOrder order;
  std::deque<std::unique_ptr<char[]>> memory;
  KeyTree tree(order, [&](std::size_t bytes) { return memory.emplace_back(std::make_unique<char[]>(bytes)).get(); });
  std::vector<std::string> entries;
  Random random(7);
  for (std::uint64_t i = 0; i < kEntries; ++i) {
    const auto key = Table::internal(fmt::format("{:06} and more", random.below(1'000'000)), i);
    entries.push_back(static_cast<char>(key.size()) + key);
  }

  std::atomic<std::uint64_t> inserted{0};
  const auto read = [&](bool forward) {
    while (inserted.load() < kEntries && !::testing::Test::HasFailure()) {
      const auto least = inserted.load();
      std::uint64_t seen = 0, old = 0;
      const char* last = nullptr;
      KeyTree::Cursor cursor(tree);
      const auto go = [&] { forward ? cursor.next() : cursor.previous(); };
      for (forward ? cursor.seek_first() : cursor.seek_last(); cursor.valid(); go(), ++seen) {
        const Slice key = order.decode_key(cursor.entry());
        if (read_u64be(key.data() + key.size() - 8) < least) ++old;
        if (last != nullptr) {
          ASSERT_EQ(order(last, cursor.entry()) < 0, forward);
        }
        last = cursor.entry();
      }
      ASSERT_EQ(old, least) << "of " << seen;
    }
  };
  std::vector<std::jthread> readers;
  for (const bool forward : {true, false}) readers.emplace_back(read, forward);
  const std::jthread seeker([&] {
    Random dice(8);
    while (inserted.load() < kEntries && !::testing::Test::HasFailure()) {
      const auto known = inserted.load();
      if (known == 0) continue;
      const auto& entry = entries[dice.below(known)];
      KeyTree::Cursor cursor(tree);
      cursor.seek_not_below(order.decode_key(entry.data()));
      ASSERT_TRUE(cursor.valid());
      ASSERT_EQ(cursor.entry(), entry.data());
    }
  });
  for (const auto& entry : entries) {
    tree.insert(entry.data());
    inserted.fetch_add(1);
  }
}

}  // namespace
}  // namespace stator::storage
