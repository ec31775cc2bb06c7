#include "stator/engine/expiry/ttl.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <thread>

#include "stator/engine/expiry/ttl_sweeper.h"
#include "stator/engine/stream/stream.h"
#include "stator/engine/test_database.h"
#include "stator/engine/test_support.h"

namespace stator::engine {
namespace {

using namespace testing;
using namespace std::chrono_literals;
using value::Item;

constexpr std::int64_t kNow = 1'700'000'000;  // where a ManualClock starts

Table expiring_table() {
  Table t = table("Sessions", keys({"pk:S"}));
  t.ttl_attribute = "expires";
  return t;
}

Item session(std::string_view key, std::int64_t until) { return {{"pk", S(key)}, {"expires", N(until)}}; }

bool exists(TestDatabase& database, const Table& table, std::string_view key) {
  return database.engine().get(table, {{"pk", S(key)}}).value().exists();
}

// The entries of a table, as pairs of expiry and item key.
std::set<std::pair<std::uint64_t, KeyBytes>> entries(TestDatabase& database, TableId table) {
  std::set<std::pair<std::uint64_t, KeyBytes>> found;
  const auto snapshot = database.engine().snapshot();
  const auto cursor = snapshot->cursor(table_expiries(table), storage::Direction::Forward);
  for (; cursor->valid(); cursor->next()) {
    auto entry = expiry_entry(cursor->key()).value();
    found.emplace(entry.expiry, std::move(entry.item_key));
  }
  return found;
}

// The expected entries, from the items.
std::set<std::pair<std::uint64_t, KeyBytes>> entries_of_items(TestDatabase& database, const Table& table) {
  std::set<std::pair<std::uint64_t, KeyBytes>> expected;
  const auto snapshot = database.engine().snapshot();
  const auto cursor = snapshot->cursor(table_items(table.id), storage::Direction::Forward);
  for (; cursor->valid(); cursor->next()) {
    const auto item = value::StoredItemView::from(cursor->value()).value().parse().value();
    if (const auto expiry = expiry_of(table, item)) expected.emplace(*expiry, KeyBytes(cursor->key()));
  }
  return expected;
}

std::size_t count_items(TestDatabase& database, const Table& table) {
  std::size_t count = 0;
  const auto snapshot = database.engine().snapshot();
  const auto cursor = snapshot->cursor(table_items(table.id), storage::Direction::Forward);
  for (; cursor->valid(); cursor->next()) ++count;
  return count;
}

TEST(ExpiryOf, TakesNumbersThatAreTimes) {
  Table t = expiring_table();
  const auto expiry = [&](value::AttributeValue until) {
    return expiry_of(t, {{"pk", S("a")}, {"expires", std::move(until)}});
  };
  EXPECT_EQ(expiry(N(kNow)), kNow);
  EXPECT_EQ(expiry(N("170000000e1")), kNow);
  EXPECT_EQ(expiry(N("1700000000.9")), kNow) << "a fraction of a second is not looked at";
  EXPECT_EQ(expiry(N(std::int64_t{0})), 0);
  EXPECT_EQ(expiry(N(-1)), std::nullopt);
  EXPECT_EQ(expiry(N("1e30")), std::nullopt);
  EXPECT_EQ(expiry(N("-9.9e125")), std::nullopt);
  EXPECT_EQ(expiry(S("1700000000")), std::nullopt);
  EXPECT_EQ(expiry_of(t, {{"pk", S("a")}}), std::nullopt);
  t.ttl_attribute.reset();
  EXPECT_EQ(expiry(N(kNow)), std::nullopt);
}

TEST(ExpiryEntry, SortsByTimeAndReadsBack) {
  const auto t = expiring_table();
  const auto key = item_key(t, session("a", 1));
  EXPECT_LT(expiry_key(key, 255), expiry_key(key, 256));
  const auto entry = expiry_entry(expiry_key(key, 258)).value();
  EXPECT_EQ(entry.expiry, 258U);
  EXPECT_EQ(entry.item_key, key);
  EXPECT_FALSE(expiry_entry("xe"));
}

TEST(TtlSweeper, DeletesWhatHasExpiredAndNothingElse) {
  TestDatabase database;
  const auto table = database.create_table(expiring_table()).value();
  const Item items[] = {session("past", kNow - 60),
                        session("now", kNow),
                        session("future", kNow + 60),
                        session("four years ago", kNow - 4 * 365 * 86'400),
                        session("six years ago", kNow - 6 * 365 * 86'400),
                        {{"pk", S("never")}},
                        {{"pk", S("text")}, {"expires", S("1")}}};
  for (const auto& item : items) ASSERT_TRUE(database.write(put(table, item)));
  for (const auto& item : items)
    EXPECT_TRUE(exists(database, *table, *item.find("pk")->as_string())) << "readable until swept";
  TtlSweeper sweeper(database.engine(), database.clock());
  ASSERT_TRUE(sweeper.sweep());
  std::set<std::string> left;
  for (const auto& item : items) {
    const auto& key = *item.find("pk")->as_string();
    if (exists(database, *table, key)) left.insert(key);
  }
  EXPECT_EQ(left, (std::set<std::string>{"future", "six years ago", "never", "text"}));
  database.clock().advance(60s);
  ASSERT_TRUE(sweeper.sweep());
  EXPECT_FALSE(exists(database, *table, "future"));
  EXPECT_EQ(entries(database, table->id), entries_of_items(database, *table));
}

TEST(TtlSweeper, FollowsAnItemWhoseTimeChanges) {
  TestDatabase database;
  const auto table = database.create_table(expiring_table()).value();
  ASSERT_TRUE(database.write(put(table, session("a", kNow + 10))));
  ASSERT_TRUE(database.write(put(table, session("a", kNow + 100))));
  ASSERT_TRUE(
      database.write(change(table, {{"pk", S("b")}}, update("SET expires = :u", expr::Values{{":u", N(kNow + 10)}}))));
  EXPECT_EQ(entries(database, table->id), entries_of_items(database, *table));
  database.clock().advance(50s);
  TtlSweeper sweeper(database.engine(), database.clock());
  ASSERT_TRUE(sweeper.sweep());
  EXPECT_TRUE(exists(database, *table, "a"));
  database.clock().advance(50s);
  database.restart();
}

TEST(TtlSweeper, LeavesAnItemThatIsWrittenInBetween) {
  TestDatabase database;
  const auto table = database.create_table(expiring_table()).value();
  ASSERT_TRUE(database.write(put(table, session("a", kNow - 1))));
  // The sweeper has read ahead, and the item is written before the sweeper deletes it.
  auto request = erase(table, {{"pk", S("a")}});
  request.actions[0].expired = kNow - 1;
  ASSERT_TRUE(database.write(put(table, session("a", kNow + 100))));
  const auto outcome = database.write(std::move(request)).value();
  EXPECT_TRUE(outcome.actions[0].condition_failed);
  EXPECT_TRUE(exists(database, *table, "a"));
}

TEST(TtlSweeper, SaysInTheStreamThatTimeToLiveDidIt) {
  TestDatabase database;
  auto t = expiring_table();
  t.stream = {.enabled = true, .view = StreamView::OldImage, .label = {}};
  const auto table = database.create_table(std::move(t)).value();
  ASSERT_TRUE(database.write(put(table, session("a", kNow - 1))));
  TtlSweeper sweeper(database.engine(), database.clock());
  ASSERT_TRUE(sweeper.sweep());
  const auto snapshot = database.engine().snapshot();
  const auto stream = read_stream(*snapshot, kLeastChangePartitions, table->name, table->stream.label).value().value();
  std::vector<StreamRecord> records;
  for (const auto& shard : stream.shards) {
    auto page = read_shard(*snapshot, {}, table->id, shard, shard.first(), 10);
    for (auto& record : page.value().records) {
      records.push_back(std::move(record));
    }
  }
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].change.by, ChangeBy::User);
  EXPECT_EQ(records[1].change.by, ChangeBy::TimeToLive);
  EXPECT_EQ(records[1].change.kind, ChangeKind::Remove);
  EXPECT_EQ(records[1].change.old_image->parse().value(), session("a", kNow - 1));
}

TEST(TtlSweeper, FillsTheEntriesOfATableThatHadItems) {
  TestDatabase database;
  auto table = database.create_table(testing::table("Sessions", keys({"pk:S"}))).value();
  for (int i = 0; i < 350; ++i) {
    ASSERT_TRUE(database.write(put(table, session("s" + std::to_string(i), i % 2 == 0 ? kNow - 1 : kNow + 60))));
  }
  table = database.update_table("Sessions", [](Table& t) { t.ttl_attribute = "expires"; }).value();
  EXPECT_TRUE(entries(database, table->id).empty());
  ASSERT_TRUE(database.write(put(table, session("s1", kNow + 100))));  // old entry was never there
  database.restart();  // the note that there is something to fill survives
  TtlSweeper sweeper(database.engine(), database.clock());
  ASSERT_TRUE(sweeper.sweep());
  EXPECT_EQ(count_items(database, *table), 175U);
  EXPECT_EQ(entries(database, table->id).size(), 175U);
  EXPECT_EQ(entries(database, table->id), entries_of_items(database, *table));

  ASSERT_TRUE(database.update_table("Sessions", [](Table& t) { t.ttl_attribute.reset(); }));
  EXPECT_TRUE(entries(database, table->id).empty()) << "disabling forgets them";
  database.clock().advance(1h);
  ASSERT_TRUE(sweeper.sweep());
  EXPECT_EQ(count_items(database, *table), 175U) << "nothing expires any more";
}

TEST(TtlSweeper, ForgetsADeletedTable) {
  TestDatabase database;
  const auto table = database.create_table(expiring_table()).value();
  ASSERT_TRUE(database.write(put(table, session("a", kNow + 1))));
  ASSERT_TRUE(database.delete_table("Sessions"));
  EXPECT_TRUE(entries(database, table->id).empty());
}

TEST(TtlSweeper, AgreesWithTheItemsWhileTheyAreWrittenAndFilled) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    TestDatabase database;
    auto table = database.create_table(testing::table("Sessions", keys({"pk:S"}))).value();
    for (int i = 0; i < 500; ++i) ASSERT_TRUE(database.write(put(table, session(std::to_string(i), kNow + i))));
    {
      TtlSweeper sweeper(database.engine(), database.clock());
      const auto write_at_random = [&](std::uint64_t writer) {
        Random random(seed * 10 + writer);
        for (int i = 0; i < 300; ++i) {
          const auto key = std::to_string(random.below(600));
          if (random.below(5) == 0) {
            ASSERT_TRUE(database.write(erase(table, {{"pk", S(key)}})));
          } else {
            ASSERT_TRUE(database.write(put(table, session(key, kNow + static_cast<std::int64_t>(random.below(600))))));
          }
        }
      };
      std::vector<std::jthread> threads;
      for (std::uint64_t writer = 0; writer < 2; ++writer) threads.emplace_back(write_at_random, writer);
      ASSERT_TRUE(database.update_table("Sessions", [](Table& t) { t.ttl_attribute = "expires"; }));
      for (int i = 0; i < 10; ++i) {
        database.clock().advance(20s);
        ASSERT_TRUE(sweeper.sweep());
      }
      threads.clear();
      ASSERT_TRUE(sweeper.sweep());
    }
    const auto current = database.engine().catalog().find("Sessions");
    const auto left = entries(database, current->id);
    EXPECT_EQ(left, entries_of_items(database, *current));
    for (const auto& [expiry, key] : left) EXPECT_GT(expiry, static_cast<std::uint64_t>(kNow + 200));
  }
}

}  // namespace
}  // namespace stator::engine
