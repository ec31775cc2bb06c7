#include "stator/engine/keyspace.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "stator/engine/test_page.h"
#include "stator/engine/test_support.h"
#include "stator/storage/testing/contract.h"

namespace stator::engine {
namespace {

using namespace testing;
using storage::testing::seeds;
using value::AttributeValue;
using value::Item;
using value::Type;

constexpr Type kKeyTypes[] = {Type::S, Type::N, Type::B};

KeyBytes field(const AttributeValue& value) {
  KeyBytes out;
  append_field(out, value);
  return out;
}

bool contains(const storage::KeyRange& range, BytesView key) {
  return key >= range.begin && (range.end.empty() || key < range.end);
}

TEST(KeyField, EscapesZeroBytes) {
  EXPECT_EQ(hex(field(S(std::string_view("a\0b", 3)))), "61 00 ff 62 00 01");
  EXPECT_EQ(hex(field(B(std::string_view("\0", 1)))), "00 ff 00 01");
}

TEST(KeyField, SortsAsItsValues) {
  for (const auto seed : seeds(20)) {
    SCOPED_TRACE(seed);
    Random random(seed);
    for (const auto type : kKeyTypes) {
      for (int i = 0; i < 500; ++i) {
        const auto a = random_key_value(random, type);
        const auto b = random_key_value(random, type);
        ASSERT_EQ(field(a) <=> field(b), compare_plainly(a, b)) << hex(field(a)) << " | " << hex(field(b));
      }
    }
  }
}

// Whatever follows a field cannot change how two different fields compare: none begins another.
TEST(KeyField, BeginsNoOtherField) {
  for (const auto seed : seeds(20)) {
    SCOPED_TRACE(seed);
    Random random(seed);
    for (const auto type : kKeyTypes) {
      for (int i = 0; i < 500; ++i) {
        const auto a = random_key_value(random, type);
        const auto b = random_key_value(random, type);
        if (a == b) continue;
        ASSERT_FALSE(field(a).starts_with(field(b))) << hex(field(a)) << " | " << hex(field(b));
      }
    }
  }
}

TEST(KeyField, HasOneSpellingForEqualNumbers) {
  EXPECT_EQ(field(N("1")), field(N("1.0")));
  EXPECT_EQ(field(N("1")), field(N("10e-1")));
  EXPECT_EQ(field(N("0")), field(N("-0")));
}

TEST(ItemKey, SortsInsideAPartitionAsTheSortKeys) {
  for (const auto type : kKeyTypes) {
    Table t = table("T", keys({"pk:S"}, {"sk:S"}));
    t.keys.sort[0].type = type;
    for (const auto seed : seeds(10)) {
      SCOPED_TRACE(seed);
      Random random(seed);
      for (int i = 0; i < 300; ++i) {
        const Item a{{"pk", S("same")}, {"sk", random_key_value(random, type)}};
        const Item b{{"pk", S("same")}, {"sk", random_key_value(random, type)}};
        ASSERT_EQ(item_key(t, a) <=> item_key(t, b), compare_plainly(*a.find("sk"), *b.find("sk")));
      }
    }
  }
}

TEST(IndexKey, SortsByEverySortAttributeAndThenTheBaseKey) {
  Table t = table("T", keys({"pk:B"}, {"sk:N"}));
  const Index index = add_index(t, "gsi", IndexKind::Global, keys({"p1:S", "p2:N"}, {"s1:S", "s2:N", "s3:B"}));
  const std::vector<KeyAttribute> order = {attribute("s1:S"), attribute("s2:N"), attribute("s3:B"), attribute("pk:B"),
                                           attribute("sk:N")};
  for (const auto seed : seeds(20)) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto random_item = [&] {
      Item item{{"p1", S("p")}, {"p2", N(7)}};
      for (const auto& a : order) {
        // Few values, so that many items differ in the last attributes only.
        Random few(random.below(3));
        item.set(a.name, random_key_value(few, a.type));
      }
      return item;
    };
    for (int i = 0; i < 300; ++i) {
      const auto a = random_item();
      const auto b = random_item();
      auto expected = std::strong_ordering::equal;
      for (const auto& by : order) {
        if (expected == 0) expected = compare_plainly(*a.find(by.name), *b.find(by.name));
      }
      ASSERT_EQ(*index_key(t, index, a) <=> *index_key(t, index, b), expected);
    }
  }
}

TEST(IndexKey, IsMissingWhereAnAttributeIsMissingOrDoesNotFit) {
  Table t = table("T", keys({"pk:S"}));
  const Index index = add_index(t, "gsi", IndexKind::Global, keys({"g:S"}, {"h:N"}));
  const Item whole{{"pk", S("a")}, {"g", S("x")}, {"h", N(1)}};
  EXPECT_TRUE(index_key(t, index, whole));
  for (const auto* name : {"g", "h"}) {
    Item without = whole;
    without.erase(name);
    EXPECT_FALSE(index_key(t, index, without)) << name;
    Item other_type = whole;
    other_type.set(name, AttributeValue::boolean(true));
    EXPECT_FALSE(index_key(t, index, other_type)) << name;
  }
  Item empty = whole;
  empty.set("g", S(""));
  EXPECT_FALSE(index_key(t, index, empty));
}

TEST(PartitionPrefix, BeginsTheKeysOfItsPartitionAndNoOthers) {
  for (const auto type : kKeyTypes) {
    Table t = table("T", keys({"pk:S"}, {"sk:B"}));
    t.keys.partition[0].type = type;
    for (const auto seed : seeds(10)) {
      SCOPED_TRACE(seed);
      Random random(seed);
      for (int i = 0; i < 300; ++i) {
        const auto partition = random_key_value(random, type);
        const Item item{{"pk", random_key_value(random, type)}, {"sk", random_key_value(random, Type::B)}};
        const auto prefix = partition_prefix(t.id, kBaseIndex, {&partition});
        const bool same = *item.find("pk") == partition;
        ASSERT_EQ(item_key(t, item).starts_with(prefix), same);
        ASSERT_TRUE(item_key(t, item).starts_with(partition_prefix(t.id, kBaseIndex, {item.find("pk")})));
      }
    }
  }
}

TEST(PartitionPrefix, OfSeveralAttributesKeepsThemApart) {
  Table t = table("T", keys({"pk:S"}));
  const Index index = add_index(t, "gsi", IndexKind::Global, keys({"a:S", "b:S"}));
  const auto ab = S("ab"), c = S("c"), a = S("a"), bc = S("bc");
  const Item item{{"pk", S("x")}, {"a", ab}, {"b", c}};
  EXPECT_TRUE(index_key(t, index, item)->starts_with(partition_prefix(t.id, index.id, {&ab, &c})));
  EXPECT_FALSE(index_key(t, index, item)->starts_with(partition_prefix(t.id, index.id, {&a, &bc})));
}

TEST(Segments, FollowEachOtherWithoutGapOrOverlap) {
  const TableId id{7};
  for (const std::uint32_t total : {1U, 2U, 3U, 7U, 64U, 1000U, 999'983U, 1'000'000U}) {
    SCOPED_TRACE(total);
    const auto all = storage::KeyRange::prefix(index_prefix(id, kBaseIndex));
    // Nothing of the index is before the first: what it leaves out is no key, because a hash has eight bytes.
    EXPECT_EQ(segment_range(id, kBaseIndex, 0, total).begin, all.begin + std::string(8, '\0'));
    EXPECT_EQ(segment_range(id, kBaseIndex, total - 1, total).end, all.end);
    const auto step = std::max(1U, total / 1000);
    for (std::uint32_t segment = 0; segment + 1 < total; segment += step) {
      const auto here = segment_range(id, kBaseIndex, segment, total);
      ASSERT_LT(here.begin, here.end);
      ASSERT_EQ(here.end, segment_range(id, kBaseIndex, segment + 1, total).begin);
    }
  }
}

TEST(Segments, HoldEveryKeyOnce) {
  Table t = table("T", keys({"pk:S"}));
  Random random(1);
  for (const std::uint32_t total : {1U, 2U, 3U, 5U, 16U, 100U}) {
    std::vector<int> found(total);
    for (int i = 0; i < 200; ++i) {
      const auto key = item_key(t, Item{{"pk", S(random.uuid())}});
      int segments = 0;
      for (std::uint32_t segment = 0; segment < total; ++segment) {
        if (!contains(segment_range(t.id, kBaseIndex, segment, total), key)) continue;
        ++segments;
        ++found[segment];
      }
      ASSERT_EQ(segments, 1);
    }
    if (total <= 5) {
      for (const int count : found) EXPECT_GT(count, 10) << "of 200 keys in " << total << " segments";
    }
  }
}

TEST(Segments, CutAtTheEdgesOfTheHashes) {
  const auto key_with = [](std::uint64_t hash) {
    KeyBytes key = index_prefix({1}, kBaseIndex);
    append_u64be(key, hash);
    return key + "x";
  };
  for (const std::uint32_t total : {1U, 2U, 3U, 1'000'000U}) {
    EXPECT_TRUE(contains(segment_range({1}, kBaseIndex, 0, total), key_with(0)));
    EXPECT_TRUE(contains(segment_range({1}, kBaseIndex, total - 1, total), key_with(~std::uint64_t{0})));
  }
}

TEST(Keys, OfDifferentSpacesAndTablesAreApart) {
  Table one = table("T", keys({"pk:S"}));
  Table two = one;
  two.id = {2};
  const Index index = add_index(one, "gsi", IndexKind::Global, keys({"g:S"}));
  const Item item{{"pk", S("a")}, {"g", S("x")}};
  EXPECT_TRUE(contains(table_items(one.id), item_key(one, item)));
  EXPECT_TRUE(contains(table_items(one.id), *index_key(one, index, item)));
  EXPECT_FALSE(contains(table_items(one.id), item_key(two, item)));
  EXPECT_TRUE(contains(table_statistics(one.id), statistic_key(one.id, {65535}, Statistic::Items)));
  EXPECT_FALSE(contains(table_statistics(one.id), statistic_key(two.id, kBaseIndex, Statistic::Bytes)));
  EXPECT_TRUE(contains(table_collection_sizes(one.id), collection_size_key(one.id, S("a"))));
  EXPECT_FALSE(contains(table_collection_sizes(one.id), collection_size_key(two.id, S("a"))));
  EXPECT_TRUE(contains(all_table_records(), table_record_key("T")));
  EXPECT_FALSE(contains(all_table_records(), last_table_id_key()));
  // A table id of all ones has a last key too.
  Table last = one;
  last.id = {0xFFFFFFFF};
  EXPECT_TRUE(contains(table_items(last.id), item_key(last, item)));
}

TEST(Keys, HoldTheHashOfTheirPartition) {
  Table t = table("T", keys({"pk:S"}, {"sk:S"}));
  const Item item{{"pk", S("a")}, {"sk", S("b")}};
  EXPECT_EQ(hash_of_key(item_key(t, item)), partition_hash(field(S("a"))));
}

TEST(ChangeKeys, SortByPartitionThenSequenceThenOrdinal) {
  const auto key = [](std::uint8_t partition, std::uint64_t sequence, std::uint32_t ordinal) {
    KeyBytes bytes = change_key({3}, partition, ordinal);
    storage::write_sequence(bytes, kChangeSequenceAt, {sequence});
    return bytes;
  };
  EXPECT_LT(key(0, 9, 0), key(1, 1, 0));
  EXPECT_LT(key(1, 1, 300), key(1, 2, 0));
  EXPECT_LT(key(1, 256, 0), key(1, 256, 1));
  EXPECT_LT(key(1, 1, 0xFFFFFFFF), change_key_at(change_partition_prefix({3}, 1), {2}));
  EXPECT_GE(key(1, 2, 0), change_key_at(change_partition_prefix({3}, 1), {2}));
  EXPECT_EQ(change_partition_prefix({3}, 1).size(), kChangeSequenceAt);
  for (std::uint64_t top = 0; top < 4; ++top) EXPECT_EQ(change_partition(top << 62, 4), top);
  for (std::uint64_t top = 0; top < 64; ++top) EXPECT_EQ(change_partition(top << 58, 64), top);
  EXPECT_EQ(change_partitions(1), 4);
  EXPECT_EQ(change_partitions(16), 16);
}

// -- lanes

// Every kind of key that the engine writes, of several tables.
std::vector<KeyBytes> keys_of_all_kinds(Random& random) {
  std::vector<KeyBytes> all;
  for (std::uint32_t id = 1; id <= 3; ++id) {
    Table t = table("T", keys({"pk:S"}, {"sk:N"}));
    t.id = {id};
    const Index index = add_index(t, "gsi", IndexKind::Global, keys({"g:S"}));
    for (int i = 0; i < 60; ++i) {
      const Item item{{"pk", random_key_value(random, value::Type::S)}, {"sk", N(i)}, {"g", S(std::to_string(i))}};
      all.push_back(item_key(t, item));
      all.push_back(*index_key(t, index, item));
      all.push_back(expiry_key(all[all.size() - 2], random.below(1000)));
      all.push_back(collection_size_key(t.id, *item.find("pk")));
      all.push_back(change_key_at(t.id, static_cast<std::uint8_t>(i % 16), {random.below(1000)}, 0));
      all.push_back(request_token_key(std::to_string(random.next())));
    }
    for (const auto statistic : {Statistic::Items, Statistic::Bytes})
      all.push_back(statistic_key({id}, {1}, statistic));
    all.push_back(build_progress_key({id}, {1}));
    all.push_back(expiry_progress_key({id}));
    all.push_back(table_record_key("T" + std::to_string(id)));
    all.push_back(stream_key("T", "now"));
    all.push_back(stream_marker_key("T", "now", {id}));
    all.push_back(commit_time_key({id}));
  }
  for (const auto& key : {last_table_id_key(), signed_only_key(), lease_key(), server_text_key("x")})
    all.push_back(key);
  return all;
}

TEST(KeyPlacement, PutsAnItemAndWhatBelongsToItIntoOneLane) {
  const KeyPlacement placement;
  Random random(1);
  Table t = table("T", keys({"pk:S"}, {"sk:N"}));
  for (const std::uint32_t lanes : {2U, 4U, 16U, 64U}) {
    std::set<std::uint32_t> used;
    for (int i = 0; i < 500; ++i) {
      const Item item{{"pk", S(std::to_string(random.next()))}, {"sk", N(i)}};
      const auto key = item_key(t, item);
      const auto lane = placement.lane_of(key, lanes).value();
      used.insert(lane);
      EXPECT_EQ(lane, 1 + (hash_of_key(key) >> 32) * lanes / (1ULL << 32));
      EXPECT_EQ(placement.lane_of(expiry_key(key, 7), lanes), lane);
      EXPECT_EQ(placement.lane_of(collection_size_key(t.id, *item.find("pk")), lanes), lane);
      const auto partition = change_partition(hash_of_key(key), change_partitions(lanes));
      EXPECT_EQ(placement.lane_of(change_key(t.id, partition, 1), lanes), lane);
      EXPECT_EQ(placement.lane_of(change_partition_prefix({}, partition), lanes), lane) << "the table does not matter";
    }
    EXPECT_EQ(used.size(), lanes);
    EXPECT_EQ(*used.begin(), 1U) << "lane 0 is for keys that cannot be spread";
    EXPECT_EQ(placement.lane_of(statistic_key(t.id, {}, Statistic::Items), lanes), std::nullopt);
    for (const auto& key : {lease_key(), table_record_key("T"), commit_time_key({1}), expiry_progress_key(t.id)}) {
      EXPECT_EQ(placement.lane_of(key, lanes), 0U);
    }
  }
}

TEST(KeyPlacement, KnowsTheLanesOfRanges) {
  const KeyPlacement placement;
  Random random(2);
  const auto all = keys_of_all_kinds(random);
  const auto shortened = [&](KeyBytes key) {
    if (random.below(2) == 0) key.resize(1 + random.below(key.size()));
    return key;
  };
  for (const std::uint32_t lanes : {1U, 2U, 4U, 16U, 64U}) {
    for (int i = 0; i < 600; ++i) {
      storage::KeyRange range{shortened(all[random.below(all.size())]), shortened(all[random.below(all.size())])};
      if (i % 3 == 0) range = storage::KeyRange::prefix(range.begin);
      if (i % 50 == 0) range.end.clear();
      if (!range.end.empty() && range.end <= range.begin) std::swap(range.begin, range.end);
      const auto found = placement.lanes_of(range, lanes);
      EXPECT_LE(found.first, found.last);
      EXPECT_LE(found.last, lanes == 1 ? 0 : lanes);
      std::map<KeyBytes, std::uint32_t> inside;
      for (const auto& key : all) {
        if (!range.contains(key)) continue;
        const auto lane = placement.lane_of(key, lanes);
        EXPECT_TRUE(lane || (found.first == 0 && found.last == lanes)) << hex(key);
        if (!lane) continue;
        EXPECT_TRUE(*lane >= found.first && *lane <= found.last)
            << hex(key) << " in " << hex(range.begin) << " to " << hex(range.end);
        inside.emplace(key, *lane);
      }
      std::uint32_t last = 0;
      for (const auto& [key, lane] : inside) {
        if (found.in_key_order) {
          EXPECT_GE(lane, last) << hex(key);
        }
        last = lane;
      }
    }
    const auto lanes_of = [&](const storage::KeyRange& range) { return placement.lanes_of(range, lanes); };
    const auto partition = lanes_of(storage::KeyRange::prefix(partition_prefix({1}, {}, {})));
    EXPECT_EQ(partition.first, partition.last) << "a Query reads one lane";
    EXPECT_TRUE(lanes_of(storage::KeyRange::prefix(index_prefix({1}, {}))).in_key_order)
        << "a Scan reads one after another";
    for (std::uint32_t segment = 0; segment < lanes; ++segment) {
      const auto lane = lanes_of(segment_range({1}, {}, segment, lanes));
      EXPECT_EQ(lane.first, lane.last) << "a segment that fits a lane";
    }
  }
}

// The examples of docs/formats/keys.md come from here.
TEST(Keys, AreWhatTheirPageShows) {
  Table music = table("Music", keys({"Artist:S"}, {"Year:N"}));
  const Index genre = add_index(music, "ByGenre", IndexKind::Global, keys({"Genre:S"}, {"Label:S", "Rank:N"}));
  const Item song{{"Artist", S("Abba")}, {"Year", N(1976)}, {"Genre", S("Pop")}, {"Label", S("Polar")}, {"Rank", N(1)}};

  KeyBytes change = change_key(music.id, 2, 1);
  storage::write_sequence(change, kChangeSequenceAt, {258});
  std::vector<std::string> rows;
  const auto row = [&](std::string_view what, BytesView key) {
    rows.push_back(fmt::format("| {} | `{}` |", what, hex(key)));
  };
  row("table record of `Music`", table_record_key("Music"));
  row("last table id", last_table_id_key());
  row("requests must be signed", signed_only_key());
  row("background work", lease_key());
  row("the text keys.yaml", server_text_key("keys.yaml"));
  row("an unfinished copy", copy_mark_key());
  row("remains of index 1 of table 1", remains_key(music.id, genre.id));
  row("the song in table 1", item_key(music, song));
  row("the song in index 1", *index_key(music, genre, song));
  row("change, table 1, partition 2, sequence 258, ordinal 1", change);
  row("collection `Abba` of table 1", collection_size_key(music.id, S("Abba")));
  row("time of commit 258", commit_time_key({258}));
  row("stream `1` of `Music`", stream_key("Music", "1"));
  row("marker of that stream at commit 258", stream_marker_key("Music", "1", {258}));
  row("items of table 1", statistic_key(music.id, kBaseIndex, Statistic::Items));
  row("bytes of index 1 of table 1", statistic_key(music.id, genre.id, Statistic::Bytes));
  row("expiry of the song at 258", expiry_key(item_key(music, song), 258));
  row("progress of the expiry entries of table 1", expiry_progress_key(music.id));
  row("S `ab`", field(S("ab")));
  row("S `a`, a zero byte, `b`", field(S(std::string_view("a\0b", 3))));
  row("B of the bytes `ff 00`", field(B(std::string_view("\xff\0", 2))));
  row("N `1976`", field(N(1976)));
  row("N `-1.5`", field(N("-1.5")));

  const auto text = page("docs/formats/keys.md");
  for (const auto& expected : rows) {
    EXPECT_NE(text.find(expected), std::string::npos) << "docs/formats/keys.md lacks\n" << expected;
  }
}

}  // namespace
}  // namespace stator::engine
