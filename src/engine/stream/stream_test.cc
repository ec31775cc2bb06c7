#include "stator/engine/stream/stream.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <thread>

#include "stator/engine/test_database.h"
#include "stator/engine/test_page.h"
#include "stator/engine/test_postgres.h"
#include "stator/engine/test_support.h"

namespace stator::engine {
namespace {

using namespace testing;
using namespace std::chrono_literals;
using value::Item;

Table streaming_table(StreamView view = StreamView::NewAndOldImages) {
  Table t = table("Orders", keys({"pk:S"}));
  t.stream = {.enabled = true, .view = view, .label = {}};
  return t;
}

Item order(std::string_view key, std::int64_t n) { return {{"pk", S(key)}, {"n", N(n)}}; }

StreamState read(TestDatabase& database, const Table& table) {
  return read_stream(*database.engine().snapshot(), database.engine().change_partitions(), table.name,
                     table.stream.label)
      .value()
      .value();
}

// Everything a shard holds from `from` on, `limit` records at a time; `next` is where an open one goes on.
std::vector<StreamRecord> drain(TestDatabase& database, const StreamState& stream, const Shard& shard,
                                std::optional<ChangePosition>& next, std::size_t limit = 1000) {
  std::vector<StreamRecord> records;
  for (int pages = 0; pages < 10'000 && next; ++pages) {
    const auto seen = database.engine().last_commit_in(shard.partition);
    const auto snapshot = database.engine().snapshot();
    // Where the shard ends by now: it may have been closed since the stream was read.
    const auto now =
        read_stream(*snapshot, database.engine().change_partitions(), stream.table.name, stream.table.stream.label)
            .value()
            .value();
    auto page = read_shard(*snapshot, seen, stream.table.id, *now.find(shard.id), *next, limit);
    EXPECT_TRUE(page) << page.error().message;
    if (!page) break;
    EXPECT_LE(page->records.size(), limit);
    next = page->next;
    if (page->records.empty()) break;
    for (auto& record : page->records) records.push_back(std::move(record));
  }
  return records;
}

std::vector<StreamRecord> all_records(TestDatabase& database, const Table& table) {
  const auto stream = read(database, table);
  std::vector<StreamRecord> records;
  for (const auto& shard : stream.shards) {
    std::optional<ChangePosition> from = shard.first();
    for (auto& record : drain(database, stream, shard, from)) records.push_back(std::move(record));
  }
  return records;
}

TEST(Stream, HasOneOpenShardPerLane) {
  TestDatabase database;
  const auto table = database.create_table(streaming_table()).value();
  const auto stream = read(database, *table);
  EXPECT_TRUE(stream.enabled);
  ASSERT_EQ(stream.shards.size(), kLeastChangePartitions);
  for (const auto& shard : stream.shards) {
    EXPECT_EQ(shard.id.size(), 37U) << shard.id;
    EXPECT_TRUE(shard.parent.empty());
    EXPECT_FALSE(shard.end);
    EXPECT_EQ(stream.find(shard.id), &shard);
  }
  EXPECT_TRUE(std::is_sorted(stream.shards.begin(), stream.shards.end(),
                             [](const Shard& a, const Shard& b) { return a.id < b.id; }));
  EXPECT_EQ(stream.find("shardId-00000000000000000000-00000000"), nullptr);
}

TEST(Stream, TellsInsertModifyAndRemoveApart) {
  TestDatabase database;
  const auto table = database.create_table(streaming_table()).value();
  ASSERT_TRUE(database.write(put(table, order("a", 1))));
  ASSERT_TRUE(database.write(put(table, order("a", 1))));  // changes nothing
  ASSERT_TRUE(database.write(put(table, order("a", 2))));
  ASSERT_TRUE(database.write(erase(table, {{"pk", S("a")}})));
  ASSERT_TRUE(database.write(erase(table, {{"pk", S("a")}})));  // nothing to remove
  const auto records = all_records(database, *table);
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].change.kind, ChangeKind::Insert);
  EXPECT_FALSE(records[0].change.old_image);
  EXPECT_EQ(records[1].change.kind, ChangeKind::Modify);
  EXPECT_EQ(records[1].change.old_image->parse().value(), order("a", 1));
  EXPECT_EQ(records[1].change.new_image->parse().value(), order("a", 2));
  EXPECT_EQ(records[2].change.kind, ChangeKind::Remove);
  EXPECT_FALSE(records[2].change.new_image);
  EXPECT_EQ(records[2].change.keys.parse().value(), (Item{{"pk", S("a")}}));
  EXPECT_LT(records[0].at, records[1].at);
}

TEST(Stream, IsFollowedByChildShardsAfterFourHours) {
  TestDatabase database;
  const auto table = database.create_table(streaming_table()).value();
  ASSERT_TRUE(database.write(put(table, order("a", 1))));
  database.clock().advance(kShardLifetime - 1s);
  database.engine().roll_stream_shards();
  EXPECT_EQ(read(database, *table).shards.size(), kLeastChangePartitions) << "too early";
  database.clock().advance(1s);
  database.engine().roll_stream_shards();
  ASSERT_TRUE(database.write(put(table, order("a", 2))));

  const auto stream = read(database, *table);
  ASSERT_EQ(stream.shards.size(), 2 * kLeastChangePartitions);
  for (std::size_t partition = 0; partition < kLeastChangePartitions; ++partition) {
    const auto& parent = stream.shards[partition];
    const auto& child = stream.shards[kLeastChangePartitions + partition];
    EXPECT_EQ(child.parent, parent.id);
    ASSERT_TRUE(parent.end);
    EXPECT_LT(parent.first(), parent.last());
    EXPECT_LT(parent.last(), child.first());
    EXPECT_FALSE(child.end);
    std::optional<ChangePosition> in_parent = parent.first(), in_child = child.first();
    const auto before = drain(database, stream, parent, in_parent);
    const auto after = drain(database, stream, child, in_child);
    EXPECT_EQ(before.size(), after.size()) << "one change each, in the partition of the item";
    EXPECT_FALSE(in_parent) << "a closed shard ends";
    EXPECT_TRUE(in_child);
  }
  database.clock().advance(24h);
  database.engine().roll_stream_shards();
  database.clock().advance(24h);
  database.engine().roll_stream_shards();
  EXPECT_EQ(read(database, *table).shards.size(), 3 * kLeastChangePartitions) << "shards without changes stay";
}

TEST(Stream, StaysForADayWhenItIsDisabledOrItsTableDeleted) {
  for (const bool deleted : {false, true}) {
    SCOPED_TRACE(deleted);
    TestDatabase database;
    const auto table = database.create_table(streaming_table()).value();
    ASSERT_TRUE(database.write(put(table, order("a", 1))));
    if (deleted) {
      ASSERT_TRUE(database.delete_table("Orders"));
    } else {
      ASSERT_TRUE(database.update_table("Orders", [](Table& t) { t.stream.enabled = false; }));
      ASSERT_TRUE(database.write(put(table, order("a", 2))));  // not in the stream
    }
    database.restart();
    const auto stream = read(database, *table);
    EXPECT_FALSE(stream.enabled);
    for (const auto& shard : stream.shards) EXPECT_TRUE(shard.end);
    EXPECT_EQ(all_records(database, *table).size(), 1U);

    database.clock().advance(kStreamRetention - 1s);
    database.engine().trim_change_log();
    EXPECT_EQ(all_records(database, *table).size(), 1U);
    database.clock().advance(1s);
    database.engine().trim_change_log();
    EXPECT_FALSE(
        read_stream(*database.engine().snapshot(), kLeastChangePartitions, "Orders", table->stream.label).value());
    EXPECT_TRUE(list_streams(*database.engine().snapshot(), "Orders").value().empty());
    const auto left = database.engine().snapshot()->cursor(storage::KeyRange::prefix(change_log_prefix()),
                                                           storage::Direction::Forward);
    EXPECT_FALSE(left->valid()) << "its changes go with it";
  }
}

TEST(Stream, IsAnotherOneWhenItIsEnabledAgain) {
  TestDatabase database;
  const auto first = database.create_table(streaming_table()).value();
  ASSERT_TRUE(database.write(put(first, order("a", 1))));
  // All at one time: the label is what tells them apart.
  ASSERT_TRUE(database.update_table("Orders", [](Table& t) { t.stream.enabled = false; }));
  const auto second =
      database
          .update_table("Orders",
                        [](Table& t) { t.stream = {.enabled = true, .view = StreamView::KeysOnly, .label = {}}; })
          .value();
  ASSERT_TRUE(database.write(put(second, order("a", 2))));
  ASSERT_TRUE(database.delete_table("Orders"));
  const auto third = database.create_table(streaming_table()).value();

  EXPECT_LT(first->stream.label, second->stream.label);
  EXPECT_LT(second->stream.label, third->stream.label);
  EXPECT_EQ(all_records(database, *first).size(), 1U);
  ASSERT_EQ(all_records(database, *second).size(), 1U);
  EXPECT_FALSE(all_records(database, *second)[0].change.new_image);
  EXPECT_TRUE(all_records(database, *third).empty());
  const auto listed = list_streams(*database.engine().snapshot(), std::nullopt).value();
  ASSERT_EQ(listed.size(), 3U);
  EXPECT_EQ(listed[0].stream.label, third->stream.label) << "the newest first";
  EXPECT_EQ(listed[2].stream.label, first->stream.label);
  EXPECT_TRUE(list_streams(*database.engine().snapshot(), "Orders2").value().empty());
}

TEST(Stream, ForgetsChangesAndTheirShardsAfterADay) {
  TestDatabase database;
  const auto table = database.create_table(streaming_table()).value();
  ASSERT_TRUE(database.write(put(table, order("a", 1))));
  database.clock().advance(kShardLifetime);
  database.engine().roll_stream_shards();
  ASSERT_TRUE(database.write(put(table, order("a", 2))));
  const auto before = read(database, *table);
  database.clock().advance(kStreamRetention + 1min);
  ASSERT_TRUE(database.write(put(table, order("a", 3))));
  database.engine().trim_change_log();

  const auto stream = read(database, *table);
  ASSERT_EQ(stream.shards.size(), kLeastChangePartitions) << "closed shards go with their last change";
  EXPECT_EQ(stream.shards[0].parent, before.shards[0].id) << "what it followed is not forgotten";
  const auto& open = stream.shards[0];
  const auto trimmed = read_shard(*database.engine().snapshot(), {}, table->id, open, open.first(), 1);
  ASSERT_FALSE(trimmed);
  EXPECT_EQ(trimmed.error().code, ErrorCode::TrimmedData);
  std::size_t left = 0;
  for (const auto& shard : stream.shards) {
    std::optional<ChangePosition> from = ChangePosition{trim_horizon(*database.engine().snapshot()), 0};
    left += drain(database, stream, shard, from).size();
  }
  EXPECT_EQ(left, 1U);

  const auto commits = database.engine().commit_statistics().commits;
  database.engine().trim_change_log();
  EXPECT_EQ(database.engine().commit_statistics().commits, commits) << "nothing more to forget, nothing to write";
}

TEST(Stream, DoesNotLeaveAQuietReaderBehind) {
  TestDatabase database;
  const auto table = database.create_table(streaming_table()).value();
  const auto stream = read(database, *table);
  std::vector<std::optional<ChangePosition>> at(stream.shards.size());
  for (std::size_t i = 0; i < at.size(); ++i) at[i] = stream.shards[i].first();
  std::size_t found = 0;
  for (int day = 0; day < 3; ++day) {  // the readers of the other partitions see nothing all the time
    ASSERT_TRUE(database.write(put(table, order("a", day))));
    database.engine().trim_change_log();
    for (std::size_t i = 0; i < at.size(); ++i) found += drain(database, stream, stream.shards[i], at[i]).size();
    database.clock().advance(23h);
  }
  EXPECT_EQ(found, 3U);
}

TEST(Stream, GivesAtMostAMegabyteButAlwaysARecord) {
  TestDatabase database;
  const auto table = database.create_table(streaming_table()).value();
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(database.write(put(table, {{"pk", S("a")}, {"n", N(i)}, {"text", S(std::string(390'000, 'x'))}})));
  }
  const auto stream = read(database, *table);
  for (const auto& shard : stream.shards) {
    auto page = read_shard(*database.engine().snapshot(), {}, table->id, shard, shard.first(), 1000).value();
    if (page.records.empty()) continue;
    EXPECT_EQ(page.records.size(), 1U);  // 390 KB, and the next one holds twice that
    page = read_shard(*database.engine().snapshot(), {}, table->id, shard, *page.next, 1000).value();
    EXPECT_EQ(page.records.size(), 1U);
  }
}

TEST(SequenceNumber, IsDecimalSortsAsTextAndReadsBack) {
  const ChangePosition positions[] = {{{0}, 0},          {{1}, 0}, {{1}, 1},
                                      {{1}, UINT32_MAX}, {{2}, 0}, {{UINT64_MAX}, UINT32_MAX}};
  std::string last;
  for (const auto& position : positions) {
    const auto number = to_sequence_number(position);
    EXPECT_EQ(number.size(), 31U);
    EXPECT_LT(last, number);
    EXPECT_EQ(parse_sequence_number(number), position);
    last = number;
  }
  for (const std::string_view bad :
       {"", "1", "100000000000000000001", "2000000000000000000010000000000", "1999999999999999999990000000000",
        "1000000000000000000019999999999", "100000000000000000001000000000x"}) {
    EXPECT_FALSE(parse_sequence_number(bad)) << bad;
  }
}

TEST(StreamMarker, IsWrittenAsDocumented) {
  const StreamMarker marker{StreamMarker::Kind::Shards, WallTime{1'700'000'000'123'456us}, {258}};
  const auto bytes = marker.encode();
  EXPECT_NE(page("docs/formats/streams.md").find("`" + hex(bytes) + "`"), std::string::npos) << hex(bytes);
  const auto back = StreamMarker::decode(bytes).value();
  EXPECT_EQ(back.kind, marker.kind);
  EXPECT_EQ(back.time, marker.time);
  EXPECT_EQ(back.previous, marker.previous);
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(StreamMarker::decode(bytes.substr(0, size)));
  auto unknown = bytes;
  unknown[1] = 2;
  EXPECT_FALSE(StreamMarker::decode(unknown));
}

// -- against a reference, with concurrent writers and readers, shards that follow each other, and restarts

struct Change {
  ChangeKind kind;
  std::optional<Item> before, after;
  friend bool operator==(const Change&, const Change&) = default;
};
using History = std::map<std::string, std::vector<Change>>;  // per item, in order

// A consumer as clients write it: parents before children, each shard from its beginning to its end, once.
class Consumer {
 public:
  Consumer(TestDatabase& database, TablePtr table, std::uint64_t seed)
      : database_(database), table_(std::move(table)), random_(seed) {}

  // Reads on; true when something was new.
  bool read_some() {
    bool progress = false;
    const auto stream = read(database_, *table_);
    for (const auto& shard : stream.shards) {
      const auto parent = places_.find(shard.parent);
      if (parent != places_.end() && parent->second) continue;  // not read to its end yet
      const auto [place, is_new] = places_.try_emplace(shard.id, shard.first());
      progress = progress || is_new;
      for (const auto& record : drain(database_, stream, shard, place->second, 1 + random_.below(20))) {
        progress = true;
        take(record.change);
      }
    }
    return progress;
  }
  void read_all() {
    while (read_some()) {
    }
  }
  const History& history() const { return history_; }

 private:
  void take(const ChangeRecord& change) {
    Change seen{change.kind, {}, {}};
    if (change.old_image) seen.before = change.old_image->parse().value();
    if (change.new_image) seen.after = change.new_image->parse().value();
    const auto keys = change.keys.parse().value();
    history_[*keys.find("pk")->as_string()].push_back(std::move(seen));
  }

  TestDatabase& database_;
  TablePtr table_;
  Random random_;
  std::map<std::string, std::optional<ChangePosition>> places_;
  History history_;
};

// Writes to its own items, whose history it knows, and to items that all writers share.
void write_at_random(TestDatabase& database, const TablePtr& table, int writer, Random& random, History& expected,
                     std::map<std::string, Item>& items) {
  for (int i = 0; i < 60; ++i) {
    const bool shared = random.below(4) == 0;
    const auto key = shared ? "shared" + std::to_string(random.below(5))
                            : "own" + std::to_string(writer) + "-" + std::to_string(random.below(8));
    const bool remove = random.below(4) == 0;
    const auto item = order(key, static_cast<std::int64_t>(random.below(3)));
    const auto write = [&] { return database.write(remove ? erase(table, {{"pk", S(key)}}) : put(table, item)); };
    auto written = write();
    // The clock moves by hours meanwhile, and a write that has waited for so long is refused.
    while (!written && written.error().code == ErrorCode::Busy) written = write();
    ASSERT_TRUE(written);
    if (shared) continue;
    const auto found = items.find(key);
    const std::optional<Item> before = found == items.end() ? std::nullopt : std::optional(found->second);
    const std::optional<Item> after = remove ? std::nullopt : std::optional(item);
    if (before == after) continue;
    expected[key].push_back({!before  ? ChangeKind::Insert
                             : !after ? ChangeKind::Remove
                                      : ChangeKind::Modify,
                             before, after});
    if (after) {
      items.insert_or_assign(key, *after);
    } else {
      items.erase(key);
    }
  }
}

void expect_whole_histories(const std::function<std::unique_ptr<storage::Store>(std::uint64_t seed)>& open_store,
                            std::uint64_t seeds) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(seed);
    constexpr int kWriters = 3;
    TestDatabase database(open_store(seed));
    const auto table = database.create_table(streaming_table()).value();
    Consumer follower(database, table, seed);
    std::vector<Random> randoms;
    for (int i = 0; i < kWriters; ++i) randoms.emplace_back(seed * 100 + static_cast<std::uint64_t>(i));
    std::vector<History> expected(kWriters);
    std::vector<std::map<std::string, Item>> items(kWriters);

    for (int round = 0; round < 4; ++round) {
      std::atomic<int> writing = kWriters;
      std::vector<std::jthread> threads;
      for (int i = 0; i < kWriters; ++i) {
        threads.emplace_back([&, i] {
          const auto own = static_cast<std::size_t>(i);
          write_at_random(database, table, i, randoms[own], expected[own], items[own]);
          --writing;
        });
      }
      threads.emplace_back([&] {
        database.clock().advance(kShardLifetime);
        while (writing > 0 && database.engine().lease().hold()) database.engine().roll_stream_shards();
      });
      while (writing > 0) follower.read_some();
      threads.clear();
      database.restart();
    }
    follower.read_all();

    Consumer late(database, table, seed);  // sees the same as one that was there all the time
    late.read_all();
    EXPECT_EQ(follower.history(), late.history());
    for (int i = 0; i < kWriters; ++i) {
      for (const auto& [key, changes] : expected[static_cast<std::size_t>(i)]) {
        EXPECT_EQ(late.history().at(key), changes) << key;
      }
    }
    for (const auto& [key, changes] : late.history()) {  // each change begins where the one before it ended
      std::optional<Item> current;
      for (const auto& change : changes) {
        EXPECT_EQ(change.before, current) << key;
        EXPECT_NE(change.before, change.after) << key;
        current = change.after;
      }
      const auto stored = database.engine().get(*table, {{"pk", S(key)}}).value();
      EXPECT_EQ(stored.exists() ? std::optional(*stored.item().value()) : std::nullopt, current) << key;
    }
  }
}

TEST(Stream, TellsTheHistoryOfEveryItem) {
  expect_whole_histories([](auto) { return storage::open_memory_store(); }, 5);
}

#ifdef STATOR_TEST_POSTGRES

// Fewer lanes than partitions, as many, and more.
TEST(Stream, TellsTheHistoryOfEveryItemInEachLane) {
  for (const std::uint32_t lanes : {1U, 2U, 4U, 16U}) {
    SCOPED_TRACE(lanes);
    expect_whole_histories(
        [&](std::uint64_t seed) {
          return storage::open_postgres_store(postgres_options(fmt::format("history{}", seed), lanes)).value();
        },
        1);
  }
}

TEST(Stream, ForgetsTheChangesOfAllLanesAfterADay) {
  TestDatabase database(storage::open_postgres_store(postgres_options("forgets", 8)).value());
  auto& engine = database.engine();
  // Waits for what the engine does by itself otherwise.
  const auto maintain = [&] {
    ASSERT_TRUE(engine.lease().hold());
    engine.note_time();
    ASSERT_TRUE(engine.set_signed_only(!engine.signed_only().value()));
    engine.trim_change_log();
    ASSERT_TRUE(engine.set_signed_only(!engine.signed_only().value()));
  };
  const auto table = database.create_table(streaming_table()).value();
  const auto write_all = [&](int n) {
    for (int i = 0; i < 30; ++i) ASSERT_TRUE(database.write(put(table, order(fmt::format("item{}", i), n))));
  };
  const auto left = [&] {
    std::size_t records = 0;
    const auto stream = read(database, *table);
    for (const auto& shard : stream.shards) {
      std::optional<ChangePosition> from = ChangePosition{trim_horizon(*engine.snapshot()), 0};
      records += drain(database, stream, shard, from).size();
    }
    return records;
  };
  ASSERT_EQ(read(database, *table).shards.size(), 8U);
  write_all(1);
  maintain();
  EXPECT_EQ(left(), 30U);
  database.clock().advance(kStreamRetention - 1h);
  write_all(2);
  maintain();
  EXPECT_EQ(left(), 60U) << "not a day old";
  database.clock().advance(2h);
  maintain();
  EXPECT_EQ(left(), 30U);
  const auto& open = read(database, *table).shards[0];
  EXPECT_EQ(read_shard(*engine.snapshot(), {}, table->id, open, open.first(), 1).error().code, ErrorCode::TrimmedData);
  database.clock().advance(kStreamRetention + 1h);
  maintain();
  EXPECT_EQ(left(), 0U) << "also when nobody writes any more";
  const auto last_time = trim_horizon(*engine.snapshot());
  maintain();
  EXPECT_EQ(trim_horizon(*engine.snapshot()), last_time);
  for (std::uint8_t partition = 0; partition < 8; ++partition) {
    EXPECT_EQ(engine.last_commit_in(partition), engine.last_commit_in(0)) << "nothing to note, nothing to write";
  }
}

// A reader of a lane goes on behind what it has seen, also where other lanes are far ahead.
TEST(Stream, GoesOnInEachLaneByItself) {
  TestDatabase database(storage::open_postgres_store(postgres_options("quiet", 4)).value());
  const auto table = database.create_table(streaming_table()).value();
  const auto stream = read(database, *table);
  std::vector<std::optional<ChangePosition>> at(stream.shards.size());
  for (std::size_t i = 0; i < at.size(); ++i) at[i] = stream.shards[i].first();
  std::map<std::string, std::vector<std::int64_t>> found;
  std::vector<std::string> positions;
  Random random(3);
  constexpr int kRounds = 40;
  for (int round = 0; round < kRounds; ++round) {
    // Mostly one item, so that its lane is far ahead of the others.
    const auto key = random.below(4) == 0 ? fmt::format("item{}", random.below(20)) : std::string("hot");
    ASSERT_TRUE(database.write(put(table, order(key, round))));
    for (std::size_t i = 0; i < at.size(); ++i) {
      for (const auto& record : drain(database, stream, stream.shards[i], at[i])) {
        const auto image = record.change.new_image->parse().value();
        found[*image.find("pk")->as_string()].push_back(round);
        positions.push_back(to_sequence_number(record.at));
        EXPECT_EQ(*image.find("n"), N(round)) << "at once, and once";
      }
    }
  }
  EXPECT_EQ(positions.size(), kRounds);
  std::ranges::sort(positions);
  EXPECT_EQ(std::ranges::adjacent_find(positions), positions.end()) << "no two records have the same number";
}

#endif

}  // namespace
}  // namespace stator::engine
