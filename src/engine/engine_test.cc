#include "stator/engine/engine.h"

#include <gtest/gtest.h>

#include <future>
#include <semaphore>

#include "stator/engine/test_support.h"
#include "stator/storage/memory/memory_store.h"
#include "stator/storage/testing/contract.h"
#include "stator/storage/testing/faulty_store.h"

namespace stator::engine {
namespace {

using namespace testing;
using std::chrono::hours;
using std::chrono::seconds;
using storage::KeyRange;
using storage::testing::entries;
using storage::testing::FaultyStore;
using value::AttributeValue;
using value::Item;

class EngineTest : public ::testing::Test {
 protected:
  void SetUp() override { open(); }
  void open() {
    engine.reset();
    auto opened = Engine::open(store, clock, random);
    ASSERT_TRUE(opened) << opened.error().message;
    engine = std::move(*opened);
  }

  Result<TablePtr> create(Table table) {
    std::promise<Result<TablePtr>> answer;
    engine->create_table(std::move(table), [&](Result<TablePtr> result) { answer.set_value(std::move(result)); });
    return answer.get_future().get();
  }
  Result<TablePtr> remove(std::string name) {
    std::promise<Result<TablePtr>> answer;
    engine->delete_table(std::move(name), [&](Result<TablePtr> result) { answer.set_value(std::move(result)); });
    return answer.get_future().get();
  }
  Result<TablePtr> alter(std::string name, std::function<Result<Table>(Table)> change) {
    std::promise<Result<TablePtr>> answer;
    engine->update_table(std::move(name), std::move(change),
                         [&](Result<TablePtr> result) { answer.set_value(std::move(result)); });
    return answer.get_future().get();
  }
  Result<WriteOutcome> write(WriteRequest request) {
    std::promise<Result<WriteOutcome>> answer;
    engine->write(std::move(request), [&](Result<WriteOutcome> result) { answer.set_value(std::move(result)); });
    return answer.get_future().get();
  }
  std::optional<Item> get(const TablePtr& table, const Item& key) {
    const auto image = engine->get(*table, key).value();
    if (!image.exists()) return std::nullopt;
    return *image.item().value();
  }
  std::size_t count(const KeyRange& range) { return entries(*store.snapshot(), range).size(); }

  FaultyStore store{storage::open_memory_store()};
  ManualClock clock;
  Random random{1};
  std::unique_ptr<Engine> engine;
};

Table with_stream(Table table, StreamView view = StreamView::NewAndOldImages) {
  table.stream = {.enabled = true, .view = view, .label = "now"};
  return table;
}

const Item kKey{{"pk", S("a")}};

expr::Update add_one() { return update("ADD n :one", expr::Values{{":one", N(1)}}); }

// -- tables

TEST_F(EngineTest, GivesEveryTableAnIdOfItsOwn) {
  const auto one = create(table("One", keys({"pk:S"}))).value();
  const auto two = create(table("Two", keys({"pk:S"}))).value();
  EXPECT_NE(one->id, two->id);
  ASSERT_TRUE(remove("Two"));
  const auto again = create(table("Two", keys({"pk:S"}))).value();
  EXPECT_GT(again->id, two->id) << "not used again";
  EXPECT_EQ(engine->find_table("Two").value(), again);
  open();
  EXPECT_EQ(engine->find_table("Two").value()->id, again->id);
  EXPECT_EQ(engine->catalog().names_after("", 10), (std::vector<std::string>{"One", "Two"}));
  EXPECT_EQ(engine->catalog().names_after("One", 10), (std::vector<std::string>{"Two"}));
}

// As a repair can leave it, also one that was killed before its end.
TEST_F(EngineTest, DoesNotGiveATableTheItemsOfOneThatIsLost) {
  storage::Batch batch;
  batch.put(table_items(TableId{7}).begin + "left over", "x");
  ASSERT_TRUE(store.commit(std::move(batch)));
  EXPECT_EQ(create(table("Two", keys({"pk:S"}))).value()->id.value, 8U);
}

TEST_F(EngineTest, RefusesATableThatIsThereOrMissingOrProtected) {
  auto protected_table = table("T", keys({"pk:S"}));
  protected_table.deletion_protection = true;
  ASSERT_TRUE(create(protected_table));
  EXPECT_EQ(create(protected_table).error().code, ErrorCode::ResourceInUse);
  EXPECT_EQ(remove("T").error().code, ErrorCode::Validation);
  EXPECT_EQ(remove("U").error().code, ErrorCode::ResourceNotFound);
  EXPECT_EQ(engine->find_table("U").error().code, ErrorCode::ResourceNotFound);
  EXPECT_EQ(alter("U", [](Table t) { return t; }).error().code, ErrorCode::ResourceNotFound);
  ASSERT_TRUE(alter("T", [](Table t) -> Result<Table> { return validation_error("no: " + t.name); }).error().message ==
              "no: T");
  ASSERT_TRUE(alter("T", [](Table t) -> Result<Table> {
    t.deletion_protection = false;
    return t;
  }));
  EXPECT_TRUE(remove("T"));
}

TEST_F(EngineTest, DeletesATableWithEverythingButItsChanges) {
  Table t = with_stream(table("T", keys({"pk:S"}, {"sk:S"})));
  add_index(t, "lsi", IndexKind::Local, keys({"pk:S"}, {"l:S"}));
  const auto made = create(t).value();
  ASSERT_TRUE(write(put(made, {{"pk", S("a")}, {"sk", S("b")}, {"l", S("c")}})));
  ASSERT_TRUE(remove("T"));
  EXPECT_EQ(count(table_items(made->id)), 0U);
  EXPECT_EQ(count(table_statistics(made->id)), 0U);
  EXPECT_EQ(count(table_collection_sizes(made->id)), 0U);
  EXPECT_EQ(count(all_table_records()), 0U);
  EXPECT_EQ(count(KeyRange::prefix(change_log_prefix())), 1U);
  EXPECT_EQ(write(put(made, {{"pk", S("a")}, {"sk", S("b")}})).error().code, ErrorCode::ResourceNotFound);
}

// The failed change is on disk when the store has recovered, and nobody was told: the catalog has to look.
TEST_F(EngineTest, KnowsAfterRecoveringWhichTablesThereAre) {
  ASSERT_TRUE(create(table("Deleted", keys({"pk:S"}))));
  ASSERT_TRUE(create(table("Changed", keys({"pk:S"}))));
  const auto other = create(table("Other", keys({"pk:S"}))).value();
  const auto recover = [&] {
    clock.advance(seconds{1});
    return write(put(other, kKey, {})).ok() && write(erase(other, kKey)).ok();
  };

  store.fail_commits_found_at_recovery(1);
  EXPECT_EQ(create(table("Created", keys({"pk:S"}))).error().code, ErrorCode::ReadOnly);
  EXPECT_FALSE(engine->find_table("Created"));
  ASSERT_TRUE(recover());
  EXPECT_TRUE(engine->find_table("Created"));
  EXPECT_EQ(create(table("Created", keys({"pk:S"}))).error().code, ErrorCode::ResourceInUse);

  store.fail_commits_found_at_recovery(1);
  EXPECT_FALSE(remove("Deleted"));
  EXPECT_TRUE(engine->find_table("Deleted"));
  ASSERT_TRUE(recover());
  EXPECT_FALSE(engine->find_table("Deleted"));

  store.fail_commits_after_the_fact(1);
  EXPECT_FALSE(alter("Changed", [](Table t) -> Result<Table> {
    t.deletion_protection = true;
    return t;
  }));
  ASSERT_TRUE(recover());
  EXPECT_TRUE(engine->find_table("Changed").value()->deletion_protection);

  store.fail_commits(1);
  EXPECT_FALSE(create(table("Never", keys({"pk:S"}))));
  ASSERT_TRUE(recover());
  EXPECT_FALSE(engine->find_table("Never"));
  EXPECT_TRUE(create(table("Never", keys({"pk:S"}))));
}

TEST_F(EngineTest, RemembersThatRequestsMustBeSigned) {
  EXPECT_FALSE(engine->signed_only().value());
  ASSERT_TRUE(engine->set_signed_only(true));
  const auto commits = engine->commit_statistics().commits;
  ASSERT_TRUE(engine->set_signed_only(true));
  EXPECT_EQ(engine->commit_statistics().commits, commits) << "what is so already is not written again";
  open();
  EXPECT_TRUE(engine->signed_only().value());
  ASSERT_TRUE(engine->set_signed_only(false));
  open();
  EXPECT_FALSE(engine->signed_only().value());
}

TEST_F(EngineTest, RefusesToOpenWhatItCannotRead) {
  storage::Batch batch;
  batch.put(table_record_key("T"), "\x02{}");
  ASSERT_TRUE(store.commit(std::move(batch)));
  engine.reset();
  const auto opened = Engine::open(store, clock, random);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::Corruption);
}

// -- items

TEST_F(EngineTest, CountsTwoUpdatesOfOneItemInOneCommit) {
  for (const bool durable : {false, true}) {
    SCOPED_TRACE(durable ? "own thread" : "inline");
    store.report_durable(durable);
    open();
    const auto made = create(table(durable ? "D" : "T", keys({"pk:S"}))).value();
    ASSERT_TRUE(write(put(made, {{"pk", S("a")}, {"n", N(0)}})));
    // Both are planned on n = 0 while a commit is under way; the second finds that the first has changed it.
    std::binary_semaphore reached(0), open_gate(0);
    std::atomic<bool> used = false;
    store.before_commit([&](const storage::Batch&) {
      if (used.exchange(true)) return;
      reached.release();
      open_gate.acquire();
    });
    std::thread first([&] { EXPECT_TRUE(write(put(made, {{"pk", S("other")}}))); });
    reached.acquire();
    std::vector<std::promise<Result<WriteOutcome>>> answers(2);
    for (auto& answer : answers) {
      engine->write(change(made, kKey, add_one()),
                    [&](Result<WriteOutcome> result) { answer.set_value(std::move(result)); });
    }
    const auto tried = store.commits_tried();
    open_gate.release();
    first.join();
    std::vector<std::int64_t> before;
    for (auto& answer : answers) {
      const auto outcome = answer.get_future().get();
      ASSERT_TRUE(outcome);
      before.push_back(*(*outcome->actions[0].before.item().value()->find("n")).as_number()->to_int64());
    }
    EXPECT_EQ(before, (std::vector<std::int64_t>{0, 1})) << "each answers with the item it found";
    EXPECT_EQ(get(made, kKey), (Item{{"pk", S("a")}, {"n", N(2)}}));
    EXPECT_EQ(store.commits_tried() - tried, 2U) << "the one they waited behind, and one for both";
    store.before_commit({});
  }
}

TEST_F(EngineTest, PlansAgainAfterAConflict) {
  store.report_shared(true);
  const auto made = create(with_stream(table("T", keys({"pk:S"})))).value();
  ASSERT_TRUE(write(change(made, kKey, add_one())));
  // Somebody else writes the item between our reading and our commit.
  store.conflict_commits(1);
  store.before_commit([&, first = true](const storage::Batch&) mutable {
    if (!std::exchange(first, false)) return;
    storage::Batch batch;
    batch.put(item_key(*made, kKey), value::StoredItem::from(Item{{"pk", S("a")}, {"n", N(10)}}).bytes());
    ASSERT_TRUE(store.inner().commit(std::move(batch)));
  });
  const auto outcome = write(change(made, kKey, add_one()));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(get(made, kKey), (Item{{"pk", S("a")}, {"n", N(11)}}));
  EXPECT_EQ(*outcome->actions[0].after->find("n"), N(11));
}

TEST_F(EngineTest, ReportsAStoreThatCannotRead) {
  const auto made = create(table("T", keys({"pk:S"}))).value();
  store.fail_reads(true);
  EXPECT_EQ(write(change(made, kKey, add_one())).error().code, ErrorCode::Storage);
  EXPECT_EQ(engine->get(*made, kKey).error().code, ErrorCode::Storage);
  store.fail_reads(false);
  EXPECT_FALSE(engine->commit_statistics().read_only);
  EXPECT_TRUE(write(change(made, kKey, add_one())));
}

TEST_F(EngineTest, WritesAllOrNothingWhereAConditionFails) {
  const auto made = create(table("T", keys({"pk:S"}))).value();
  WriteRequest request = put(made, {{"pk", S("new")}});
  request.actions.push_back(erase(made, kKey, condition("attribute_exists(pk)")).actions[0]);
  const auto outcome = write(std::move(request));
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->written);
  EXPECT_FALSE(outcome->actions[0].condition_failed);
  EXPECT_TRUE(outcome->actions[1].condition_failed);
  EXPECT_FALSE(get(made, {{"pk", S("new")}}));
}

TEST_F(EngineTest, CreatesNoItemByAnUpdateThatOnlyRemoves) {
  const auto made = create(table("T", keys({"pk:S"}))).value();
  ASSERT_TRUE(write(change(made, kKey, update("REMOVE m.x"))));
  EXPECT_EQ(get(made, kKey), std::nullopt);
  ASSERT_TRUE(write(put(made, kKey)));
  const auto outcome = write(change(made, kKey, update("REMOVE m.x"))).value();
  EXPECT_FALSE(outcome.written);
  ASSERT_TRUE(outcome.actions[0].error);
  EXPECT_EQ(outcome.actions[0].error->code, ErrorCode::Validation);
}

TEST_F(EngineTest, RefusesAnUpdateThatMakesTooMuchOfAnItem) {
  const auto made = create(table("T", keys({"pk:S"}))).value();
  AttributeValue deep = N(1);
  for (int level = 1; level < 31; ++level) deep = AttributeValue(value::List{deep});
  ASSERT_TRUE(write(
      put(made, {{"pk", S("a")}, {"l", AttributeValue(value::List{deep})}, {"t", S(std::string(300'000, 'x'))}})));
  const auto nested =
      write(change(made, kKey, update("SET l[0] = :v", expr::Values{{":v", AttributeValue(value::List{deep, deep})}})));
  ASSERT_TRUE(nested);
  ASSERT_TRUE(nested->actions[0].error);
  EXPECT_EQ(nested->actions[0].error->code, ErrorCode::Validation);
  const auto large =
      write(change(made, kKey, update("SET u = :v", expr::Values{{":v", S(std::string(200'000, 'x'))}})));
  ASSERT_TRUE(large);
  EXPECT_FALSE(large->written);
  ASSERT_TRUE(large->actions[0].error);
  EXPECT_EQ(large->actions[0].error->message, "Item size to update has exceeded the maximum allowed size");
}

TEST_F(EngineTest, KeepsAnItemCollectionWithinItsLimit) {
  Table t = table("T", keys({"pk:S"}, {"sk:N"}));
  add_index(t, "lsi", IndexKind::Local, keys({"pk:S"}, {"l:S"}));
  const auto made = create(t).value();
  ASSERT_TRUE(write(put(made, {{"pk", S("a")}, {"sk", N(1)}, {"text", S("to be shortened")}})));
  storage::Batch batch;
  batch.add(collection_size_key(made->id, S("a")), std::int64_t{10} << 30);
  ASSERT_TRUE(store.commit(std::move(batch)));
  EXPECT_EQ(write(put(made, {{"pk", S("a")}, {"sk", N(2)}})).error().code, ErrorCode::ItemCollectionSizeLimit);
  EXPECT_TRUE(write(put(made, {{"pk", S("b")}, {"sk", N(2)}})));
  EXPECT_TRUE(write(put(made, {{"pk", S("a")}, {"sk", N(1)}}))) << "smaller";
  EXPECT_TRUE(write(erase(made, {{"pk", S("a")}, {"sk", N(1)}})));

  // The size is a sum of what commutes; no commit depends on it.
  store.report_shared(true);
  open();
  std::vector<Bytes> keys_read;
  store.before_commit([&](const storage::Batch& b) { keys_read = b.keys_read(); });
  const Item item{{"pk", S("b")}, {"sk", N(3)}};
  ASSERT_TRUE(write(put(made, item)));
  EXPECT_EQ(keys_read, std::vector<Bytes>{item_key(*made, item)});
}

TEST_F(EngineTest, FollowsATableThatChangesUnderAWrite) {
  const auto before = create(table("T", keys({"pk:S"}))).value();
  ASSERT_TRUE(alter("T", [](Table t) -> Result<Table> { return with_stream(t); }));
  ASSERT_TRUE(write(put(before, kKey))) << "with the table as it was";
  EXPECT_EQ(count(KeyRange::prefix(change_log_prefix())), 1U) << "and still a record for its stream";
}

// -- forgetting changes

class TrimTest : public EngineTest {
 protected:
  std::size_t changes() { return count(KeyRange::prefix(change_log_prefix())); }
  // Several items, so that several partitions have records.
  void write_items(const TablePtr& table, int round) {
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(write(put(table, {{"pk", S(std::to_string(i))}, {"round", N(round)}})));
  }
};

TEST_F(TrimTest, KeepsADay) {
  const auto made = create(with_stream(table("T", keys({"pk:S"})))).value();
  write_items(made, 1);
  clock.advance(hours{1});
  write_items(made, 2);
  clock.advance(hours{22} + std::chrono::minutes{59});
  engine->trim_change_log();
  EXPECT_EQ(changes(), 40U);
  clock.advance(std::chrono::minutes{1} + seconds{1});  // a day after the first round
  engine->trim_change_log();
  EXPECT_EQ(changes(), 20U);
  const auto left = entries(*store.snapshot(), KeyRange::prefix(change_log_prefix()));
  for (const auto& [key, bytes] : left) {
    EXPECT_EQ(*ChangeRecord::decode(bytes).value().new_image->parse().value().find("round"), N(2));
  }
}

TEST_F(TrimTest, ForgetsTheLastChangesToo) {
  const auto made = create(with_stream(table("T", keys({"pk:S"})))).value();
  write_items(made, 1);
  clock.advance(hours{24} - seconds{1});
  engine->trim_change_log();
  EXPECT_EQ(changes(), 20U);
  clock.advance(seconds{2});
  engine->trim_change_log();
  EXPECT_EQ(changes(), 0U) << "though nothing was written since";
  write_items(made, 2);
  engine->trim_change_log();
  EXPECT_EQ(changes(), 20U);
}

TEST_F(TrimTest, KeepsADayOfADeletedTableAndNoMore) {
  const auto gone = create(with_stream(table("Gone", keys({"pk:S"})))).value();
  const auto stays = create(with_stream(table("Stays", keys({"pk:S"})))).value();
  write_items(gone, 1);
  ASSERT_TRUE(remove("Gone"));
  clock.advance(hours{12});
  write_items(stays, 1);
  engine->trim_change_log();
  EXPECT_EQ(changes(), 40U);
  clock.advance(hours{12} + seconds{1});
  engine->trim_change_log();
  EXPECT_EQ(changes(), 20U);
  EXPECT_EQ(count(KeyRange::prefix(change_partition_prefix(gone->id, 0))), 0U);
}

TEST_F(TrimTest, WritesNothingWhereThereIsNothingToForget) {
  const auto made = create(with_stream(table("T", keys({"pk:S"})))).value();
  write_items(made, 1);
  clock.advance(hours{30});
  engine->trim_change_log();
  const auto commits = store.commits_tried();
  engine->trim_change_log();
  engine->trim_change_log();
  EXPECT_EQ(store.commits_tried(), commits);
}

TEST_F(TrimTest, ForgetsTheTimesOfWhatItForgets) {
  const auto made = create(with_stream(table("T", keys({"pk:S"})))).value();
  for (int hour = 0; hour < 48; ++hour) {
    write_items(made, hour);
    clock.advance(hours{1});
  }
  engine->trim_change_log();
  EXPECT_EQ(changes(), 24U * 20);
  EXPECT_EQ(count(KeyRange::prefix(commit_time_prefix())), 24U + 1) << "and that of the forgetting itself";
}

}  // namespace
}  // namespace stator::engine
