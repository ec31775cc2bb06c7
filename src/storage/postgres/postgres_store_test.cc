#include "stator/storage/postgres/postgres_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <thread>

#include "stator/base/random.h"
#include "stator/base/test_eventually.h"
#include "stator/storage/postgres/connection.h"
#include "stator/storage/postgres/key_parts.h"
#include "stator/storage/postgres/postgres_statements.h"
#include "stator/storage/postgres/schema.h"
#include "stator/storage/postgres/test_place.h"
#include "stator/storage/postgres/test_proxy.h"
#include "stator/storage/testing/contract.h"
#include "stator/storage/testing/postgres_server.h"

// On the release build alone: PostgreSQL does the work, and none of it is ours to watch.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace stator::storage::postgres {
namespace {

using storage::testing::entries;
using storage::testing::Entries;
using storage::testing::PostgresServer;
using testing::end_lock_sessions;
using testing::got;
using testing::postgres_place;
using testing::PostgresPlace;
using testing::Proxy;
using testing::put_at;
using testing::run_sql;

const PostgresOptions kExclusive{.url = {}};
const PostgresOptions kShared{.url = {}, .sharing = PostgresSharing::Shared};
const PostgresOptions kRelaxed{.url = {}, .relaxed = true};

const bool postgres_contract =
    storage::testing::register_contract_tests("PostgresStoreContract", postgres_place(kExclusive)) &&
    storage::testing::register_contract_tests("SharedPostgresStoreContract", postgres_place(kShared)) &&
    storage::testing::register_contract_tests("RelaxedPostgresStoreContract", postgres_place(kRelaxed));

// As a newer Stator does.
void set_format(const PostgresPlace& place, int format, int readable_by) {
  run_sql(
      fmt::format("UPDATE {}.store SET format = {}, readable_by = {}", place.options().schema, format, readable_by));
}

Bytes random_bytes(Random& random, std::size_t size) {
  Bytes bytes(size, '\0');
  for (auto& byte : bytes) byte = static_cast<char>(random.below(256));
  return bytes;
}

TEST(PostgresStore, BehavesLikeAMap) {
  for (const auto seed : storage::testing::seeds(6)) {
    storage::testing::expect_same_as_map(postgres_place(seed % 2 == 0 ? kShared : kExclusive), seed);
    if (HasFailure()) return;
  }
}

TEST(PostgresStore, ShowsWholeCommitsToReaders) {
  auto options = kExclusive;
  options.connections = 30;
  storage::testing::expect_snapshots_whole_under_writes(postgres_place(options), 3, 150);
}

// PostgreSQL compresses before it measures, so that only random bytes are as long as they look.
TEST(PostgresStore, KeepsLongKeysInTheirOrder) {
  Random random(7);
  const auto head = KeyParts::kHeadBytes;
  const std::vector<Bytes> prefixes{"k", "k" + random_bytes(random, head - 2), "k" + random_bytes(random, head + 500),
                                    "k" + random_bytes(random, 2704), "k" + random_bytes(random, 9000)};
  std::map<Bytes, Bytes> reference;
  PostgresPlace place(kExclusive);
  const auto store = place.open();
  std::vector<Bytes> keys;
  for (int round = 0; round < 10; ++round) {
    Batch batch;
    for (int i = 0; i < 30; ++i) {
      auto key = prefixes[random.below(prefixes.size())];
      // Few short endings collide; long ones make the whole key longer than an index entry can be.
      key += random.below(3) == 0 ? random_bytes(random, random.below(4000)) : random_bytes(random, 1).substr(0, 1);
      if (random.below(4) == 0) key.append(random.below(3), '\0');
      keys.push_back(key);
      auto value = random_bytes(random, random.below(20));
      reference.insert_or_assign(key, value);
      batch.put(std::move(key), std::move(value));
    }
    for (int i = 0; i < 5; ++i) {
      const auto& key = keys[random.below(keys.size())];
      reference.erase(key);
      batch.erase(key);
    }
    ASSERT_TRUE(store->commit(std::move(batch)));
  }
  const auto all = [&](const KeyRange& range) {
    const auto last = range.end.empty() ? reference.end() : reference.lower_bound(range.end);
    return range.end.empty() || range.begin < range.end ? Entries(reference.lower_bound(range.begin), last) : Entries();
  };
  const auto backwards = [](Entries entries) {
    std::ranges::reverse(entries);
    return entries;
  };
  const auto snapshot = store->snapshot();
  EXPECT_TRUE(entries(*snapshot) == all({}));
  EXPECT_TRUE(entries(*snapshot, {}, Direction::Backward) == backwards(all({})));
  for (int i = 0; i < 40; ++i) {
    KeyRange range{keys[random.below(keys.size())], keys[random.below(keys.size())]};
    if (range.end < range.begin) std::swap(range.begin, range.end);
    if (i % 4 == 0) range.end.clear();
    EXPECT_TRUE(entries(*snapshot, range) == all(range));
    EXPECT_TRUE(entries(*snapshot, range, Direction::Backward) == backwards(all(range)));
    const auto& key = keys[random.below(keys.size())];
    const auto found = reference.find(key);
    EXPECT_EQ(got(*store, key), found == reference.end() ? "(missing)" : found->second);
  }
  // A range that begins and ends inside the tails.
  KeyRange tails{prefixes[2] + "\x40", prefixes[2] + "\xa0"};
  Batch erase;
  erase.erase_range(tails);
  ASSERT_TRUE(store->commit(std::move(erase)));
  reference.erase(reference.lower_bound(tails.begin), reference.lower_bound(tails.end));
  EXPECT_TRUE(entries(*store->snapshot()) == all({}));
}

TEST(PostgresStore, ReadsLargeValuesPageByPage) {
  PostgresPlace place(kExclusive);
  const auto store = place.open();
  Random random(3);
  Entries expected;
  Batch batch;
  for (int i = 0; i < 60; ++i) {
    auto value = random_bytes(random, i % 10 == 0 ? 400'000 : random.below(3000));
    expected.emplace_back(fmt::format("k{:03}", i), value);
    batch.put(fmt::format("k{:03}", i), std::move(value));
  }
  ASSERT_TRUE(store->commit(std::move(batch)));
  EXPECT_TRUE(entries(*store->snapshot()) == expected);
  std::ranges::reverse(expected);
  EXPECT_TRUE(entries(*store->snapshot(), {}, Direction::Backward) == expected);
}

// -- Several stores over one database

class SharedStores : public ::testing::Test {
 protected:
  // A batch that was computed from what `store` sees now.
  static Batch batch_of(const Store& store) {
    Batch batch;
    batch.read_at(store.read_point());
    batch.put("written", "by the batch");
    return batch;
  }
  static ErrorCode code_of(const Result<CommitSequence>& committed) {
    return committed ? ErrorCode::Internal : committed.error().code;
  }

  PostgresPlace place_{kShared};
  std::unique_ptr<Store> a_ = place_.open(), b_ = place_.open();
};

TEST_F(SharedStores, SeeEachOthersCommits) {
  ASSERT_EQ(put_at(*a_, "k", "1").value(), (CommitSequence{1}));
  EXPECT_EQ(got(*b_, "k"), "1");
  EXPECT_EQ(b_->last_commit(), (CommitSequence{1}));
  ASSERT_EQ(put_at(*b_, "k", "2").value(), (CommitSequence{2}));
  EXPECT_EQ(got(*a_, "k"), "2");
}

TEST_F(SharedStores, ConflictWhenAKeyThatWasReadHasChanged) {
  ASSERT_TRUE(put_at(*a_, "k", "1"));
  ASSERT_EQ(got(*b_, "k"), "1");
  auto batch = batch_of(*b_);
  batch.depends_on(Bytes("k"));
  ASSERT_TRUE(put_at(*a_, "k", "2"));
  EXPECT_EQ(code_of(b_->commit(batch)), ErrorCode::Conflict);
  EXPECT_EQ(got(*a_, "written"), "(missing)");
  // The next attempt knows of that commit.
  auto again = batch_of(*b_);
  again.depends_on(Bytes("k"));
  EXPECT_TRUE(b_->commit(again));
}

TEST_F(SharedStores, ConflictWhenAKeyThatWasReadIsGone) {
  ASSERT_TRUE(put_at(*a_, "k", "1"));
  ASSERT_EQ(got(*b_, "k"), "1");
  auto batch = batch_of(*b_);
  batch.depends_on(Bytes("k"));
  Batch erase;
  erase.erase("k");
  ASSERT_TRUE(a_->commit(std::move(erase)));
  EXPECT_EQ(code_of(b_->commit(batch)), ErrorCode::Conflict);
}

TEST_F(SharedStores, ConflictWhenAMissingKeyThatWasReadAppears) {
  auto batch = batch_of(*b_);
  batch.depends_on(Bytes("k"));
  ASSERT_TRUE(put_at(*a_, "k", "1"));
  EXPECT_EQ(code_of(b_->commit(batch)), ErrorCode::Conflict);
}

TEST_F(SharedStores, ConflictWhenARangeThatWasReadHasChanged) {
  for (const auto& range : {KeyRange::prefix("r"), KeyRange{"r", {}}}) {
    auto batch = batch_of(*b_);
    batch.depends_on(range);
    ASSERT_TRUE(put_at(*a_, "r1", "1"));
    EXPECT_EQ(code_of(b_->commit(batch)), ErrorCode::Conflict);

    auto after = batch_of(*b_);
    after.depends_on(range);
    Batch erase;
    erase.erase_range({"q", "r2"});
    ASSERT_TRUE(a_->commit(std::move(erase)));
    EXPECT_EQ(code_of(b_->commit(after)), ErrorCode::Conflict);

    auto last = batch_of(*b_);
    last.depends_on(range);
    EXPECT_TRUE(b_->commit(last));
  }
}

TEST_F(SharedStores, DoNotConflictOverWhatWasNotRead) {
  ASSERT_TRUE(put_at(*a_, "k", "1"));
  auto batch = batch_of(*b_);
  batch.depends_on(Bytes("k"));
  batch.depends_on(KeyRange::prefix("r"));
  batch.add("counter", 1);
  batch.read_at(ReadPoint(CommitSequence{1}));
  Batch other;
  other.put("l", "1");
  other.erase("m");
  other.erase_range(KeyRange::prefix("s"));
  other.add("counter", 1);
  ASSERT_TRUE(a_->commit(std::move(other)));
  const auto committed = b_->commit(batch);
  ASSERT_TRUE(committed) << committed.error().message;
  EXPECT_EQ(got(*a_, "counter"), encode_counter(2));
}

TEST_F(SharedStores, ConflictWhenItIsNotKnownAnyMoreWhatWasErased) {
  auto batch = batch_of(*b_);
  batch.depends_on(Bytes("k"));
  run_sql(fmt::format("UPDATE {}.lanes SET erasures_from = 5, sequence = 7", place_.options().schema));
  EXPECT_EQ(code_of(b_->commit(batch)), ErrorCode::Conflict);
  auto again = batch_of(*b_);
  again.depends_on(Bytes("k"));
  EXPECT_TRUE(b_->commit(again));
}

// The process was paused after it made the batch, or the database is another machine with another clock.
TEST_F(SharedStores, ConflictWhenTheBatchWasMadeAtAnotherTime) {
  for (const auto distance : {std::chrono::minutes(-2), std::chrono::minutes(2)}) {
    auto batch = batch_of(*b_);
    batch.made_at(b_->clock()->now() + distance);
    EXPECT_EQ(code_of(b_->commit(batch)), ErrorCode::Conflict) << distance.count();
    batch.made_at(b_->clock()->now());
    EXPECT_TRUE(b_->commit(batch));
  }
}

TEST_F(SharedStores, RefuseAnExclusiveOne) {
  auto options = place_.options();
  options.sharing = PostgresSharing::Exclusive;
  const auto refused = open_postgres_store(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Usage);
}

TEST_F(SharedStores, CountTogetherFromManyThreads) {
  constexpr int kCommits = 40, kMostAttempts = 1000;
  const auto add = [&](Store& store) {
    for (int i = 0; i < kCommits; ++i) {
      // Reads and writes the sum, as a request with a condition does.
      for (int attempt = 1;; ++attempt) {
        ASSERT_LE(attempt, kMostAttempts) << "the other store is always faster";
        Batch batch;
        batch.read_at(store.read_point());
        batch.depends_on(Bytes("sum"));
        const auto sum = store.get("sum").value();
        batch.put("sum", encode_counter((sum ? decode_counter(*sum).value() : 0) + 1));
        batch.add("n", 1);
        batch.put_sequenced("log........", 3, "x");
        const auto committed = store.commit(std::move(batch));
        if (committed) break;
        ASSERT_EQ(committed.error().code, ErrorCode::Conflict) << committed.error().message;
      }
    }
  };
  {
    std::jthread one([&] { add(*a_); }), two([&] { add(*b_); });
  }
  EXPECT_EQ(got(*a_, "sum"), encode_counter(2 * kCommits));
  EXPECT_EQ(got(*b_, "n"), encode_counter(2 * kCommits));
  EXPECT_EQ(entries(*a_->snapshot(), KeyRange::prefix("log")).size(), 2U * kCommits);
}

TEST_F(SharedStores, StopWhenTheirOwnCommitsAreLostAlthoughOthersHaveMadeNewOnes) {
  ASSERT_TRUE(put_at(*a_, "k", "1"));
  ASSERT_TRUE(put_at(*a_, "k", "2"));
  // As at a standby that was behind, and then got commits of another process.
  run_sql(fmt::format("UPDATE {}.writers SET number = 1", place_.options().schema));
  ASSERT_TRUE(put_at(*b_, "k", "3"));
  end_lock_sessions();
  const auto committed = put_at(*a_, "k", "4");
  ASSERT_FALSE(committed);
  EXPECT_NE(committed.error().message.find("lost commits of this process"), std::string::npos);
  EXPECT_EQ(a_->health().trouble, StoreTrouble::TakenOver);
  EXPECT_TRUE(put_at(*b_, "k", "5"));
}

// -- One store at a time

TEST(ExclusivePostgresStore, RefusesASecondOneAndNamesTheFirst) {
  PostgresPlace place({.url = {}, .holder = "process 12 on example"});
  auto first = place.open();
  const auto second = place.try_open();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::Usage);
  EXPECT_EQ(second.error().message,
            fmt::format("another Stator uses the store {} (process 12 on example); stop it first",
                        described_postgres_url(place.options().url)));
  first.reset();
  EXPECT_TRUE(place.try_open());
}

TEST(ExclusivePostgresStore, WritesAndReadsNothingOnceAnotherHasTakenOver) {
  PostgresPlace place(kExclusive);
  const auto paused = place.open();
  ASSERT_TRUE(put_at(*paused, "k", "1"));
  std::unique_ptr<Store> next;
  // Its session is gone, as after a long pause, and it may or may not have noticed when the next one starts.
  for (int attempt = 0; attempt < 100 && next == nullptr; ++attempt) {
    end_lock_sessions();
    if (auto opened = place.try_open()) next = std::move(*opened);
  }
  ASSERT_NE(next, nullptr);
  ASSERT_TRUE(put_at(*next, "k", "2"));

  const auto committed = put_at(*paused, "k", "3");
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().code, ErrorCode::Storage);
  EXPECT_EQ(paused->health().trouble, StoreTrouble::TakenOver);
  EXPECT_EQ(got(*paused, "k"), "error: another Stator has taken over the store; restart this one to use it again");
  EXPECT_FALSE(paused->snapshot()->get("k"));
  EXPECT_FALSE(paused->snapshot()->cursor({}, Direction::Forward)->status());
  EXPECT_FALSE(paused->recover());
  EXPECT_EQ(got(*next, "k"), "2");
}

TEST(ExclusivePostgresStore, NoticesWithEachReadThatAnotherHasTakenOver) {
  for (const bool by_snapshot : {false, true}) {
    PostgresPlace place(kExclusive);
    const auto store = place.open();
    run_sql(fmt::format("UPDATE {}.lanes SET fence = fence + 1", place.options().schema));
    EXPECT_FALSE(by_snapshot ? store->snapshot()->get("k") : store->get("k"));
    EXPECT_EQ(store->health().trouble, StoreTrouble::TakenOver);
  }
}

TEST(ExclusivePostgresStore, StopsWhenTheDatabaseHasLostCommits) {
  PostgresPlace place(kExclusive);
  const auto store = place.open();
  ASSERT_TRUE(put_at(*store, "k", "1"));
  ASSERT_TRUE(put_at(*store, "k", "2"));
  run_sql(fmt::format("UPDATE {}.lanes SET sequence = 1", place.options().schema));
  end_lock_sessions();
  const auto committed = put_at(*store, "k", "3");
  ASSERT_FALSE(committed);
  EXPECT_NE(committed.error().message.find("lost commits"), std::string::npos) << committed.error().message;
  EXPECT_EQ(store->health().trouble, StoreTrouble::TakenOver);
}

// -- Failures

class BrokenConnections : public ::testing::Test {
 protected:
  Proxy proxy_{PostgresServer::shared().socket_path()};
  PostgresPlace place_{{.url = PostgresServer::url_at(proxy_.folder())}};
  std::unique_ptr<Store> store_ = place_.open();

  static Batch counting() {
    Batch batch;
    batch.add("n", 1);
    return batch;
  }
};

TEST_F(BrokenConnections, DoNotMatterBetweenCommits) {
  ASSERT_TRUE(put_at(*store_, "k", "1"));
  end_lock_sessions();
  EXPECT_EQ(put_at(*store_, "k", "2").value(), (CommitSequence{2}));
  EXPECT_EQ(got(*store_, "k"), "2");
}

TEST_F(BrokenConnections, BeforeACommitRepeatIt) {
  ASSERT_TRUE(store_->commit(counting()));
  proxy_.cut(Proxy::Cut::BeforeCommit);
  EXPECT_EQ(store_->commit(counting()).value(), (CommitSequence{2}));
  EXPECT_EQ(proxy_.cuts(), 1);
  EXPECT_EQ(got(*store_, "n"), encode_counter(2));
}

TEST_F(BrokenConnections, AfterACommitDoNotRepeatIt) {
  ASSERT_TRUE(store_->commit(counting()));
  proxy_.cut(Proxy::Cut::AfterCommit);
  EXPECT_EQ(store_->commit(counting()).value(), (CommitSequence{2}));
  EXPECT_EQ(proxy_.cuts(), 1);
  EXPECT_EQ(store_->last_commit(), (CommitSequence{2}));
  EXPECT_EQ(got(*store_, "n"), encode_counter(2));
}

// Another process that starts removes rows of writers that were not seen for a day.
TEST_F(BrokenConnections, AreNotGuessedAboutWhenTheRowOfTheWriterIsGone) {
  ASSERT_TRUE(store_->commit(counting()));
  const auto& schema = place_.options().schema;
  run_sql(fmt::format("CREATE FUNCTION {0}.forget() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$",
                      schema));
  run_sql(
      fmt::format("CREATE TRIGGER forget BEFORE INSERT OR UPDATE ON {0}.writers FOR EACH ROW "
                  "EXECUTE FUNCTION {0}.forget()",
                  schema));
  run_sql(fmt::format("DELETE FROM {}.writers", schema));
  proxy_.cut(Proxy::Cut::AfterCommit);
  EXPECT_FALSE(store_->commit(counting()));
  EXPECT_EQ(store_->health().trouble, StoreTrouble::TakenOver) << store_->health().cause;
  EXPECT_FALSE(store_->recover());
  store_.reset();
  EXPECT_EQ(got(*place_.open(), "n"), encode_counter(2)) << "not applied again";
}

TEST_F(BrokenConnections, LeaveTheOutcomeToRecover) {
  for (const auto cut : {Proxy::Cut::BeforeCommit, Proxy::Cut::AfterCommit}) {
    const auto before = store_->commit(counting()).value();
    proxy_.refuse_after_cut(true);
    proxy_.cut(cut);
    const auto committed = store_->commit(counting());
    ASSERT_FALSE(committed);
    EXPECT_EQ(committed.error().code, ErrorCode::Storage);
    EXPECT_EQ(store_->health().trouble, StoreTrouble::Unreachable);
    EXPECT_FALSE(store_->get("n")) << "no reader may see what may not have happened";
    EXPECT_FALSE(store_->commit(counting()));
    EXPECT_FALSE(store_->recover());
    EXPECT_EQ(store_->last_commit(), before);

    proxy_.refuse_after_cut(false);
    const auto recovered = store_->recover();
    ASSERT_TRUE(recovered) << recovered.error().message;
    const auto happened = cut == Proxy::Cut::AfterCommit ? 1U : 0U;
    EXPECT_EQ(store_->last_commit().value, before.value + happened);
    EXPECT_EQ(got(*store_, "n"), encode_counter(static_cast<std::int64_t>(before.value + happened)));
    EXPECT_EQ(store_->health().trouble, StoreTrouble::None);
  }
}

TEST_F(BrokenConnections, KeepNoLaneFromOthersWhenOnlyAPartOfACommitArrives) {
  auto options = place_.options();
  options.sharing = PostgresSharing::Shared;
  options.lock_patience = std::chrono::milliseconds(300);
  store_.reset();
  const auto stuck = open_postgres_store(options).value();
  options.url = PostgresServer::shared().url();
  const auto other = open_postgres_store(options).value();
  proxy_.cut(Proxy::Cut::InCommit);
  std::jthread committing([&] { EXPECT_TRUE(stuck->commit(counting())); });
  EXPECT_TRUE(eventually([&] { return proxy_.cuts() == 1; }));
  EXPECT_TRUE(eventually([&] { return put_at(*other, "k", "1").ok(); }));
  committing.join();
  EXPECT_EQ(got(*other, "n"), encode_counter(1));
}

TEST_F(BrokenConnections, ThatAreLostWithoutAWordSayNothingAboutTheServer) {
  store_.reset();
  auto options = place_.options();
  options.sharing = PostgresSharing::Shared;
  store_ = open_postgres_store(options).value();
  ASSERT_TRUE(put_at(*store_, "k", "1"));
  EXPECT_EQ(got(*store_, "k"), "1");
  const auto clients = proxy_.clients();
  proxy_.forget_connections();
  EXPECT_TRUE(eventually([&] {
    EXPECT_EQ(store_->health().trouble, StoreTrouble::None) << store_->health().cause;
    return proxy_.clients() > clients;
  }));
  EXPECT_EQ(got(*store_, "k"), "1");
  EXPECT_EQ(put_at(*store_, "k", "2").value(), (CommitSequence{2}));
  EXPECT_EQ(store_->health().trouble, StoreTrouble::None) << store_->health().cause;
}

TEST_F(BrokenConnections, DoNotLastAfterTheEnd) {
  ASSERT_TRUE(put_at(*store_, "k", "1"));
  EXPECT_EQ(got(*store_, "k"), "1");
  proxy_.hold(true);
  store_.reset();  // within seconds, although nobody answers
}

TEST_F(SharedStores, TakeNoAnswerFromAServerThatIsBehind) {
  ASSERT_TRUE(put_at(*a_, "k", "1"));
  ASSERT_TRUE(put_at(*a_, "k", "2"));
  EXPECT_EQ(got(*a_, "k"), "2");
  const auto snapshot = a_->snapshot();
  run_sql(fmt::format("UPDATE {}.lanes SET sequence = 1", place_.options().schema));
  EXPECT_FALSE(a_->get("k"));
  EXPECT_FALSE(a_->get_all({"k", "l"}));
  EXPECT_FALSE(a_->snapshot()->get("k"));
}

TEST(PostgresStore, ComesBackWhenTheServerDoes) {
  auto& server = PostgresServer::shared();
  PostgresPlace place(kExclusive);
  const auto store = place.open();
  ASSERT_TRUE(put_at(*store, "k", "1"));
  const auto snapshot = store->snapshot();
  server.stop();
  const auto read = store->get("k");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::Storage);
  EXPECT_FALSE(snapshot->get("k"));
  EXPECT_FALSE(store->snapshot()->cursor({}, Direction::Forward)->status());
  // Also when nobody commits.
  EXPECT_TRUE(eventually([&] { return store->health().trouble == StoreTrouble::Unreachable; }));
  EXPECT_FALSE(place.try_open());

  server.start();
  EXPECT_TRUE(eventually([&] { return store->health().trouble == StoreTrouble::None; }));
  EXPECT_EQ(got(*store, "k"), "1");
  EXPECT_EQ(put_at(*store, "k", "2").value(), (CommitSequence{2}));

  server.stop();
  EXPECT_FALSE(put_at(*store, "k", "3"));
  EXPECT_EQ(store->health().trouble, StoreTrouble::Unreachable);
  server.start();
  ASSERT_TRUE(store->recover());
  EXPECT_EQ(put_at(*store, "k", "3").value(), (CommitSequence{3}));
}

TEST(PostgresStore, BoundsItsConnections) {
  auto options = kExclusive;
  options.connections = 3;
  PostgresPlace place(options);
  const auto store = place.open();
  ASSERT_TRUE(put_at(*store, "k", "1"));
  std::vector<std::unique_ptr<Snapshot>> held;
  for (int i = 0; i < 2; ++i) held.push_back(store->snapshot());
  for (const auto& snapshot : held) EXPECT_TRUE(snapshot->get("k"));
  const auto refused = store->snapshot()->get("k");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "all 3 connections to PostgreSQL are in use");
  EXPECT_EQ(got(*store, "k"), "1") << "one is kept for those who hold a snapshot";
  EXPECT_TRUE(put_at(*store, "k", "2"));
  held.clear();
  EXPECT_TRUE(store->snapshot()->get("k"));
}

// A role that the store's tables can be used by.
void make_role(const std::string& name, const std::string& words) {
  run_sql(fmt::format("CREATE ROLE {} LOGIN {}", name, words));
  run_sql(fmt::format("GRANT ALL ON DATABASE postgres TO {}", name));
}

PostgresOptions options_of_role(const std::string& name) {
  PostgresOptions options = kShared;
  options.url = PostgresServer::shared().url();
  options.url.replace(options.url.find("stator@"), 7, name + "@");
  return options;
}

TEST(PostgresStore, IsNotUnreachableBecauseThereAreTooManyConnections) {
  make_role("few", "CONNECTION LIMIT 1");
  PostgresPlace place(options_of_role("few"));
  const auto store = place.open();
  ASSERT_TRUE(put_at(*store, "k", "1"));
  EXPECT_EQ(store->get("k").error().code, ErrorCode::Busy);
  EXPECT_EQ(store->health().trouble, StoreTrouble::None) << store->health().cause;
  EXPECT_TRUE(put_at(*store, "k", "2"));
  run_sql("ALTER ROLE few CONNECTION LIMIT 2");
  EXPECT_EQ(got(*store, "k"), "2");
}

TEST(PostgresStore, KeepsAConnectionForReadersFromTheStart) {
  make_role("pair", "CONNECTION LIMIT 2");
  PostgresPlace place(options_of_role("pair"));
  const auto store = place.open();
  run_sql("ALTER ROLE pair CONNECTION LIMIT 0");
  EXPECT_EQ(got(*store, "k"), "(missing)");
}

TEST(PostgresStore, DoesNotUseWhatARoleHasInsteadOfPostgresqlsDefaults) {
  make_role("impatient", "");
  run_sql("ALTER ROLE impatient SET statement_timeout = '100ms'");
  run_sql("ALTER ROLE impatient SET default_transaction_isolation = 'serializable'");
  PostgresPlace place(options_of_role("impatient"));
  const auto store = place.open();
  ASSERT_TRUE(store);
  const auto other = Connection::open(Libpq::load().value(), {.url = PostgresServer::shared().url()}).value();
  other->add_once("BEGIN");
  other->add_once(fmt::format("LOCK TABLE {}.entries IN EXCLUSIVE MODE", place.options().schema));
  ASSERT_TRUE(other->run());
  std::jthread committing([&] {
    const auto committed = put_at(*store, "k", "1");
    EXPECT_TRUE(committed) << committed.error().message;
  });
  const auto waits_for_long = [&] {
    other->add_once(
        "SELECT count(*) FROM pg_locks WHERE NOT granted AND waitstart < clock_timestamp() - interval '0.3 s'");
    return other->run().value()[0].integer(0, 0) > 0;
  };
  EXPECT_TRUE(eventually(waits_for_long));
  other->add_once("ROLLBACK");
  ASSERT_TRUE(other->run());
  committing.join();
  EXPECT_EQ(store->health().trouble, StoreTrouble::None) << store->health().cause;

  const auto session =
      Connection::open(Libpq::load().value(), {.url = place.options().url, .settings = {kSessionSettings}}).value();
  session->add_once("SHOW transaction_isolation");
  EXPECT_EQ(session->run().value()[0].bytes(0, 0), "read committed");
}

// -- The tables

TEST(PostgresStore, CountsWhatItAsksOfTheServer) {
  PostgresPlace place(kShared);
  const auto store = place.open();
  const auto counts = [&](std::string_view kind) {
    for (const auto& each : store->statistics().statements) {
      if (each.kind == kind) return each;
    }
    return StatementStatistics{};
  };
  const auto read = counts("read").round_trips;
  ASSERT_TRUE(put_at(*store, "a", "1"));
  ASSERT_TRUE(store->get_all({"a", "b"}));
  EXPECT_EQ(counts("read").round_trips, read + 1);
  EXPECT_EQ(counts("lock").round_trips, 1U) << "a commit is two round trips";
  EXPECT_EQ(counts("write").round_trips, 1U);
  EXPECT_EQ(counts("write").rows, 2U) << "an entry, and who wrote it";
  EXPECT_GE(counts("write").statements, 3U);
  EXPECT_EQ(entries(*store->snapshot()).size(), 1U);
  EXPECT_EQ(counts("snapshot").round_trips, 1U);
  EXPECT_EQ(counts("page").rows, 1U);
  EXPECT_GT(counts("page").time.count(), 0);
}

TEST_F(SharedStores, CountConflictsAndWaitsForLocks) {
  Batch late;
  late.depends_on(Bytes("a"));
  late.read_at(b_->read_point());
  late.put("b", "1");
  ASSERT_TRUE(put_at(*a_, "a", "1"));
  EXPECT_EQ(b_->commit(std::move(late)).error().code, ErrorCode::Conflict);
  EXPECT_EQ(b_->statistics().conflicts, 1U);
  // Somebody else has the lane's row for a while.
  const auto other = Connection::open(Libpq::load().value(), {.url = PostgresServer::shared().url()}).value();
  other->add_once("BEGIN");
  other->add_once(fmt::format("SELECT FROM {}.lanes FOR UPDATE", place_.options().schema));
  ASSERT_TRUE(other->run());
  const auto before = a_->statistics().lock_wait;
  std::jthread committing([this] { EXPECT_TRUE(put_at(*a_, "c", "1")); });
  const auto waits = [&] {
    other->add_once("SELECT count(*) FROM pg_locks WHERE NOT granted");
    return other->run().value()[0].integer(0, 0) > 0;
  };
  EXPECT_TRUE(eventually(waits));
  other->add_once("SELECT pg_sleep(0.02)");
  other->add_once("ROLLBACK");
  ASSERT_TRUE(other->run());
  committing.join();
  EXPECT_GE(a_->statistics().lock_wait - before, std::chrono::milliseconds(20));
}

TEST(PostgresStore, TellsTheStateOfItsServerAndItsSizeWithoutAskingIt) {
  PostgresPlace place(kShared);
  const auto store = place.open();
  const auto server = store->server();
  ASSERT_TRUE(server);
  EXPECT_TRUE(server->reachable);
  EXPECT_TRUE(server->host.starts_with('/')) << server->host << " is the folder of a socket";
  EXPECT_GE(server->connections, 1U);
  EXPECT_EQ(server->most_connections, 25U);
  EXPECT_TRUE(eventually([&] { return store->server()->round_trip.count() > 0; }));
  const auto before = store->statistics();
  ASSERT_TRUE(put_at(*store, "a", Bytes(5000, 'v')));
  EXPECT_GE(store->statistics().size_bytes, before.size_bytes + 5000);
}

TEST(PostgresSchema, IsRefusedWhenANewerStatorMadeIt) {
  PostgresPlace place(kExclusive);
  place.open().reset();
  set_format(place, kSchemaFormat + 1, kSchemaFormat + 1);
  const auto opened = place.try_open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().message,
            fmt::format("the store has format {0}, for Stators that know format {0}, and this one knows format {1}: "
                        "use a newer Stator",
                        kSchemaFormat + 1, kSchemaFormat));
}

TEST(PostgresSchema, IsUsedBesideNewerStatorsUntilTheUpgradeIsFinished) {
  PostgresPlace place(kShared);
  const auto running = place.open();
  set_format(place, kSchemaFormat + 1, kSchemaFormat);
  EXPECT_TRUE(put_at(*place.open(), "a", "1")) << "an older program may still start";
  EXPECT_EQ(got(*running, "a"), "1");

  // The same as `stator store upgrade` of the newer version.
  const auto connection = Connection::open(Libpq::load().value(), {.url = PostgresServer::shared().url()}).value();
  EXPECT_EQ(finish_upgrade(*connection, place.options().schema).value().readable_by, kSchemaFormat);
  EXPECT_FALSE(put_at(*running, "b", "1")) << "nothing is written after the upgrade";
  EXPECT_FALSE(running->snapshot_of_epoch());
  EXPECT_EQ(running->health().trouble, StoreTrouble::Upgraded);
  EXPECT_NE(got(*running, "a").find("use a newer Stator"), std::string::npos);
  EXPECT_FALSE(place.try_open());
}

TEST(PostgresSchema, IsWatchedByThoseWhoDoNothing) {
  PostgresPlace place(kExclusive);
  const auto store = place.open();
  set_format(place, kSchemaFormat + 2, kSchemaFormat + 2);
  EXPECT_TRUE(eventually([&] { return store->health().trouble == StoreTrouble::Upgraded; }));
}

TEST(PostgresSchema, WithoutTheColumnReadableByIsForItsOwnFormat) {
  PostgresPlace place(kExclusive);
  place.open().reset();
  run_sql(fmt::format("ALTER TABLE {}.store DROP COLUMN readable_by", place.options().schema));
  EXPECT_TRUE(place.open());
  const auto upgraded = upgrade_postgres_schema(place.options());
  ASSERT_TRUE(upgraded);
  EXPECT_EQ(upgraded->format, upgraded->was_for) << "there is nothing to do";
}

TEST(PostgresSchema, IsNotUpdatedWhileAnOlderProgramHasItOpen) {
  PostgresPlace place(kExclusive);
  const auto& schema = place.options().schema;
  const auto format_of = [&] {
    const auto connection = Connection::open(Libpq::load().value(), {.url = PostgresServer::shared().url()}).value();
    connection->add(format_statement(schema));
    return read_format(connection->run().value()[0]).value().format;
  };
  const auto make_older = [&] {
    run_sql(fmt::format("UPDATE {0}.store SET format = 1, readable_by = 1", schema));
    run_sql(fmt::format("ALTER TABLE {}.lanes DROP COLUMN epoch", schema));
  };
  place.open().reset();
  make_older();
  {
    // The lock that a program of that format holds.
    const auto older = Connection::open(Libpq::load().value(), {.url = PostgresServer::shared().url()}).value();
    older->add_once(
        fmt::format("SELECT pg_advisory_lock((1400136050::int8 << 32) | '{}.lanes'::regclass::oid::int8)", schema));
    ASSERT_TRUE(older->run());
    const auto refused = place.try_open();
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("another Stator uses the store"), std::string::npos);
    EXPECT_EQ(format_of(), 1);
  }
  EXPECT_TRUE(place.open());
  EXPECT_EQ(format_of(), 2);
}

TEST(PostgresSchema, SaysWhichFormatsGoTogether) {
  EXPECT_EQ(objection_to({.format = 5, .readable_by = 5}, 5), "");
  EXPECT_EQ(objection_to({.format = 6, .readable_by = 5}, 5), "");
  EXPECT_NE(objection_to({.format = 6, .readable_by = 6}, 5), "");
  EXPECT_NE(objection_to({.format = 7, .readable_by = 6}, 5), "");
  EXPECT_NE(objection_to({.format = 4, .readable_by = 4}, 5).find("stator store upgrade"), std::string::npos);
}

TEST(PostgresSchema, TellsWhatToDoWhenTheRoleMayNotMakeIt) {
  run_sql("CREATE ROLE weak LOGIN");
  PostgresPlace place(kExclusive);
  auto options = place.options();
  const std::string owner = "stator@";
  options.url.replace(options.url.find(owner), owner.size(), "weak@");
  auto opened = open_postgres_store(options);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::Usage);
  EXPECT_NE(opened.error().message.find("run `stator store init`"), std::string::npos) << opened.error().message;

  ASSERT_TRUE(make_postgres_schema(place.options()));
  ASSERT_TRUE(make_postgres_schema(place.options())) << "a second time changes nothing";
  opened = open_postgres_store(options);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("grant it USAGE"), std::string::npos) << opened.error().message;
  run_sql(fmt::format("GRANT USAGE ON SCHEMA {} TO weak", options.schema));
  run_sql(fmt::format("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {} TO weak", options.schema));
  opened = open_postgres_store(options);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_TRUE(put_at(**opened, "k", "1"));
}

TEST(PostgresSchema, IsTheOneThatIsPrinted) {
  const auto script = postgres_schema_script("printed");
  EXPECT_TRUE(script.starts_with("BEGIN;\nCREATE SCHEMA IF NOT EXISTS printed;\n"));
  for (const auto& statement : schema_statements("printed", 1)) run_sql(statement);
  auto options = kExclusive;
  options.url = PostgresServer::shared().url();
  options.schema = "printed";
  EXPECT_TRUE(open_postgres_store(options));
}

// A plan that sorts or reads everything would be right as well, and slow.
TEST(PostgresStore, ReadsByTheIndex) {
  PostgresPlace place(kExclusive);
  const auto store = place.open();
  const auto connection = Connection::open(Libpq::load().value(), {.url = place.options().url, .settings = {}}).value();
  const Statements statements(place.options().schema);
  connection->add_once(kPlanSettings);
  struct Case {
    const Statement& statement;
    std::string values;
  };
  const std::string range = "'1', '1', '1', '1'", keys = "'{}', '{}', '{}'";
  for (const auto& [statement, values] : {Case{statements.get, "0, '1', '1'"},
                                          {statements.pages.forward, "0, " + range + ", '1', '1'"},
                                          {statements.pages.backward, "0, " + range + ", '1', '1'"},
                                          {statements.pages.forward_to_end, "0, " + range},
                                          {statements.pages.backward_from_end, "0, " + range},
                                          {statements.merged_pages.forward, "'{0}', " + range + ", '1', '1'"},
                                          {statements.merged_pages.backward_from_end, "'{0}', " + range},
                                          {statements.erase_range, "'{0}', " + range},
                                          {statements.get_all, "'{0}', " + keys},
                                          {statements.counters, keys},
                                          {statements.keys_changed, keys + ", '{}', '{}'"},
                                          {statements.erase_keys, keys}}) {
    SCOPED_TRACE(statement.name);
    connection->add_once(fmt::format("PREPARE explained_{} AS {}", statement.name, statement.sql));
    connection->add_once(fmt::format("EXPLAIN EXECUTE explained_{}({})", statement.name, values));
    const auto rows = connection->run();
    ASSERT_TRUE(rows) << rows.error().message;
    std::string plan;
    for (int row = 0; row < rows->back().count(); ++row) plan += Bytes(rows->back().bytes(row, 0)) + "\n";
    EXPECT_NE(plan.find("entries_pkey"), std::string::npos) << plan;
    EXPECT_NE(plan.find("AND (head "), std::string::npos) << plan;
    EXPECT_EQ(plan.find("Seq Scan"), std::string::npos) << plan;
    // Pages of several lanes are sorted, and each of them comes from its index.
    if (!statement.name.starts_with("merged")) {
      EXPECT_EQ(plan.find("->  Sort "), std::string::npos) << plan;
    }
  }
}

TEST(PostgresUrl, IsShownWithoutItsPassword) {
  EXPECT_EQ(described_postgres_url("postgres://me:s3cret@db1,db2:5433/app?sslmode=require&password=x"),
            "postgres://db1,db2:5433/app");
  EXPECT_EQ(described_postgres_url("postgres:///app"), "postgres:///app");
  EXPECT_EQ(described_postgres_url("postgres://me:p@ss@db/app"), "postgres://db/app");
  EXPECT_EQ(described_postgres_url("postgres://stator:se?cret@db1/stator"), "postgres://db1/stator");
  EXPECT_EQ(described_postgres_url("postgres://me@[::1]:5433/app?host=db1"), "postgres://db1:5433/app");
  EXPECT_EQ(described_postgres_url("postgres://me@[::1]:5433/app"), "postgres://[::1]:5433/app");
  EXPECT_EQ(described_postgres_url("postgres://me@/app?host=/run/sockets"), "postgres:///app");
  // libpq takes them for a host, a port and the name of a database.
  for (const auto* url : {"postgres://stator:se/cret@db1/stator", "postgres://stator:12/cret@db1/stator",
                          "postgres://stator:s#cret/x@db1", "postgres://me:s3%zzcret@db/app", "postgres://a?cret"}) {
    EXPECT_EQ(described_postgres_url(url), "postgres://...") << url;
  }
  EXPECT_EQ(described_postgres_url("mysql://me:s3cret@db"), "mysql://...");
  EXPECT_EQ(described_postgres_url("./data"), "./data");
  EXPECT_EQ(described_postgres_url("host=db password=s3cret"), "...");
  EXPECT_TRUE(is_postgres_url("postgresql://db"));
  EXPECT_FALSE(is_postgres_url("./data"));
}

TEST(PostgresUrl, HasStarsInThePlaceOfPasswords) {
  struct Case {
    std::string_view url, shown;
  };
  for (const auto& [url, shown] :
       {Case{"postgres://u:s3cretpw@h/x?password=s3cretpw", "postgres://u:***@h/x?password=***"},
        Case{"postgres://u:s3cretpw@h1:5432,h2/x?sslmode=require&sslpassword=s3cretpw&connect_timeout=3",
             "postgres://u:***@h1:5432,h2/x?sslmode=require&sslpassword=***&connect_timeout=3"},
        Case{"postgres://u:s3@cretpw@h/x", "postgres://u:***@h/x"},
        Case{"postgres://u:s3?cretpw@h/x", "postgres://u:***@h/x"},
        Case{"postgres://h/x?p%61ssword=s3cretpw", "postgres://h/x?p%61ssword=***"},
        Case{"postgres://h?password=s3@cretpw", "postgres://h?password=***"},
        Case{"postgres://u:s3/cretpw@h/x", "postgres://..."},
        Case{"postgres://u@h/x?sslmode=require", "postgres://u@h/x?sslmode=require"},
        Case{"postgres:///x", "postgres:///x"}, Case{"host=h password=s3cretpw", "..."}}) {
    EXPECT_EQ(postgres_url_without_passwords(url), shown) << url;
  }
}

TEST(PostgresStore, TellsWhatIsWrongWithAnAddress) {
  const auto wrong = open_postgres_store({.url = "postgres://db/app?colour=red"});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::Usage);
  EXPECT_EQ(wrong.error().message, "the address of the store cannot be read: invalid URI query parameter: ...");
  for (const auto* url :
       {"postgres://me:s3%zzcret@db/app", "postgres://me:s3cret@[db/app", "postgres://db:s3cret@x:y:z",
        "postgres://db/app?password=s3cret&s3cret", "postgres://me:s3cret/x@db/app", "postgres://me:s@s3cret@db/app"}) {
    const auto repeated = open_postgres_store({.url = url});
    ASSERT_FALSE(repeated);
    EXPECT_EQ(repeated.error().message.find("cret"), std::string::npos) << repeated.error().message;
  }
  const auto nobody = open_postgres_store({.url = "postgres://stator@/app?host=/nowhere"});
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, ErrorCode::Storage);
  EXPECT_NE(nobody.error().message.find("cannot connect to PostgreSQL"), std::string::npos) << nobody.error().message;
}

}  // namespace
}  // namespace stator::storage::postgres

#endif
