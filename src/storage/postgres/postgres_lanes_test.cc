// A store whose keys are spread over several lanes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <thread>

#include "stator/base/random.h"
#include "stator/base/test_eventually.h"
#include "stator/storage/postgres/connection.h"
#include "stator/storage/postgres/lanes.h"
#include "stator/storage/postgres/postgres_store.h"
#include "stator/storage/postgres/test_place.h"
#include "stator/storage/postgres/test_proxy.h"
#include "stator/storage/testing/test_placement.h"

// On the release build alone: PostgreSQL does the work, and none of it is ours to watch.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace stator::storage::postgres {
namespace {

using storage::testing::entries;
using storage::testing::Entries;
using storage::testing::PostgresServer;
using storage::testing::TestPlacement;
using testing::got;
using testing::postgres_place;
using testing::PostgresPlace;
using testing::Proxy;
using testing::put_at;
using testing::run_sql;

constexpr std::uint32_t kLanes = 4;

PostgresOptions with_lanes(PostgresSharing sharing, std::uint32_t lanes = kLanes) {
  return {.url = {}, .sharing = sharing, .lanes = lanes, .placement = std::make_shared<TestPlacement>()};
}
const auto kExclusiveLanes = with_lanes(PostgresSharing::Exclusive);
const auto kSharedLanes = with_lanes(PostgresSharing::Shared);

const bool lanes_contract =
    storage::testing::register_contract_tests("PostgresLanesContract", postgres_place(kExclusiveLanes)) &&
    storage::testing::register_contract_tests("SharedPostgresLanesContract", postgres_place(kSharedLanes));

// A key of that lane: the placement of tests adds up bytes.
Bytes key_in(std::uint32_t lane, int which = 0, std::uint32_t lanes = kLanes) {
  for (int byte = 'a';; ++byte) {
    Bytes key{'k', static_cast<char>(byte)};
    if (TestPlacement().lane_of(key, lanes) == lane && which-- == 0) return key;
  }
}

// A transaction of somebody else that holds the row of a lane.
class LaneHeld {
 public:
  LaneHeld(const PostgresOptions& options, std::uint32_t lane)
      : connection_(Connection::open(Libpq::load().value(), {.url = PostgresServer::shared().url()}).value()) {
    connection_->add_once("BEGIN");
    connection_->add_once(fmt::format("SELECT FROM {}.lanes WHERE lane = {} FOR UPDATE", options.schema, lane));
    EXPECT_TRUE(connection_->run());
  }

 private:
  std::unique_ptr<Connection> connection_;
};

TEST(PostgresLanes, BehaveLikeAMap) {
  for (const auto seed : storage::testing::seeds(8)) {
    storage::testing::expect_same_as_map(postgres_place(seed % 2 == 0 ? kSharedLanes : kExclusiveLanes), seed);
    if (HasFailure()) return;
  }
}

TEST(PostgresLanes, ShowWholeCommitsToReaders) {
  auto options = kSharedLanes;
  options.connections = 30;
  storage::testing::expect_snapshots_whole_under_writes(postgres_place(options), 3, 150);
}

TEST(PostgresLanes, GiveEachCommitANumberOfItsOwn) {
  for (const std::uint32_t count : {1U, 2U, 4U, 64U}) {
    const Lanes lanes(count, std::make_shared<TestPlacement>());
    for (std::uint64_t last = 0; last < 200; ++last) {
      for (std::uint32_t lane = 0; lane < lanes.rows(); ++lane) {
        const auto next = lanes.next({last}, static_cast<std::int32_t>(lane)).value;
        EXPECT_GT(next, last);
        EXPECT_LE(next, last + lanes.rows());
        EXPECT_EQ(next % lanes.rows(), lane);
      }
    }
  }
  EXPECT_TRUE(Lanes::is_valid(1) && Lanes::is_valid(2) && Lanes::is_valid(64));
  EXPECT_FALSE(Lanes::is_valid(0) || Lanes::is_valid(3) || Lanes::is_valid(128) || Lanes::is_valid(-4));
}

TEST(PostgresLanes, WalkRangesInTheOrderOfKeys) {
  for (const bool ordered : {false, true}) {
    PostgresPlace place(kSharedLanes);
    const auto store = place.open();
    Random random(5);
    std::map<Bytes, Bytes> reference;
    // More than a first page, and more than one page of a lane.
    for (int round = 0; round < 4; ++round) {
      Batch batch;
      for (int i = 0; i < 500; ++i) {
        Bytes key(ordered ? TestPlacement::ordered_prefix() : BytesView("r"));
        for (int byte = 0; byte < 3; ++byte) key.push_back(static_cast<char>(random.below(256)));
        reference[key] = fmt::format("{}", i);
        batch.put(key, reference[key]);
      }
      ASSERT_TRUE(store->commit(std::move(batch)));
    }
    const auto snapshot = store->snapshot();
    for (int i = 0; i < 12; ++i) {
      KeyRange range{std::next(reference.begin(), static_cast<std::ptrdiff_t>(random.below(1900)))->first,
                     std::next(reference.begin(), static_cast<std::ptrdiff_t>(random.below(1900)))->first};
      if (range.end < range.begin) std::swap(range.begin, range.end);
      if (i == 0) range = KeyRange::prefix(ordered ? TestPlacement::ordered_prefix() : BytesView("r"));
      Entries expected(reference.lower_bound(range.begin), reference.lower_bound(range.end));
      EXPECT_TRUE(entries(*snapshot, range) == expected);
      std::ranges::reverse(expected);
      EXPECT_TRUE(entries(*snapshot, range, Direction::Backward) == expected);
    }
  }
}

TEST(PostgresLanes, AddUpTheParts) {
  PostgresPlace place(kSharedLanes);
  const auto store = place.open();
  // More counters than a page has rows, so that pages end between parts.
  constexpr int kCounters = 40;
  const auto name = [](int counter) { return fmt::format("counter{:02}", counter); };
  for (std::uint32_t lane = 0; lane <= kLanes; ++lane) {
    Batch batch;
    batch.put(key_in(lane), "v");
    for (int counter = 0; counter < kCounters; ++counter) batch.add(name(counter), counter * (std::int64_t{lane} + 1));
    ASSERT_TRUE(store->commit(std::move(batch)));
  }
  Entries expected;
  for (int counter = 0; counter < kCounters; ++counter)
    expected.emplace_back(name(counter), encode_counter(counter * 15));
  EXPECT_EQ(got(*store, name(7)), encode_counter(7 * 15));
  EXPECT_EQ(store->snapshot()->get(name(7)).value(), encode_counter(7 * 15));
  EXPECT_EQ(entries(*store->snapshot(), KeyRange::prefix("counter")), expected);
  std::ranges::reverse(expected);
  EXPECT_EQ(entries(*store->snapshot(), KeyRange::prefix("counter"), Direction::Backward), expected);
  const auto read = store->get_all({name(3), key_in(2), "counter-none", name(4)}).value();
  EXPECT_EQ(read.values[0], encode_counter(45));
  EXPECT_EQ(read.values[1], "v");
  EXPECT_EQ(read.values[2], std::nullopt);
  EXPECT_EQ(read.values[3], encode_counter(60));

  Batch replace;
  replace.put(name(3), encode_counter(1));
  replace.add(name(3), 1);
  replace.erase(name(4));
  ASSERT_TRUE(store->commit(std::move(replace)));
  EXPECT_EQ(got(*store, name(3)), encode_counter(2));
  EXPECT_EQ(got(*store, name(4)), "(missing)");
}

// -- Who waits for whom

TEST(PostgresLanes, DoNotWaitForEachOther) {
  PostgresPlace place(kSharedLanes);
  const auto store = place.open();
  const LaneHeld held(place.options(), 2);
  EXPECT_TRUE(put_at(*store, key_in(1), "v"));
  EXPECT_TRUE(put_at(*store, key_in(3), "v"));
  Batch both;
  both.put(key_in(1), "w");
  both.put(key_in(4), "w");
  both.add("n", 1);
  EXPECT_TRUE(store->commit(std::move(both)));
  EXPECT_EQ(got(*store, key_in(2)), "(missing)") << "readers wait for nobody";
}

TEST(PostgresLanes, AreCommittedToSideBySide) {
  PostgresPlace place(kSharedLanes);
  const auto store = place.open();
  auto held = std::make_unique<LaneHeld>(place.options(), 2);
  std::jthread waits([&] { EXPECT_TRUE(put_at(*store, key_in(2), "v")); });
  for (std::uint32_t i = 0; i < 20; ++i) EXPECT_TRUE(put_at(*store, key_in(1 + 2 * (i % 2)), "v"));
  EXPECT_EQ(got(*store, key_in(2)), "(missing)");
  held.reset();
  waits.join();
  EXPECT_EQ(got(*store, key_in(2)), "v");
}

// PostgreSQL lets new sharers of a row pass a writer that waits for it: shared locks would keep it waiting for ever.
TEST(PostgresLanes, LetNobodyWhoOnlyReadsPassAWriterThatWaits) {
  PostgresPlace place(kSharedLanes);
  const auto store = place.open();
  for (const std::uint32_t lane : {1U, 2U, 3U}) ASSERT_TRUE(put_at(*store, key_in(lane), "old"));
  const auto reading_lane_2 = [&](std::uint32_t written) {
    Batch batch;
    batch.read_at(store->read_point());
    batch.depends_on(key_in(2));
    batch.put(key_in(written), "new");
    return batch;
  };
  const auto other = Connection::open(Libpq::load().value(), {.url = PostgresServer::shared().url()}).value();
  const auto waiting = [&](std::int64_t count) {
    return eventually([&] {
      other->add_once("SELECT count(*) FROM pg_locks WHERE NOT granted");
      return other->run().value()[0].integer(0, 0) == count;
    });
  };
  other->add_once("BEGIN");
  other->add_once(fmt::format("SELECT FROM {}.entries WHERE lane = 1 FOR UPDATE", place.options().schema));
  ASSERT_TRUE(other->run());
  std::jthread first([&] { EXPECT_TRUE(store->commit(reading_lane_2(1))); });
  EXPECT_TRUE(waiting(1)) << "it has its lanes, and waits for the entry";
  std::jthread writer([&] { EXPECT_TRUE(put_at(*store, key_in(2, 1), "new")); });
  EXPECT_TRUE(waiting(2));
  std::jthread second([&] { EXPECT_TRUE(store->commit(reading_lane_2(3))); });
  EXPECT_TRUE(waiting(3)) << "behind the writer";
  other->add_once("ROLLBACK");
  ASSERT_TRUE(other->run());
}

TEST(PostgresLanes, ThatManyCommitsReadAreStillWrittenTo) {
  constexpr std::uint32_t kMany = 16, kReaders = 8, kRead = 12;
  PostgresPlace place(with_lanes(PostgresSharing::Shared, kMany));
  const auto store = place.open();
  std::atomic<bool> done = false;
  std::vector<std::jthread> readers;
  for (std::uint32_t reader = 1; reader <= kReaders; ++reader) {
    readers.emplace_back([&, reader] {
      while (!done) {
        Batch batch;
        batch.read_at(store->read_point());
        batch.depends_on(key_in(kRead, 0, kMany));
        batch.put(key_in(reader, 0, kMany), "v");
        const auto committed = store->commit(std::move(batch));
        EXPECT_TRUE(committed || committed.error().code == ErrorCode::Conflict) << committed.error().message;
      }
    });
  }
  for (int i = 0; i < 5; ++i) {
    const auto began = std::chrono::steady_clock::now();
    EXPECT_TRUE(put_at(*store, key_in(kRead, 1, kMany), "v"));
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(2));
  }
  done = true;
}

TEST(PostgresLanes, ThatWereOnlyReadAreKeptFromWriters) {
  PostgresPlace place(kSharedLanes);
  const auto store = place.open();
  Batch batch;
  batch.read_at(store->read_point());
  batch.depends_on(key_in(2));
  batch.put(key_in(3), "v");
  EXPECT_TRUE(store->commit(batch));
  auto held = std::make_unique<LaneHeld>(place.options(), 2);
  std::atomic<bool> done = false;
  std::jthread waits([&] {
    auto again = batch;
    again.read_at(store->read_point());
    EXPECT_TRUE(store->commit(std::move(again)));
    done = true;
  });
  EXPECT_TRUE(put_at(*store, key_in(1), "v"));
  EXPECT_FALSE(done);
  held.reset();
}

TEST(PostgresLanes, AreWaitedForNoLongerThanOneOfThem) {
  auto options = kSharedLanes;
  options.lock_patience = std::chrono::seconds(1);
  PostgresPlace place(options);
  const auto store = place.open();
  Batch batch;
  batch.read_at(store->read_point());
  std::deque<LaneHeld> held;
  for (std::uint32_t lane = 1; lane <= kLanes; ++lane) {
    held.emplace_back(place.options(), lane);
    batch.put(key_in(lane), "v");
  }
  std::atomic<bool> done = false;
  std::jthread waits([&] {
    const auto committed = store->commit(std::move(batch));
    ASSERT_FALSE(committed);
    EXPECT_EQ(committed.error().code, ErrorCode::Busy);
    done = true;
  });
  // Each lane becomes free before the patience for one lane has ended.
  const auto observer = Connection::open(Libpq::load().value(), {.url = PostgresServer::shared().url()}).value();
  const auto waits_for_long = [&] {
    observer->add_once(
        "SELECT count(*) FROM pg_locks WHERE NOT granted AND waitstart < clock_timestamp() - interval '0.6 s' "
        "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())");
    return done || observer->run().value()[0].integer(0, 0) > 0;
  };
  while (!held.empty()) {
    EXPECT_TRUE(eventually(waits_for_long));
    held.pop_front();
  }
  waits.join();
  EXPECT_TRUE(put_at(*store, key_in(2), "v"));
}

// -- Several stores over one database

class SharedLanes : public ::testing::Test {
 protected:
  static ErrorCode code_of(const Result<CommitSequence>& committed) {
    return committed ? ErrorCode::Internal : committed.error().code;
  }

  PostgresPlace place_{kSharedLanes};
  std::unique_ptr<Store> a_ = place_.open(), b_ = place_.open();
};

TEST_F(SharedLanes, ConflictOverAKeyInALaneThatIsNotWritten) {
  for (std::uint32_t lane = 0; lane <= kLanes; ++lane) {
    SCOPED_TRACE(lane);
    const auto key = key_in(lane), written = key_in((lane + 1) % (kLanes + 1));
    ASSERT_TRUE(put_at(*a_, key, "1"));
    auto read = b_->get_all({key}).value();
    EXPECT_EQ(read.values[0], "1");
    Batch batch;
    batch.read_at(read.at);
    batch.depends_on(key);
    batch.put(written, "by the batch");
    auto again = batch;
    EXPECT_TRUE(b_->commit(batch)) << "nothing has changed";

    ASSERT_TRUE(put_at(*a_, key, "2"));
    EXPECT_EQ(code_of(b_->commit(again)), ErrorCode::Conflict);
    again.read_at(b_->get_all({key}).value().at);
    EXPECT_TRUE(b_->commit(again));

    Batch erase;
    erase.erase(key);
    ASSERT_TRUE(a_->commit(std::move(erase)));
    EXPECT_EQ(code_of(b_->commit(again)), ErrorCode::Conflict);
  }
}

TEST_F(SharedLanes, ConflictOverARangeOfSeveralLanes) {
  auto batch = [&] {
    Batch made;
    made.read_at(b_->read_point());
    made.depends_on(KeyRange::prefix("k"));
    made.put("written", "by the batch");
    return made;
  };
  for (std::uint32_t lane = 0; lane <= kLanes; ++lane) {
    (void)b_->snapshot();  // it knows of all commits so far
    auto before = batch();
    ASSERT_TRUE(put_at(*a_, key_in(lane), "1"));
    EXPECT_EQ(code_of(b_->commit(before)), ErrorCode::Conflict) << lane;
  }
  (void)b_->snapshot();
  auto before = batch();
  Batch erase;
  erase.erase_range(KeyRange::prefix("k"));
  ASSERT_TRUE(a_->commit(std::move(erase)));
  EXPECT_EQ(code_of(b_->commit(before)), ErrorCode::Conflict);
  (void)b_->snapshot();
  EXPECT_TRUE(b_->commit(batch()));
}

TEST_F(SharedLanes, SeeANewEpochInEachLane) {
  for (std::uint32_t lane = 0; lane <= kLanes; ++lane) {
    SCOPED_TRACE(lane);
    Batch batch;
    batch.made_in_epoch(a_->epoch());
    batch.put("table", fmt::format("{}", lane));
    batch.begins_epoch();
    const auto epoch = a_->commit(std::move(batch));
    ASSERT_TRUE(epoch) << epoch.error().message;
    a_->enter_epoch(*epoch);
    EXPECT_EQ(b_->get(key_in(lane)).error().code, ErrorCode::Outdated);
    EXPECT_EQ(b_->get_all({key_in(lane)}).error().code, ErrorCode::Outdated);
    Batch old;
    old.made_in_epoch(b_->epoch());
    old.put(key_in(lane), "v");
    EXPECT_EQ(code_of(b_->commit(old)), ErrorCode::Outdated);
    b_->enter_epoch(b_->snapshot_of_epoch().value().epoch);
    EXPECT_EQ(b_->epoch(), *epoch);
    EXPECT_TRUE(b_->get(key_in(lane)));
  }
}

TEST_F(SharedLanes, KnowHowFarASnapshotSees) {
  for (std::uint32_t lane = 0; lane <= kLanes; ++lane) {
    const auto sequence = put_at(*a_, key_in(lane), "v").value();
    EXPECT_LT(b_->last_commit_of(key_in(lane)), sequence);
    (void)b_->snapshot();
    EXPECT_EQ(b_->last_commit_of(key_in(lane)), sequence);
  }
}

// Accounts in all lanes.  A transfer reads two of them and a third one, which limits it, and writes the two: the total
// stays, and no limit is passed, only if commits are as if they happened one after another.
TEST_F(SharedLanes, KeepWhatTransfersRelyOn) {
  constexpr int kAccounts = 10, kTransfers = 60, kMostAttempts = 10'000;
  const auto account = [](std::uint64_t number) { return fmt::format("k/{}", number); };
  Batch opening;
  for (int i = 0; i < kAccounts; ++i) opening.put(account(static_cast<std::uint64_t>(i)), encode_counter(100));
  ASSERT_TRUE(a_->commit(std::move(opening)));
  std::atomic<int> conflicts = 0;
  const auto transfer = [&](Store& store, std::uint64_t seed) {
    Random random(seed);
    for (int i = 0, attempt = 1; i < kTransfers; ++attempt) {
      ASSERT_LE(attempt, kMostAttempts) << "after " << i << " transfers";
      const auto from = account(random.below(kAccounts)), to = account(random.below(kAccounts));
      const auto other = account(random.below(kAccounts));
      if (from == to) continue;
      const auto read = store.get_all({from, to, other}).value();
      const auto balance = [&](std::size_t which) { return decode_counter(*read.values[which]).value(); };
      Batch batch;
      batch.read_at(read.at);
      for (const auto& key : {from, to, other}) batch.depends_on(key);
      const auto amount = std::min<std::int64_t>(balance(0), balance(2) % 7 + 1);
      batch.put(from, encode_counter(balance(0) - amount));
      batch.put(to, encode_counter(balance(1) + amount));
      batch.add("n", 1);
      batch.put_sequenced("log........", 3, "x");
      const auto committed = store.commit(std::move(batch));
      if (!committed) {
        ASSERT_EQ(committed.error().code, ErrorCode::Conflict) << committed.error().message;
        ++conflicts;
        continue;
      }
      ++i;
    }
  };
  std::atomic<bool> done = false;
  std::jthread auditor([&] {
    while (!done) {
      std::int64_t total = 0;
      for (const auto& [key, value] : entries(*b_->snapshot(), KeyRange::prefix("k/"))) {
        total += decode_counter(value).value();
      }
      EXPECT_EQ(total, 100 * kAccounts);
    }
  });
  {
    std::jthread one([&] { transfer(*a_, 1); }), two([&] { transfer(*b_, 2); }), three([&] { transfer(*a_, 3); });
  }
  done = true;
  auditor.join();
  EXPECT_EQ(got(*b_, "n"), encode_counter(3 * kTransfers));
  EXPECT_EQ(entries(*a_->snapshot(), KeyRange::prefix("log")).size(), 3U * kTransfers);
  EXPECT_GT(conflicts, 0) << "they met";
}

// -- Failures

class BrokenLanes : public ::testing::Test {
 protected:
  Proxy proxy_{PostgresServer::shared().socket_path()};
  PostgresPlace place_{[this] {
    auto options = kSharedLanes;
    options.url = PostgresServer::url_at(proxy_.folder());
    return options;
  }()};
  std::unique_ptr<Store> store_ = place_.open();

  static Batch counting() {
    Batch batch;
    batch.put(key_in(2), "v");
    batch.put(key_in(4), "v");
    batch.add("n", 1);
    return batch;
  }
};

TEST_F(BrokenLanes, FindOutWhetherACommitHappened) {
  ASSERT_TRUE(store_->commit(counting()));
  std::int64_t commits = 1;
  for (const auto cut : {Proxy::Cut::BeforeCommit, Proxy::Cut::AfterCommit}) {
    proxy_.cut(cut);
    ASSERT_TRUE(store_->commit(counting()));
    EXPECT_EQ(got(*store_, "n"), encode_counter(++commits));
  }
  EXPECT_EQ(proxy_.cuts(), 2);
}

TEST_F(BrokenLanes, LeaveTheOutcomeToRecover) {
  std::int64_t commits = 0;
  for (const auto cut : {Proxy::Cut::BeforeCommit, Proxy::Cut::AfterCommit}) {
    ASSERT_TRUE(store_->commit(counting()));
    ++commits;
    const auto before = store_->last_commit_of(key_in(4));
    // Another session commits meanwhile, and has nothing to do with it.
    ASSERT_TRUE(put_at(*store_, key_in(1), "v"));
    proxy_.refuse_after_cut(true);
    proxy_.cut(cut);
    EXPECT_EQ(store_->commit(counting()).error().code, ErrorCode::Storage);
    EXPECT_FALSE(store_->get(key_in(1))) << "in no lane";
    EXPECT_FALSE(put_at(*store_, key_in(1), "v"));
    EXPECT_FALSE(store_->recover());
    EXPECT_EQ(store_->last_commit_of(key_in(4)), before);
    proxy_.refuse_after_cut(false);
    const auto recovered = store_->recover();
    ASSERT_TRUE(recovered) << recovered.error().message;
    if (cut == Proxy::Cut::AfterCommit) ++commits;
    EXPECT_EQ(store_->last_commit_of(key_in(4)) > before, cut == Proxy::Cut::AfterCommit);
    EXPECT_EQ(store_->last_commit_of(key_in(2)), store_->last_commit_of(key_in(4)));
    EXPECT_EQ(got(*store_, "n"), encode_counter(commits));
    EXPECT_TRUE(put_at(*store_, key_in(1), "v"));
  }
}

// Commits of several sessions are in doubt at once.
TEST_F(BrokenLanes, RecoverEachSession) {
  for (int round = 0; round < 3; ++round) {
    std::vector<std::jthread> threads;
    std::atomic<std::int64_t> done = 0;
    const auto before = got(*store_, "n");
    for (std::uint32_t lane = 1; lane <= kLanes; ++lane) {
      threads.emplace_back([&, lane] {
        for (int i = 0; i < 30; ++i) {
          Batch batch;
          batch.put(key_in(lane), "v");
          batch.add("n", 1);
          if (i == 10 + round) proxy_.cut(lane % 2 == 0 ? Proxy::Cut::BeforeCommit : Proxy::Cut::AfterCommit);
          if (const auto committed = store_->commit(std::move(batch)); committed) ++done;
        }
      });
    }
    threads.clear();
    ASSERT_TRUE(store_->recover());
    const auto counted = [](const std::string& bytes) {
      return bytes == "(missing)" ? 0 : decode_counter(bytes).value();
    };
    EXPECT_EQ(counted(got(*store_, "n")) - counted(before), done);
    EXPECT_EQ(done, 30 * kLanes) << "the server was there all the time";
  }
  EXPECT_GT(proxy_.cuts(), 0);
}

TEST(PostgresLanes, StopWhenTheDatabaseHasLostCommitsOfOneLane) {
  PostgresPlace place(kSharedLanes);
  const auto store = place.open();
  ASSERT_TRUE(put_at(*store, key_in(2), "1"));
  ASSERT_TRUE(put_at(*store, key_in(2), "2"));
  run_sql(fmt::format("UPDATE {}.lanes SET sequence = 2 WHERE lane = 2", place.options().schema));
  testing::end_lock_sessions();
  EXPECT_FALSE(put_at(*store, key_in(1), "3"));
  EXPECT_EQ(store->health().trouble, StoreTrouble::TakenOver);
}

// -- The tables

TEST(PostgresLanes, AreThoseThatTheTablesWereMadeWith) {
  PostgresPlace place(kSharedLanes);
  ASSERT_EQ(make_postgres_schema(place.options()).value(), kLanes);
  auto options = place.options();
  options.lanes = 1;
  const auto store = open_postgres_store(options);
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ((*store)->capabilities().lanes, kLanes);
  options.placement = nullptr;
  EXPECT_FALSE(open_postgres_store(options)) << "nobody knows where the keys are";
  options.lanes = 3;
  const auto refused = open_postgres_store(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "a store has 1, 2, 4, 8, 16, 32 or 64 lanes, and not 3");
}

}  // namespace
}  // namespace stator::storage::postgres

#endif
