#include "stator/storage/testing/contract.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "stator/base/random.h"

namespace stator::storage::testing {
namespace {

using Reference = std::map<Bytes, Bytes>;

// With several lanes, numbers have gaps.
bool counts_commits(const Store& store) { return store.capabilities().lanes == 1; }

class VolatilePlace final : public StorePlace {
 public:
  explicit VolatilePlace(std::function<std::unique_ptr<Store>()> open) : open_(std::move(open)) {}
  std::unique_ptr<Store> open() override { return open_(); }

 private:
  std::function<std::unique_ptr<Store>()> open_;
};

Reference::const_iterator range_end(const Reference& reference, const KeyRange& range) {
  return range.end.empty() ? reference.end() : reference.lower_bound(range.end);
}

Entries expected_entries(const Reference& reference, const KeyRange& range, Direction direction) {
  if (!range.end.empty() && range.end <= range.begin) return {};
  Entries found(reference.lower_bound(range.begin), range_end(reference, range));
  if (direction == Direction::Backward) std::reverse(found.begin(), found.end());
  return found;
}

void apply(Reference& reference, const Batch& batch, CommitSequence sequence) {
  for (const auto& operation : batch.operations()) {
    switch (operation.kind) {
      case Batch::Kind::Put: reference[operation.key] = operation.value; break;
      case Batch::Kind::PutSequenced: {
        Bytes number;
        append_u64be(number, sequence.value);
        auto key = operation.key;
        reference[key.replace(operation.sequence_at, 8, number)] = operation.value;
        break;
      }
      case Batch::Kind::Erase: reference.erase(operation.key); break;
      case Batch::Kind::EraseRange: {
        const KeyRange range{operation.key, operation.value};
        if (!range.end.empty() && range.end <= range.begin) break;
        reference.erase(reference.lower_bound(range.begin), range_end(reference, range));
        break;
      }
      case Batch::Kind::Add: {
        auto& value = reference[operation.key];
        const auto before = value.empty() ? 0 : decode_counter(value).value();
        value = encode_counter(add_to_counter(before, operation.delta));
        break;
      }
    }
  }
}

std::string show(const Entries& all) {
  std::string text;
  for (const auto& [key, value] : all) text += fmt::format("[{}] = {} bytes\n", hex(key), value.size());
  return text;
}

// One run of expect_same_as_map.
class Comparison {
 public:
  Comparison(StorePlace& place, std::uint64_t seed) : random_(seed), place_(place), store_(place.open()) {
    // Few and short keys collide often; many and long ones make the store deep.
    shape_ = random_.below(3);
    operations_per_batch_ = 1 + random_.below(shape_ == 2 ? 400 : 30);
    prefixes_ = {"", "t", Bytes("i\0\0\0\x01\0\0", 7), Bytes(60, 'p'), "\xff\xff"};
  }

  void run() {
    for (int step = 0; step < 60 && !::testing::Test::HasFailure(); ++step) {
      SCOPED_TRACE(fmt::format("step {}", step));
      commit();
      if (random_.below(4) == 0) held_.push_back({store_->snapshot(), reference_});
      if (!held_.empty() && random_.below(4) == 0) {
        const auto which = random_.below(held_.size());
        compare(*held_[which].snapshot, held_[which].reference);
        if (random_.below(2) == 0) held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(which));
      }
      if (random_.below(3) == 0) compare(*store_->snapshot(), reference_);
      if (random_.below(12) == 0) reopen();
    }
    for (const auto& held : held_) compare_range(*held.snapshot, held.reference, {}, Direction::Forward);
    compare_range(*store_->snapshot(), reference_, {}, Direction::Forward);
    compare_range(*store_->snapshot(), reference_, {}, Direction::Backward);
    held_.clear();
  }

 private:
  struct Held {
    std::unique_ptr<Snapshot> snapshot;
    Reference reference;
  };

  Bytes random_key() {
    Bytes key = prefixes_[random_.below(prefixes_.size())];
    if (key.empty()) key.push_back("\x01\xff"[random_.below(2)]);
    const auto length = random_.below(shape_ == 0 ? 3 : 8);
    static constexpr char kAlphabet[] = {'a', 'b', 'c', '\0', '\x01', '\xff', '\x7f', '\x80'};
    for (std::uint64_t i = 0; i < length; ++i) key.push_back(kAlphabet[random_.below(sizeof kAlphabet)]);
    return key;
  }
  Bytes counter_key() { return fmt::format("counter{}", random_.below(20)); }
  Bytes random_value() {
    return Bytes(random_.below(10) == 0 ? random_.below(3000) : random_.below(40),
                 static_cast<char>('A' + random_.below(26)));
  }
  // A key that is there, most of the time.
  Bytes likely_key() {
    if (reference_.empty() || random_.below(4) == 0) return random_key();
    const auto found = reference_.lower_bound(random_key());
    return found == reference_.end() ? reference_.begin()->first : found->first;
  }
  KeyRange random_range() {
    switch (random_.below(8)) {
      case 0: return {};
      case 1: return KeyRange::prefix(prefixes_[random_.below(prefixes_.size())]);
      case 2: return KeyRange::prefix("\xff");
      case 3: return {random_key(), {}};
      case 4: return {{}, random_key()};
      case 5: {  // may be empty or upside down
        return {random_key(), random_key()};
      }
      default: {
        auto begin = likely_key();
        auto end = likely_key();
        if (end < begin) std::swap(begin, end);
        return {std::move(begin), std::move(end)};
      }
    }
  }

  void commit() {
    Batch batch;
    const auto count = random_.below(operations_per_batch_ + 1);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto choice = random_.below(100);
      if (choice < 50) {
        batch.put(random_key(), random_value());
      } else if (choice < 70) {
        batch.erase(likely_key());
      } else if (choice < 71) {
        batch.erase_range(narrow(random_range()));
      } else if (choice < 85) {
        batch.add(counter_key(), static_cast<std::int64_t>(random_.below(2000)) - 1000);
      } else if (choice < 88) {
        batch.put(counter_key(), encode_counter(static_cast<std::int64_t>(random_.next())));
      } else if (choice < 90) {
        batch.erase(counter_key());
      } else {
        batch.put_sequenced(fmt::format("log........{}", i), 3, random_value());
      }
    }
    const auto before = store_->last_commit();
    std::vector<CommitSequence> before_of;
    for (const auto& operation : batch.operations()) before_of.push_back(store_->last_commit_of(operation.key));
    const auto recorded = batch;
    const auto sequence = random_.below(2) == 0 ? store_->commit(std::move(batch)) : commit_in_steps(std::move(batch));
    ASSERT_TRUE(sequence) << sequence.error().message;
    if (counts_commits(*store_)) {
      EXPECT_EQ(sequence->value, before.value + 1);
      EXPECT_EQ(store_->last_commit(), *sequence);
    }
    for (std::size_t i = 0; i < before_of.size(); ++i) {
      const auto& operation = recorded.operations()[i];
      if (operation.kind == Batch::Kind::EraseRange || operation.key.starts_with("counter")) continue;
      EXPECT_GT(*sequence, before_of[i]);
      EXPECT_EQ(store_->last_commit_of(operation.key), *sequence);
    }
    EXPECT_TRUE(numbers_.insert(sequence->value).second) << "no two commits have the same number";
    apply(reference_, recorded, *sequence);
  }

  Result<CommitSequence> commit_in_steps(Batch batch) {
    const auto sequence = TRY(store_->write(std::move(batch)));
    TRY(store_->publish(sequence));
    return sequence;
  }

  // Erasing everything in every other batch would leave little to compare.
  KeyRange narrow(KeyRange range) {
    if (random_.below(10) == 0) return range;
    const auto first = reference_.lower_bound(range.begin);
    auto last = first;
    for (int i = 0; i < 150 && last != reference_.end(); ++i) ++last;
    if (last != reference_.end() && (range.end.empty() || last->first < range.end)) range.end = last->first;
    return range;
  }

  void compare(const Snapshot& snapshot, const Reference& reference) {
    for (int i = 0; i < 10; ++i) {
      const auto key = random_.below(2) == 0 ? likely_key() : random_key();
      const auto value = snapshot.get(key);
      ASSERT_TRUE(value) << value.error().message;
      const auto expected = reference.find(key);
      ASSERT_EQ(value->has_value(), expected != reference.end()) << hex(key);
      if (value->has_value()) {
        EXPECT_EQ(**value, expected->second) << hex(key);
      }
    }
    for (int i = 0; i < 4; ++i) {
      compare_range(snapshot, reference, random_range(),
                    random_.below(2) == 0 ? Direction::Forward : Direction::Backward);
    }
  }

  void compare_range(const Snapshot& snapshot, const Reference& reference, const KeyRange& range, Direction direction) {
    const auto found = entries(snapshot, range, direction);
    const auto expected = expected_entries(reference, range, direction);
    EXPECT_TRUE(found == expected) << "range [" << hex(range.begin) << "] to [" << hex(range.end) << "], "
                                   << (direction == Direction::Forward ? "forward" : "backward") << "\nfound:\n"
                                   << show(found) << "expected:\n"
                                   << show(expected);
  }

  void reopen() {
    held_.clear();
    const auto sequence = store_->last_commit();
    const bool durable = store_->capabilities().durable;
    if (!durable) return;
    store_.reset();
    store_ = place_.open();
    EXPECT_EQ(store_->last_commit(), sequence);
    compare_range(*store_->snapshot(), reference_, {}, Direction::Forward);
  }

  Random random_;
  StorePlace& place_;
  std::unique_ptr<Store> store_;
  Reference reference_;
  std::set<std::uint64_t> numbers_;
  std::vector<Held> held_;  // before store_ is destroyed
  std::uint64_t shape_ = 0;
  std::uint64_t operations_per_batch_ = 0;
  std::vector<Bytes> prefixes_;
};

CommitSequence commit(Store& store, Batch batch) {
  const auto sequence = store.commit(std::move(batch));
  EXPECT_TRUE(sequence) << sequence.error().message;
  return sequence ? *sequence : CommitSequence{};
}

void put(Store& store, Bytes key, Bytes value) {
  Batch batch;
  batch.put(std::move(key), std::move(value));
  commit(store, std::move(batch));
}

template <typename Reader>
std::string read(const Reader& reader, BytesView key) {
  const auto value = reader.get(key);
  if (!value) return "error: " + value.error().message;
  return value->has_value() ? **value : "(missing)";
}

std::int64_t read_counter(const Store& store, BytesView key) { return decode_counter(read(store, key)).value(); }

std::string keys(const Snapshot& snapshot, const KeyRange& range, Direction direction = Direction::Forward) {
  std::string all;
  for (const auto& [key, value] : entries(snapshot, range, direction)) all += (all.empty() ? "" : " ") + hex(key);
  return all;
}

// --- The sentences of the contract.

void a_new_store_is_empty(StorePlace& place) {
  const auto store = place.open();
  EXPECT_EQ(store->last_commit().value, 0U);
  EXPECT_EQ(read(*store, "k"), "(missing)");
  EXPECT_TRUE(entries(*store->snapshot()).empty());
  EXPECT_TRUE(entries(*store->snapshot(), {}, Direction::Backward).empty());
}

void a_snapshot_sees_no_later_commit(StorePlace& place) {
  const auto store = place.open();
  put(*store, "a", "1");
  const auto snapshot = store->snapshot();
  put(*store, "a", "2");
  put(*store, "b", "2");
  EXPECT_EQ(read(*snapshot, "a"), "1");
  EXPECT_EQ(read(*snapshot, "b"), "(missing)");
  EXPECT_EQ(entries(*snapshot), (Entries{{"a", "1"}}));
  EXPECT_EQ(read(*store, "a"), "2");
  EXPECT_EQ(entries(*store->snapshot()), (Entries{{"a", "2"}, {"b", "2"}}));
}

// In a store that commits in one step, to write is to publish.
void what_is_written_shows_when_it_is_published(StorePlace& place) {
  const auto store = place.open();
  const auto write = [&](Bytes key, Bytes value) {
    Batch batch;
    batch.put(std::move(key), std::move(value));
    batch.add("count", 1);
    return store->write(std::move(batch)).value();
  };
  put(*store, "a", "1");
  const bool two_steps = store->capabilities().two_steps;
  const auto first = write("a", "2");
  const auto second = write("b", "2");
  EXPECT_LT(first, second);
  EXPECT_EQ(read(*store, "a"), two_steps ? "1" : "2");
  EXPECT_EQ(entries(*store->snapshot()).size(), two_steps ? 1U : 3U);
  EXPECT_EQ(store->get_written("a").value(), "2");
  EXPECT_EQ(store->get_written("b").value(), "2");
  EXPECT_EQ(decode_counter(store->get_written("count").value().value()).value(), 2);
  EXPECT_TRUE(store->publish(second));
  EXPECT_TRUE(store->publish(first)) << "done already";
  EXPECT_EQ(read(*store, "a"), "2");
  EXPECT_EQ(read(*store, "b"), "2");
  EXPECT_GE(store->last_commit(), second);
  ASSERT_TRUE(write("c", "3").value > 0);
  put(*store, "d", "4");
  EXPECT_EQ(read(*store, "c"), "3") << "a commit publishes what was written before it";
}

void a_cursor_stays_on_its_snapshot(StorePlace& place) {
  const auto store = place.open();
  for (const auto* key : {"a", "b", "c"}) put(*store, key, "old");
  const auto snapshot = store->snapshot();
  const auto cursor = snapshot->cursor({}, Direction::Forward);
  Batch batch;
  batch.erase("b");
  batch.put("c", "new");
  batch.put("d", "new");
  commit(*store, std::move(batch));
  std::string seen;
  for (; cursor->valid(); cursor->next()) seen += Bytes(cursor->key()) + "=" + Bytes(cursor->value()) + " ";
  EXPECT_TRUE(cursor->status());
  EXPECT_EQ(seen, "a=old b=old c=old ");
}

void operations_of_a_batch_happen_in_order(StorePlace& place) {
  const auto store = place.open();
  put(*store, "gone", "x");
  Batch batch;
  batch.put("a", "1");
  batch.put("a", "2");
  batch.put("b", "1");
  batch.erase("b");
  batch.erase("c");
  batch.put("c", "1");
  batch.put("r1", "before the range");
  batch.erase_range({"gone", "s"});
  batch.put("r2", "after the range");
  batch.add("t", 5);
  batch.put("t", encode_counter(1));
  batch.add("t", 2);
  commit(*store, std::move(batch));
  EXPECT_EQ(read(*store, "a"), "2");
  EXPECT_EQ(read(*store, "b"), "(missing)");
  EXPECT_EQ(read(*store, "c"), "1");
  EXPECT_EQ(read(*store, "gone"), "(missing)");
  EXPECT_EQ(read(*store, "r1"), "(missing)");
  EXPECT_EQ(read(*store, "r2"), "after the range");
  EXPECT_EQ(read_counter(*store, "t"), 3);
}

void adding_to_a_missing_counter_starts_at_zero(StorePlace& place) {
  const auto store = place.open();
  Batch batch;
  batch.add("n", -7);
  batch.add("erased", 100);
  commit(*store, std::move(batch));
  EXPECT_EQ(read_counter(*store, "n"), -7);
  Batch again;
  again.add("n", 10);
  again.erase("erased");
  again.add("erased", 1);
  commit(*store, std::move(again));
  EXPECT_EQ(read_counter(*store, "n"), 3);
  EXPECT_EQ(read_counter(*store, "erased"), 1);
  EXPECT_EQ(entries(*store->snapshot()), (Entries{{"erased", encode_counter(1)}, {"n", encode_counter(3)}}));
}

void a_sequenced_key_holds_its_commit(StorePlace& place) {
  const auto store = place.open();
  put(*store, "a", "1");
  Batch batch;
  batch.put_sequenced("log........x", 3, "first");
  batch.put_sequenced("log........y", 3, "second");
  const auto sequence = commit(*store, std::move(batch));
  Bytes key = "log";
  append_u64be(key, sequence.value);
  EXPECT_EQ(read(*store, key + "x"), "first");
  EXPECT_EQ(read(*store, key + "y"), "second");
  EXPECT_EQ(entries(*store->snapshot(), KeyRange::prefix("log")).size(), 2U);
}

void sequences_grow_in_each_lane(StorePlace& place) {
  const auto store = place.open();
  std::set<std::uint64_t> all;
  for (int i = 0; i < 40; ++i) {
    const Bytes key(1, static_cast<char>('a' + i % 9));
    const auto before = store->last_commit_of(key);
    Batch batch;
    batch.put(key, "v");
    if (i % 10 == 0) batch.put("other", "v");
    const auto sequence = commit(*store, std::move(batch));
    EXPECT_GT(sequence, before);
    EXPECT_EQ(store->last_commit_of(key), sequence);
    EXPECT_LE(sequence, store->last_commit());
    EXPECT_TRUE(all.insert(sequence.value).second) << "no two commits have the same number";
  }
}

void a_barrier_is_after_all_others_and_before_all_later_ones(StorePlace& place) {
  const auto store = place.open();
  CommitSequence newest;
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < 9; ++i) {
      Batch batch;
      batch.put(Bytes(1, static_cast<char>('a' + (i * (round + 1)) % 9)), "v");
      newest = std::max(newest, commit(*store, std::move(batch)));
    }
    Batch batch;
    batch.make_barrier();
    const auto barrier = commit(*store, std::move(batch));
    EXPECT_GT(barrier, newest);
    EXPECT_EQ(store->last_commit(), barrier);
    Batch later;
    later.put(Bytes(1, static_cast<char>('a' + round)), "v");
    EXPECT_GT(commit(*store, std::move(later)), barrier);
    newest = store->last_commit();
  }
}

void sequences_count_commits_from_one(StorePlace& place) {
  const auto store = place.open();
  if (!counts_commits(*store)) return;
  for (std::uint64_t i = 1; i <= 5; ++i) {
    Batch batch;
    if (i % 2 == 0) batch.put("k", "v");  // an empty batch is a commit, too
    EXPECT_EQ(commit(*store, std::move(batch)).value, i);
    EXPECT_EQ(store->last_commit().value, i);
  }
}

void what_was_committed_survives_reopening(StorePlace& place) {
  auto store = place.open();
  if (!store->capabilities().durable) return;
  put(*store, "a", "1");
  Batch batch;
  batch.add("n", 5);
  batch.put("b", Bytes(100'000, 'x'));
  commit(*store, std::move(batch));
  const auto last = store->last_commit();
  if (counts_commits(*store)) {
    EXPECT_EQ(last.value, 2U);
  }
  for (int round = 0; round < 2; ++round) {
    store.reset();
    store = place.open();
    EXPECT_EQ(store->last_commit(), last);
  }
  EXPECT_EQ(read(*store, "a"), "1");
  EXPECT_EQ(read(*store, "b").size(), 100'000U);
  EXPECT_EQ(read_counter(*store, "n"), 5);
  Batch next;
  next.add("n", 1);
  const auto third = commit(*store, std::move(next));
  if (counts_commits(*store)) {
    EXPECT_EQ(third.value, 3U);
  }
  EXPECT_EQ(read_counter(*store, "n"), 6);
}

void a_range_ends_before_its_end(StorePlace& place) {
  const auto store = place.open();
  for (const auto* key : {"a", "b", "c", "d"}) put(*store, key, "v");
  const auto snapshot = store->snapshot();
  EXPECT_EQ(keys(*snapshot, {"b", "d"}), "62 63");
  EXPECT_EQ(keys(*snapshot, {"b", "d"}, Direction::Backward), "63 62");
  EXPECT_EQ(keys(*snapshot, {"bb", "cc"}), "63");
  EXPECT_EQ(keys(*snapshot, {"bb", "cc"}, Direction::Backward), "63");
}

void an_empty_range_holds_nothing(StorePlace& place) {
  const auto store = place.open();
  for (const auto* key : {"a", "b", "c"}) put(*store, key, "v");
  const auto snapshot = store->snapshot();
  for (const auto direction : {Direction::Forward, Direction::Backward}) {
    EXPECT_EQ(keys(*snapshot, {"b", "b"}, direction), "");
    EXPECT_EQ(keys(*snapshot, {"c", "a"}, direction), "") << "upside down";
    EXPECT_EQ(keys(*snapshot, {"x", "y"}, direction), "");
  }
  Batch batch;
  batch.erase_range({"b", "b"});
  batch.erase_range({"c", "a"});
  commit(*store, std::move(batch));
  EXPECT_EQ(keys(*store->snapshot(), {}), "61 62 63");
}

void an_empty_end_means_no_upper_bound(StorePlace& place) {
  const auto store = place.open();
  for (const auto* key : {"a", "b", "\xff", "\xff\xff\xff"}) put(*store, key, "v");
  EXPECT_EQ(keys(*store->snapshot(), {"b", ""}), "62 ff ff ff ff");
  EXPECT_EQ(keys(*store->snapshot(), {"b", ""}, Direction::Backward), "ff ff ff ff 62");
  Batch batch;
  batch.erase_range({"b", ""});
  commit(*store, std::move(batch));
  EXPECT_EQ(keys(*store->snapshot(), {}), "61");
  const auto before = store->last_commit();
  Batch all;
  all.erase_range({});
  commit(*store, std::move(all));
  EXPECT_EQ(keys(*store->snapshot(), {}), "");
  EXPECT_GT(store->last_commit(), before) << "erasing everything keeps the sequence";
}

void a_prefix_of_ff_is_a_range(StorePlace& place) {
  const auto store = place.open();
  for (const auto* key : {"a", "a\xff", "a\xff\x01", "a\xff\xff", "b", "\xff", "\xff\xff"}) put(*store, key, "v");
  const auto snapshot = store->snapshot();
  EXPECT_EQ(keys(*snapshot, KeyRange::prefix("a\xff")), "61 ff 61 ff 01 61 ff ff");
  EXPECT_EQ(keys(*snapshot, KeyRange::prefix("\xff")), "ff ff ff");
  EXPECT_EQ(keys(*snapshot, KeyRange::prefix("\xff\xff"), Direction::Backward), "ff ff");
}

void order_is_that_of_unsigned_bytes(StorePlace& place) {
  const auto store = place.open();
  for (const auto* key : {"\x80", "\x7f", "\xff", "\x01", "a", "aa", "a\x01"}) put(*store, key, "v");
  put(*store, Bytes("a\0", 2), "v");
  EXPECT_EQ(keys(*store->snapshot(), {}), "01 61 61 00 61 01 61 61 7f 80 ff");
}

void empty_values_are_values(StorePlace& place) {
  const auto store = place.open();
  put(*store, "k", "");
  EXPECT_EQ(read(*store, "k"), "");
  EXPECT_EQ(entries(*store->snapshot()), (Entries{{"k", ""}}));
}

void a_large_batch_is_one_commit(StorePlace& place) {
  const auto store = place.open();
  Batch batch;
  for (int i = 0; i < 5000; ++i) batch.put(fmt::format("key{:06}", i), Bytes(200, 'v'));
  commit(*store, std::move(batch));
  EXPECT_EQ(store->statistics().commits, 1U);
  EXPECT_EQ(entries(*store->snapshot()).size(), 5000U);
  Batch erase;
  erase.erase_range({"key000010", "key004990"});
  commit(*store, std::move(erase));
  EXPECT_EQ(entries(*store->snapshot()).size(), 20U);
}

void statistics_count_what_happened(StorePlace& place) {
  const auto store = place.open();
  EXPECT_EQ(store->statistics().commits, 0U);
  Batch batch;
  for (int i = 0; i < 100; ++i) batch.put(fmt::format("key{:02}", i), Bytes(1000, 'v'));
  commit(*store, std::move(batch));
  const auto statistics = store->statistics();
  EXPECT_EQ(statistics.commits, 1U);
  EXPECT_EQ(statistics.bytes_written, 100U * (1000 + 5));
  EXPECT_GE(statistics.size_bytes, 100'000U);
}

void commits_go_on_behind_a_number(StorePlace& place) {
  auto store = place.open();
  put(*store, "a", "1");
  ASSERT_TRUE(store->advance_to({500}));
  EXPECT_GE(store->last_commit().value, 500U);
  const auto reached = store->last_commit().value;
  ASSERT_TRUE(store->advance_to({200})) << "it is beyond that already";
  EXPECT_EQ(store->last_commit().value, reached);
  put(*store, "b", "2");
  const auto last = store->last_commit().value;
  EXPECT_GT(last, reached);
  if (!store->capabilities().durable) return;
  for (int round = 0; round < 2; ++round) {
    store.reset();
    store = place.open();
    EXPECT_EQ(store->last_commit().value, last);
  }
  EXPECT_EQ(read(*store, "a"), "1");
  EXPECT_EQ(read(*store, "b"), "2");
}

void sync_and_recover_are_fine_without_trouble(StorePlace& place) {
  const auto store = place.open();
  put(*store, "a", "1");
  EXPECT_TRUE(store->sync());
  EXPECT_TRUE(store->recover());
  EXPECT_EQ(read(*store, "a"), "1");
  put(*store, "a", "2");
  EXPECT_EQ(read(*store, "a"), "2");
}

void commits_from_several_threads_all_count(StorePlace& place) {
  const auto store = place.open();
  constexpr int kThreads = 4, kCommits = 50;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&store, t] {
        for (int i = 0; i < kCommits; ++i) {
          Batch batch;
          batch.add("n", 1);
          batch.put_sequenced("log........", 3, fmt::format("{}", t));
          commit(*store, std::move(batch));
        }
      });
    }
  }
  EXPECT_EQ(read_counter(*store, "n"), kThreads * kCommits);
  if (counts_commits(*store)) {
    EXPECT_EQ(store->last_commit().value, static_cast<std::uint64_t>(kThreads * kCommits));
  }
  EXPECT_EQ(entries(*store->snapshot(), KeyRange::prefix("log")).size(), static_cast<std::size_t>(kThreads * kCommits))
      << "no two commits share a sequence";
}

void a_snapshot_sees_only_commits_that_are_counted(StorePlace& place) {
  const auto store = place.open();
  std::atomic<bool> done{false};
  const auto read = [&] {
    while (!done.load() && !::testing::Test::HasFailure()) {
      const auto snapshot = store->snapshot();
      const auto newest = snapshot->cursor(KeyRange::prefix("log"), Direction::Backward);
      if (!newest->valid()) continue;
      const Bytes key(newest->key());
      EXPECT_LE(read_u64be(key.data() + 3), store->last_commit_of(key).value);
    }
  };
  const std::jthread reader(read);
  for (int group = 0; group < 100; ++group) {
    CommitSequence last;
    for (int i = 0; i < 8; ++i) {
      Batch batch;
      batch.put_sequenced("log........", 3, "v");
      const auto written = store->write(std::move(batch));
      ASSERT_TRUE(written) << written.error().message;
      last = *written;
    }
    EXPECT_TRUE(store->publish(last));
  }
  done = true;
}

struct Sentence {
  const char* name;
  void (*check)(StorePlace&);
};

constexpr Sentence kContract[] = {
    {"ANewStoreIsEmpty", a_new_store_is_empty},
    {"ASnapshotSeesNoLaterCommit", a_snapshot_sees_no_later_commit},
    {"WhatIsWrittenShowsWhenItIsPublished", what_is_written_shows_when_it_is_published},
    {"ACursorStaysOnItsSnapshot", a_cursor_stays_on_its_snapshot},
    {"OperationsOfABatchHappenInOrder", operations_of_a_batch_happen_in_order},
    {"AddingToAMissingCounterStartsAtZero", adding_to_a_missing_counter_starts_at_zero},
    {"ASequencedKeyHoldsItsCommit", a_sequenced_key_holds_its_commit},
    {"SequencesCountCommitsFromOne", sequences_count_commits_from_one},
    {"SequencesGrowInEachLane", sequences_grow_in_each_lane},
    {"ABarrierIsAfterAllOthersAndBeforeAllLaterOnes", a_barrier_is_after_all_others_and_before_all_later_ones},
    {"WhatWasCommittedSurvivesReopening", what_was_committed_survives_reopening},
    {"ARangeEndsBeforeItsEnd", a_range_ends_before_its_end},
    {"AnEmptyRangeHoldsNothing", an_empty_range_holds_nothing},
    {"AnEmptyEndMeansNoUpperBound", an_empty_end_means_no_upper_bound},
    {"APrefixOfFfIsARange", a_prefix_of_ff_is_a_range},
    {"OrderIsThatOfUnsignedBytes", order_is_that_of_unsigned_bytes},
    {"EmptyValuesAreValues", empty_values_are_values},
    {"ALargeBatchIsOneCommit", a_large_batch_is_one_commit},
    {"StatisticsCountWhatHappened", statistics_count_what_happened},
    {"CommitsGoOnBehindANumber", commits_go_on_behind_a_number},
    {"SyncAndRecoverAreFineWithoutTrouble", sync_and_recover_are_fine_without_trouble},
    {"CommitsFromSeveralThreadsAllCount", commits_from_several_threads_all_count},
    {"ASnapshotSeesOnlyCommitsThatAreCounted", a_snapshot_sees_only_commits_that_are_counted},
};

class ContractTest : public ::testing::Test {
 public:
  ContractTest(const NewPlace& new_place, const Sentence& sentence) : new_place_(new_place), sentence_(sentence) {}
  void TestBody() override { sentence_.check(*new_place_()); }

 private:
  NewPlace new_place_;
  const Sentence& sentence_;
};

}  // namespace

NewPlace place_for(std::function<std::unique_ptr<Store>()> open) {
  return [open = std::move(open)] { return std::make_unique<VolatilePlace>(open); };
}

std::vector<std::uint64_t> seeds(std::size_t count) {
  if (const char* one = std::getenv("STATOR_SEED")) return {std::strtoull(one, nullptr, 10)};
  std::vector<std::uint64_t> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = i + 1;
  return all;
}

Entries entries(const Snapshot& snapshot, const KeyRange& range, Direction direction) {
  Entries all;
  const auto cursor = snapshot.cursor(range, direction);
  for (; cursor->valid(); cursor->next()) all.emplace_back(cursor->key(), cursor->value());
  const auto status = cursor->status();
  EXPECT_TRUE(status) << status.error().message;
  return all;
}

void expect_same_as_map(const NewPlace& new_place, std::uint64_t seed) {
  SCOPED_TRACE(fmt::format("run this one alone with STATOR_SEED={}", seed));
  const auto place = new_place();
  Comparison(*place, seed).run();
}

void expect_snapshots_whole_under_writes(const NewPlace& new_place, std::size_t readers, std::size_t commits) {
  constexpr std::uint64_t kAccounts = 500;
  constexpr std::int64_t kStart = 1000;
  const auto place = new_place();
  const auto store = place->open();
  const auto account = [](std::uint64_t n) { return fmt::format("account/{:05}", n); };
  Batch opening;
  for (std::uint64_t n = 0; n < kAccounts; ++n) opening.put(account(n), encode_counter(kStart));
  opening.put("commits", encode_counter(0));
  commit(*store, std::move(opening));

  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> checked{0};
  const auto check = [&](std::uint64_t seed) {
    Random random(seed);
    std::vector<std::unique_ptr<Snapshot>> held;
    while (!done.load() && !::testing::Test::HasFailure()) {
      held.push_back(store->snapshot());
      if (held.size() > 4) held.erase(held.begin() + static_cast<std::ptrdiff_t>(random.below(held.size())));
      const auto& snapshot = *held[random.below(held.size())];
      std::int64_t total = 0;
      const auto direction = random.below(2) == 0 ? Direction::Forward : Direction::Backward;
      for (const auto& [key, value] : entries(snapshot, KeyRange::prefix("account/"), direction)) {
        total += decode_counter(value).value();
      }
      EXPECT_EQ(total, kStart * static_cast<std::int64_t>(kAccounts));
      // The log has one entry per commit that the snapshot counts.
      const auto counted = decode_counter(snapshot.get("commits").value().value()).value();
      EXPECT_EQ(entries(snapshot, KeyRange::prefix("log")).size(), static_cast<std::size_t>(counted % 64));
      for (int i = 0; i < 20; ++i) {
        const auto value = store->get(account(random.below(kAccounts)));
        EXPECT_TRUE(value && value->has_value());
      }
      ++checked;
    }
  };

  std::vector<std::jthread> threads;
  for (std::size_t r = 0; r < readers; ++r) threads.emplace_back(check, r + 1);
  Random random(7);
  for (std::size_t i = 1; i <= commits || checked.load() < readers; ++i) {
    if (::testing::Test::HasFailure()) break;
    Batch batch;
    for (int move = 0; move < 5; ++move) {
      const auto amount = static_cast<std::int64_t>(random.below(100));
      batch.add(account(random.below(kAccounts)), -amount);
      batch.add(account(random.below(kAccounts)), amount);
    }
    batch.add("commits", 1);
    if (i % 64 == 0) {
      batch.erase_range(KeyRange::prefix("log"));
    } else {
      batch.put_sequenced("log........", 3, Bytes(100, 'x'));
    }
    commit(*store, std::move(batch));
  }
  done = true;
  threads.clear();
  EXPECT_GE(checked.load(), readers);
}

bool register_contract_tests(const std::string& suite, const NewPlace& new_place) {
  for (const auto& sentence : kContract) {
    ::testing::RegisterTest(
        suite.c_str(), sentence.name, nullptr, nullptr, __FILE__, __LINE__,
        [new_place, &sentence]() -> ::testing::Test* { return new ContractTest(new_place, sentence); });
  }
  return true;
}

}  // namespace stator::storage::testing
