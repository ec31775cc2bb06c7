// Engines of several processes on one store.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <atomic>
#include <future>
#include <semaphore>
#include <thread>

#include "stator/base/test_eventually.h"
#include "stator/engine/engine.h"
#include "stator/engine/expiry/ttl_sweeper.h"
#include "stator/engine/test_postgres.h"
#include "stator/engine/test_support.h"
#ifdef STATOR_TEST_POSTGRES
#include "stator/storage/postgres/connection.h"

namespace stator::engine {
namespace {

using namespace testing;
using namespace std::chrono_literals;
using value::Item;

// One of the processes.
struct Process {
  Process(const std::string& schema, std::uint32_t lanes, const Clock& clock) {
    store = storage::open_postgres_store(postgres_options(schema, lanes)).value();
    engine = Engine::open(*store, clock, random).value();
  }

  template <typename T, typename Start>
  Result<T> wait(Start start) {
    auto promise = std::make_shared<std::promise<Result<T>>>();
    auto answer = promise->get_future();
    start([promise](Result<T> result) { promise->set_value(std::move(result)); });
    return answer.get();
  }
  Result<TablePtr> create(Table table) {
    return wait<TablePtr>([&](auto done) { engine->create_table(std::move(table), std::move(done)); });
  }
  Result<TablePtr> alter(std::string name, std::function<Result<Table>(Table)> change) {
    return wait<TablePtr>(
        [&](auto done) { engine->update_table(std::move(name), std::move(change), std::move(done)); });
  }
  Result<TablePtr> remove(std::string name) {
    return wait<TablePtr>([&](auto done) { engine->delete_table(std::move(name), std::move(done)); });
  }
  Result<WriteOutcome> put(TablePtr table, Item item) {
    WriteAction action;
    action.kind = WriteAction::Kind::Put;
    action.table = std::move(table);
    action.item = std::move(item);
    WriteRequest request;
    request.actions.push_back(std::move(action));
    return wait<WriteOutcome>([&](auto done) { engine->write(std::move(request), std::move(done)); });
  }

  Random random = Random::from_system();
  std::unique_ptr<storage::Store> store;
  std::unique_ptr<Engine> engine;
};

// A transaction of somebody else that has the row of a lane.
class HeldLane {
 public:
  HeldLane(const std::string& schema, std::uint32_t lane)
      : connection_(storage::postgres::Connection::open(storage::postgres::Libpq::load().value(),
                                                        {.url = storage::testing::PostgresServer::shared().url()})
                        .value()) {
    connection_->add_once("BEGIN");
    connection_->add_once(fmt::format("SELECT FROM {}.lanes WHERE lane = {} FOR UPDATE", schema, lane));
    EXPECT_TRUE(connection_->run());
  }
  void release() const {
    connection_->add_once("ROLLBACK");
    EXPECT_TRUE(connection_->run());
  }

 private:
  const std::unique_ptr<storage::postgres::Connection> connection_;
};

// Keeps the thread of a committer until it is told to go on, as a process that is paused.
class Pause final : public Work {
 public:
  void execute(PendingCommit& /*commit*/) override {
    reached.release();
    ended.acquire();
  }
  void finish(const Result<storage::CommitSequence>& /*committed*/) override {}

  static inline std::binary_semaphore reached{0}, ended{0};
};

class SharingTest : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  SharingTest()
      : schema(fmt::format("sharing_{}", ++schemas)), a(schema, GetParam(), clock), b(schema, GetParam(), clock) {}

  static inline int schemas = 0;
  const std::string schema;
  ManualClock clock;
  Process a, b;
};

TEST_P(SharingTest, ATableOfOneProcessIsThereForTheOther) {
  const auto made_by_a = a.create(table("T", keys({"pk:S"}))).value();
  EXPECT_FALSE(b.engine->get(*made_by_a, {{"pk", S("x")}}).value().exists()) << "it has caught up by itself";
  const auto found = b.engine->find_table("T").value();
  ASSERT_TRUE(b.put(found, {{"pk", S("x")}, {"n", N(1)}}));
  EXPECT_TRUE(a.engine->get(*made_by_a, {{"pk", S("x")}}).value().exists());
}

TEST_P(SharingTest, ATableOfOneProcessIsChangedAndDeletedByTheOther) {
  ASSERT_TRUE(a.create(table("T", keys({"pk:S"}))));
  const auto changed = b.alter("T", [](Table t) -> Result<Table> {
    t.deletion_protection = true;
    return t;
  });
  ASSERT_TRUE(changed) << changed.error().message;
  EXPECT_EQ(a.remove("T").error().code, ErrorCode::Validation) << "protected by the other one";
  EXPECT_EQ(b.create(table("T", keys({"pk:S"}))).error().code, ErrorCode::ResourceInUse);
}

TEST_P(SharingTest, ATextOfTheServerIsThereForBoth) {
  EXPECT_EQ(b.engine->server_text("keys").value(), std::nullopt);
  const auto append = [](std::string more) {
    return [more](const std::optional<std::string>& text) -> Result<std::string> { return text.value_or("") + more; };
  };
  ASSERT_TRUE(a.create(table("T", keys({"pk:S"})))) << "b is behind";
  ASSERT_TRUE(a.engine->change_server_text("keys", append("1")));
  ASSERT_TRUE(b.engine->change_server_text("keys", append("2")));
  EXPECT_EQ(a.engine->server_text("keys").value(), "12");
  EXPECT_EQ(
      a.engine
          ->change_server_text("keys", [](const auto&) -> Result<std::string> { return Error{ErrorCode::Usage, "no"}; })
          .error()
          .code,
      ErrorCode::Usage);
  EXPECT_EQ(b.engine->server_text("keys").value(), "12");
}

TEST_P(SharingTest, AWriteThatWasPlannedBeforeTheTableWentDoesNotHappen) {
  ASSERT_TRUE(a.create(table("T", keys({"pk:S"}))));
  ASSERT_TRUE(b.engine->catch_up());
  const auto old = b.engine->find_table("T").value();
  ASSERT_TRUE(a.remove("T"));
  ASSERT_TRUE(a.create(table("T", keys({"pk:S"}))));
  EXPECT_EQ(b.put(old, {{"pk", S("x")}}).error().code, ErrorCode::ResourceNotFound);
  const auto next = b.engine->find_table("T").value();
  EXPECT_NE(next->id, old->id) << "the commit has caught up";
  EXPECT_EQ(b.engine->get(*old, {{"pk", S("x")}}).error().code, ErrorCode::Outdated);
  EXPECT_FALSE(b.engine->get(*next, {{"pk", S("x")}}).value().exists());
}

TEST_P(SharingTest, AWriteKeepsAnIndexThatAnotherProcessHasJustAdded) {
  ASSERT_TRUE(a.create(table("T", keys({"pk:S"}))));
  ASSERT_TRUE(b.engine->catch_up());
  const auto old = b.engine->find_table("T").value();
  ASSERT_TRUE(a.alter("T", [](Table t) -> Result<Table> {
    add_index(t, "gsi", IndexKind::Global, keys({"g:S"}));
    return t;
  }));
  ASSERT_TRUE(b.put(old, {{"pk", S("x")}, {"g", S("y")}}));
  const auto now = a.engine->find_table("T").value();
  EXPECT_EQ(a.engine->statistics(now->id, now->indexes[0].id).value().items, 1);
}

TEST_P(SharingTest, ATableThatDidNotChangeStaysTheSameObject) {
  ASSERT_TRUE(a.create(table("T", keys({"pk:S"}))));
  ASSERT_TRUE(b.engine->catch_up());
  const auto before = b.engine->find_table("T").value();
  ASSERT_TRUE(a.create(table("Other", keys({"pk:S"}))));
  ASSERT_TRUE(b.engine->catch_up());
  EXPECT_EQ(b.engine->find_table("T").value(), before);
  EXPECT_TRUE(b.engine->find_table("Other"));
}

TEST_P(SharingTest, CountersOfBothProcessesAddUp) {
  const auto table_a = a.create(table("T", keys({"pk:S"}))).value();
  ASSERT_TRUE(b.engine->catch_up());
  const auto table_b = b.engine->find_table("T").value();
  std::jthread other([&] {
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(b.put(table_b, {{"pk", S(fmt::format("b{}", i))}}));
  });
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(a.put(table_a, {{"pk", S(fmt::format("a{}", i))}}));
  other.join();
  EXPECT_EQ(a.engine->statistics(table_a->id, kBaseIndex).value().items, 200);
}

TEST_P(SharingTest, OneProcessAtATimeDoesTheBackgroundWork) {
  EXPECT_TRUE(a.engine->lease().hold());
  EXPECT_FALSE(b.engine->lease().hold());
  clock.advance(Lease::kDuration / 2 + 1s);
  EXPECT_TRUE(a.engine->lease().hold()) << "renewed";
  clock.advance(Lease::kDuration / 2 + 1s);
  EXPECT_FALSE(b.engine->lease().hold());
  a.engine.reset();
  clock.advance(Lease::kDuration);
  EXPECT_TRUE(b.engine->lease().hold()) << "given back at the end";
}

TEST_P(SharingTest, AProcessThatWasPausedDoesNoBackgroundWorkWhenItWakesUp) {
  ASSERT_TRUE(a.engine->lease().hold());
  clock.advance(Lease::kDuration + 1s);  // a is paused
  ASSERT_TRUE(b.engine->lease().hold());
  // As it would go on: with the lease it had when it began.
  const auto made_by_a = a.create(table("T", keys({"pk:S"}))).value();
  ASSERT_TRUE(a.put(made_by_a, {{"pk", S("x")}}));
  WriteAction erase;
  erase.kind = WriteAction::Kind::Delete;
  erase.table = made_by_a;
  erase.item = {{"pk", S("x")}};
  WriteRequest request;
  request.actions.push_back(std::move(erase));
  request.lease = &a.engine->lease();
  const auto outcome = a.wait<WriteOutcome>([&](auto done) { a.engine->write(std::move(request), std::move(done)); });
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::Busy);
  EXPECT_TRUE(a.engine->get(*made_by_a, {{"pk", S("x")}}).value().exists());
  EXPECT_FALSE(a.engine->lease().hold());
}

// The database's clock was set back, as by a failover to another machine.
TEST_P(SharingTest, ALeaseThatNobodyRenewsEndsWhateverTimeItSays) {
  clock.advance(2h);
  ASSERT_TRUE(a.engine->lease().hold());
  clock.advance(-2h);
  EXPECT_FALSE(b.engine->lease().hold());
  clock.advance(Lease::kDuration - 1s);
  EXPECT_FALSE(b.engine->lease().hold());
  clock.advance(2s);
  EXPECT_TRUE(b.engine->lease().hold());
  EXPECT_FALSE(a.engine->lease().hold());
}

TEST_P(SharingTest, ALeaseIsRenewedByATimeThatWasSetBack) {
  clock.advance(2h);
  ASSERT_TRUE(a.engine->lease().hold());
  clock.advance(-2h);
  EXPECT_FALSE(b.engine->lease().hold());
  EXPECT_TRUE(a.engine->lease().hold());
  clock.advance(Lease::kDuration + 1s);  // a is paused
  EXPECT_TRUE(b.engine->lease().hold());
}

// A client asked a, which was paused, and then b.
TEST_P(SharingTest, AWriteThatWaitedInAPausedProcessDoesNotHappenLate) {
  const auto made_by_a = a.create(table("T", keys({"pk:S"}))).value();
  ASSERT_TRUE(b.engine->catch_up());
  // The first committer also has the first lane.
  Item counter;
  for (int i = 0; KeyPlacement().lane_of(item_key(*made_by_a, counter = {{"pk", S(fmt::format("{}", i))}}),
                                         GetParam()) > std::optional<std::uint32_t>(1);) {
    ++i;
  }
  const auto add_one = [&](Process& process) {
    auto request =
        change(process.engine->find_table("T").value(), counter, update("ADD n :one", expr::Values{{":one", N(1)}}));
    request.token = RequestToken{"once", 7};
    return request;
  };
  a.engine->submit(std::make_unique<Pause>());
  Pause::reached.acquire();
  std::promise<Result<WriteOutcome>> promise;
  auto late = promise.get_future();
  a.engine->write(add_one(a), [&](Result<WriteOutcome> outcome) { promise.set_value(std::move(outcome)); });
  const auto done = b.wait<WriteOutcome>([&](auto callback) { b.engine->write(add_one(b), std::move(callback)); });
  ASSERT_TRUE(done) << done.error().message;
  clock.advance(kRequestTokenLifetime + 1min);
  Pause::ended.release();
  const auto outcome = late.get();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::Busy);
  EXPECT_EQ(*b.engine->get(*made_by_a, counter).value().item().value()->find("n"), N(1));
}

TEST_P(SharingTest, AWriteClaimsTheMemoryOfItsItems) {
  const auto made_by_a = a.create(table("T", keys({"pk:S"}))).value();
  const auto write = [&](MemoryBudget& budget) {
    auto request = put(made_by_a, {{"pk", S("x")}, {"d", S(std::string(300 << 10, 'd'))}});
    request.memory = MemoryClaim(&budget, MemoryPart::Values);
    return a.wait<WriteOutcome>([&](auto done) { a.engine->write(std::move(request), std::move(done)); });
  };
  MemoryBudget small(200 << 10), enough(4 << 20);
  const auto refused = write(small);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Busy);
  EXPECT_TRUE(write(enough));
  EXPECT_TRUE(eventually([&] { return enough.used() == 0; }));
}

TEST_P(SharingTest, AnotherProcessFinishesAnIndexWhoseBuilderIsGone) {
  ASSERT_TRUE(b.engine->lease().hold()) << "so that the index is not built where it is added";
  const auto made_by_a = a.create(table("T", keys({"pk:S"}))).value();
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(a.put(made_by_a, {{"pk", S(fmt::format("{}", i))}, {"g", S("y")}}));
  }
  ASSERT_TRUE(a.alter("T", [](Table t) -> Result<Table> {
    add_index(t, "gsi", IndexKind::Global, keys({"g:S"}));
    t.indexes.back().building = true;
    return t;
  }));
  a.engine->build_indexes(made_by_a->id);
  ASSERT_TRUE(b.engine->catch_up());
  ASSERT_TRUE(eventually([&] { return !b.engine->find_table("T").value()->is_building(); }));
  const auto built = b.engine->find_table("T").value();
  EXPECT_EQ(b.engine->statistics(built->id, built->indexes[0].id).value().items, 300);
}

// So many keys are in a range.
std::size_t keys_in(const storage::Store& store, const storage::KeyRange& range) {
  const auto now = store.snapshot_of_epoch().value();
  std::size_t keys = 0;
  for (const auto cursor = now.snapshot->cursor(range, storage::Direction::Forward); cursor->valid(); cursor->next()) {
    ++keys;
  }
  return keys;
}

TEST_P(SharingTest, WhatATableLeavesIsErasedLater) {
  ASSERT_TRUE(b.engine->lease().hold()) << "so that nothing is erased where the table is deleted";
  auto made = table("T", keys({"pk:S"}, {"sk:S"}));
  add_index(made, "gsi", IndexKind::Global, keys({"g:S"}));
  add_index(made, "lsi", IndexKind::Local, keys({"pk:S"}, {"g:S"}));
  made.ttl_attribute = "expires";
  const auto old = a.create(std::move(made)).value();
  for (int i = 0; i < 700; ++i) {
    ASSERT_TRUE(a.put(old, {{"pk", S(fmt::format("{}", i % 9))},
                            {"sk", S(fmt::format("{}", i))},
                            {"g", S("y")},
                            {"expires", N(4'000'000'000 + i)}}));
  }
  ASSERT_TRUE(a.alter("T", [](Table t) -> Result<Table> {
    t.indexes.erase(t.indexes.begin());
    return t;
  }));
  const auto left = [&] {
    return keys_in(*a.store, table_items(old->id)) + keys_in(*a.store, table_collection_sizes(old->id)) +
           keys_in(*a.store, table_expiries(old->id));
  };
  EXPECT_EQ(keys_in(*a.store, all_remains()), 1U);
  ASSERT_TRUE(a.remove("T"));
  EXPECT_EQ(keys_in(*a.store, all_remains()), 3U);
  EXPECT_EQ(left(), 3 * 700U + 9U + 700U) << "it is not in the commit";
  const auto next = a.create(table("T", keys({"pk:S"}))).value();
  EXPECT_FALSE(a.engine->get(*next, {{"pk", S("1")}}).value().exists());
  ASSERT_TRUE(a.put(next, {{"pk", S("1")}}));

  ASSERT_TRUE(b.engine->catch_up());
  EXPECT_TRUE(eventually([&] { return keys_in(*a.store, all_remains()) == 0; }));
  EXPECT_EQ(left(), 0U);
  EXPECT_EQ(keys_in(*a.store, table_items(next->id)), 1U);
}

TEST_P(SharingTest, AnotherProcessErasesWhatATableLeavesWhenTheFirstIsGone) {
  Process c(schema, GetParam(), clock);
  ASSERT_TRUE(c.engine->lease().hold()) << "so that nobody else erases";
  const auto old = a.create(table("T", keys({"pk:S"}))).value();
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(a.put(old, {{"pk", S(fmt::format("{}", i))}}));
  ASSERT_TRUE(a.remove("T"));
  clock.advance(Lease::kDuration + 1s);  // c is paused, and does not know that the table is gone
  ASSERT_TRUE(b.engine->catch_up());
  EXPECT_TRUE(eventually([&] { return keys_in(*b.store, all_remains()) == 0; }));
  EXPECT_EQ(keys_in(*b.store, table_items(old->id)), 0U);
}

// A commit that waits for a lane does not hold up those of other lanes, in its own process either.
TEST_P(SharingTest, WritesWaitOnlyForThoseOfTheirLane) {
  if (GetParam() == 1) return;
  const auto made_by_a = a.create(table("T", keys({"pk:S"}))).value();
  const auto lane_of = [&](const Item& item) { return KeyPlacement().lane_of(item_key(*made_by_a, item), GetParam()); };
  const Item slow{{"pk", S("slow")}};
  const HeldLane held(fmt::format("{}_{}", schema, GetParam()), *lane_of(slow));
  std::atomic<bool> waits = true;
  std::jthread waiting([&] {
    EXPECT_TRUE(a.put(made_by_a, slow));
    waits = false;
  });
  int written = 0;
  for (int i = 0; i < 40; ++i) {
    Item item{{"pk", S(fmt::format("{}", i))}};
    if (lane_of(item) == lane_of(slow)) continue;
    ASSERT_TRUE(a.put(made_by_a, std::move(item)));
    ++written;
  }
  EXPECT_GT(written, 10);
  EXPECT_TRUE(waits);
  held.release();
  waiting.join();
  EXPECT_EQ(b.engine->statistics(made_by_a->id, kBaseIndex).value().items, written + 1);
}

// Its actions have nothing to do with each other, so those of a lane do not wait for those of another.
TEST_P(SharingTest, ABatchIsWrittenLaneByLane) {
  if (GetParam() == 1) return;
  const auto in_table = a.create(table("T", keys({"pk:S"}))).value();
  ASSERT_TRUE(b.engine->catch_up());
  const auto item = [](int number, int n) { return Item{{"pk", S(fmt::format("{}", number))}, {"n", N(n)}}; };
  const auto lane_of = [&](int number) {
    return KeyPlacement().lane_of(item_key(*in_table, item(number, 0)), GetParam()).value();
  };
  constexpr int kItems = 25;
  for (int i = 0; i < kItems; ++i) ASSERT_TRUE(a.put(in_table, item(i, i)));
  const HeldLane held(fmt::format("{}_{}", schema, GetParam()), lane_of(0));
  WriteRequest request;
  request.atomic = false;
  for (int i = 0; i < kItems; ++i) request.actions.push_back(std::move(put(in_table, item(i, 100 + i)).actions[0]));
  std::promise<Result<WriteOutcome>> promise;
  auto answer = promise.get_future();
  a.engine->write(std::move(request), [&](Result<WriteOutcome> outcome) { promise.set_value(std::move(outcome)); });
  const auto value_of = [&](int number) { return *b.engine->get(*in_table, item(number, 0)).value().item().value(); };
  EXPECT_TRUE(eventually([&] {
    for (int i = 0; i < kItems; ++i) {
      if (lane_of(i) != lane_of(0) && value_of(i) != item(i, 100 + i)) return false;
    }
    return true;
  }));
  EXPECT_EQ(value_of(0), item(0, 0));
  held.release();
  const auto outcome = answer.get();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->written);
  ASSERT_EQ(outcome->actions.size(), static_cast<std::size_t>(kItems));
  for (int i = 0; i < kItems; ++i) {
    EXPECT_EQ(*outcome->actions[static_cast<std::size_t>(i)].before.item().value(), item(i, i)) << "in its place";
    EXPECT_EQ(value_of(i), item(i, 100 + i));
  }
}

// Transfers between accounts in all lanes, by both processes at once; auditors see every total whole.
TEST_P(SharingTest, TransactionsOverSeveralLanesAreWhole) {
  constexpr int kAccounts = 8, kTransfers = 40;
  const auto made = a.create(table("T", keys({"pk:S"}))).value();
  ASSERT_TRUE(b.engine->catch_up());
  const auto account = [](std::uint64_t number) { return Item{{"pk", S(fmt::format("account{}", number))}}; };
  for (std::uint64_t i = 0; i < kAccounts; ++i) {
    auto item = account(i);
    item.set("n", N(100));
    ASSERT_TRUE(a.put(made, item));
  }
  const auto transfer = [&](Process& process, std::uint64_t seed) {
    Random random(seed);
    for (int i = 0; i < kTransfers; ++i) {
      const auto from = random.below(kAccounts), to = (from + 1 + random.below(kAccounts - 1)) % kAccounts;
      WriteRequest request;
      for (const auto& [number, delta] : {std::pair(from, -1), std::pair(to, 1)}) {
        auto one = change(process.engine->find_table("T").value(), account(number),
                          update("ADD n :d", expr::Values{{":d", N(delta)}}));
        request.actions.push_back(std::move(one.actions[0]));
      }
      const auto done = process.wait<WriteOutcome>(
          [&](auto callback) { process.engine->write(std::move(request), std::move(callback)); });
      ASSERT_TRUE(done) << done.error().message;
      EXPECT_TRUE(done->written);
    }
  };
  std::atomic<bool> done = false;
  std::jthread auditor([&] {
    while (!done) {
      std::int64_t total = 0;
      const auto snapshot = b.engine->snapshot();
      const auto cursor = snapshot->cursor(table_items(made->id), storage::Direction::Forward);
      for (; cursor->valid(); cursor->next()) {
        const auto item = value::StoredItem::from_bytes(Bytes(cursor->value())).value().parse().value();
        total += std::stoll(item.find("n")->as_number()->to_string());
      }
      EXPECT_EQ(total, 100 * kAccounts);
    }
  });
  {
    std::jthread one([&] { transfer(a, 1); }), two([&] { transfer(a, 2); }), three([&] { transfer(b, 3); });
  }
  done = true;
}

INSTANTIATE_TEST_SUITE_P(Lanes, SharingTest, ::testing::Values(1U, 4U));

}  // namespace
}  // namespace stator::engine
#endif
