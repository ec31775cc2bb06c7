#include "stator/engine/index/index_builder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <thread>

#include "stator/base/test_eventually.h"
#include "stator/engine/engine.h"
#include "stator/engine/index/index_entry.h"
#include "stator/engine/table_change.h"
#include "stator/engine/test_support.h"
#include "stator/storage/memory/memory_store.h"

namespace stator::engine {
namespace {

using testing::add_index;
using testing::keys;
using testing::N;
using testing::S;
using value::Item;

// A database whose engine can be stopped and started again on the same store.
class IndexBuilderTest : public ::testing::Test {
 protected:
  void SetUp() override { restart(); }

  void restart() {
    engine_.reset();
    engine_ = Engine::open(*store_, clock_, random_).value();
  }

  void create(Table t) {
    Result<TablePtr> created = TablePtr();
    engine_->create_table(std::move(t), [&](Result<TablePtr> table) { created = std::move(table); });
    ASSERT_TRUE(created);
  }

  void put(Item item) {
    WriteAction action;
    action.table = table();
    action.item = std::move(item);
    WriteRequest request;
    request.actions.push_back(std::move(action));
    std::atomic<bool> written = false;  // the builder may be the one that commits it
    engine_->write(std::move(request), [&](Result<WriteOutcome> outcome) { written = outcome && outcome->written; });
    ASSERT_TRUE(eventually([&] { return written.load(); }));
  }

  void add_building_index() {
    std::promise<void> added;  // the builder may be the one that commits it
    engine_->update_table(
        "T",
        [](Table t) -> Result<Table> {
          add_index(t, "gsi", IndexKind::Global, keys({"g:S"}));
          t.indexes.back().building = true;
          return t;
        },
        [&](const Result<TablePtr>& changed) {
          EXPECT_TRUE(changed);
          added.set_value();
        });
    added.get_future().wait();
  }

  void wait_until_built() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (table()->is_building()) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "the index was not built";
      std::this_thread::yield();
    }
  }

  TablePtr table() const { return engine_->catalog().find("T"); }

  // The expected index, computed from the table.
  void expect_index_equals_table() {
    const auto snapshot = store_->snapshot();
    std::map<KeyBytes, Bytes> expected;
    std::int64_t bytes = 0;
    const auto held = table();
    const auto& index = *held->find_index("gsi");
    const auto items =
        snapshot->cursor(storage::KeyRange::prefix(index_prefix(table()->id, kBaseIndex)), storage::Direction::Forward);
    for (; items->valid(); items->next()) {
      const auto stored = value::StoredItem::from_bytes(Bytes(items->value())).value();
      if (auto entry = index_entry(*table(), index, stored.parse().value(), stored)) {
        bytes += static_cast<std::int64_t>(entry->item.item_size_bytes());
        expected.emplace(entry->key, entry->item.bytes());
      }
    }
    std::map<KeyBytes, Bytes> actual;
    const auto entries =
        snapshot->cursor(storage::KeyRange::prefix(index_prefix(table()->id, index.id)), storage::Direction::Forward);
    for (; entries->valid(); entries->next()) actual.emplace(entries->key(), entries->value());
    EXPECT_EQ(actual, expected);
    const auto statistics = engine_->statistics(table()->id, index.id).value();
    EXPECT_EQ(statistics.items, static_cast<std::int64_t>(expected.size()));
    EXPECT_EQ(statistics.bytes, bytes);
  }

  std::unique_ptr<storage::Store> store_ = storage::open_memory_store();
  ManualClock clock_;
  Random random_{1};
  std::unique_ptr<Engine> engine_;
};

TEST_F(IndexBuilderTest, FillsAnIndexWithWhatTheTableHas) {
  create(testing::table("T", keys({"pk:S"})));
  for (int i = 0; i < 1000; ++i) {
    Item item{{"pk", S("p" + std::to_string(i))}};
    if (i % 3 == 0) item.set("g", S("g" + std::to_string(i % 7)));
    if (i % 3 == 1) item.set("g", N(i));                        // another type: left out
    if (i % 50 == 2) item.set("g", S(std::string(2049, 'x')));  // too long for a key: left out
    put(std::move(item));
  }
  add_building_index();
  engine_->build_indexes(table()->id);
  wait_until_built();
  expect_index_equals_table();
}

TEST_F(IndexBuilderTest, KeepsCountWhileTheTableIsWrittenTo) {
  create(testing::table("T", keys({"pk:S"})));
  for (int i = 0; i < 2000; ++i) put({{"pk", S("p" + std::to_string(i))}, {"g", S("old")}});
  add_building_index();
  engine_->build_indexes(table()->id);
  // Items the builder has and has not come by: changed, moved to another entry, and taken out of the index.
  for (int i = 0; i < 2000; i += 3) put({{"pk", S("p" + std::to_string(i))}, {"g", S("new" + std::to_string(i % 5))}});
  for (int i = 1; i < 2000; i += 6) put({{"pk", S("p" + std::to_string(i))}, {"g", S("old")}, {"n", N(i)}});
  for (int i = 2; i < 2000; i += 6) put({{"pk", S("p" + std::to_string(i))}});
  wait_until_built();
  expect_index_equals_table();
}

TEST_F(IndexBuilderTest, GoesOnAfterARestart) {
  create(testing::table("T", keys({"pk:S"})));
  for (int i = 0; i < 500; ++i) put({{"pk", S("p" + std::to_string(i))}, {"g", S("x")}});
  add_building_index();
  put({{"pk", S("p1")}, {"g", S("y")}});  // before the builder has begun
  restart();                              // takes up what is unfinished
  wait_until_built();
  expect_index_equals_table();
}

TEST_F(IndexBuilderTest, LetsGoOfATableThatIsDeletedUnderItsHands) {
  create(testing::table("T", keys({"pk:S"})));
  for (int i = 0; i < 3000; ++i) put({{"pk", S("p" + std::to_string(i))}, {"g", S("x")}});
  add_building_index();
  const auto id = table()->id;
  engine_->build_indexes(id);
  engine_->delete_table("T", [](const Result<TablePtr>& deleted) { ASSERT_TRUE(deleted); });
  engine_.reset();  // waits for the builder
  const auto snapshot = store_->snapshot();
  EXPECT_FALSE(snapshot->cursor(table_items(id), storage::Direction::Forward)->valid());
}

TEST_F(IndexBuilderTest, LeavesTheWalkWhenItsIndexIsDeleted) {
  create(testing::table("T", keys({"pk:S"})));
  for (int i = 0; i < 20000; ++i) put({{"pk", S("p" + std::to_string(i))}, {"g", S("x")}});
  add_building_index();
  engine_->build_indexes(table()->id);
  const auto progress = build_progress_key(table()->id, table()->find_index("gsi")->id);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!store_->get(progress).value()) {  // without a pause: it must not be through
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "the walk did not begin";
    std::this_thread::yield();
  }
  std::promise<void> deleted;
  engine_->update_table(
      "T",
      [](Table t) -> Result<Table> {
        t.indexes.clear();
        return t;
      },
      [&](const Result<TablePtr>&) { deleted.set_value(); });
  deleted.get_future().wait();
  const auto works = engine_->commit_statistics().works;
  add_building_index();  // its turn comes when the builder has done with the first
  engine_->build_indexes(table()->id);
  wait_until_built();
  const auto second_walk = 20000 / 128 + 3U;  // the index is added, the chunks, the end
  EXPECT_LE(engine_->commit_statistics().works - works, second_walk + 1) << "one chunk of the first was under way";
  expect_index_equals_table();
}

TEST(FinishIndex, IsAboutOneTableAndNotAboutTheNextOfItsName) {
  const auto store = storage::open_memory_store();
  const ManualClock clock;
  Catalog catalog;
  Committer committer(*store, clock, Committer::Mode::Inline);
  Result<TablePtr> answer = TablePtr();
  const auto note = [&](Result<TablePtr> table) { answer = std::move(table); };
  const auto create = [&] {
    auto table = testing::table("T", keys({"pk:S"}));
    add_index(table, "gsi", IndexKind::Global, keys({"g:S"}));
    table.indexes.back().building = true;
    committer.submit(TableChange::create(std::move(table), catalog, note));
    return catalog.find("T");
  };
  const auto first = create();
  committer.submit(TableChange::remove("T", catalog, note));
  create();
  committer.submit(TableChange::finish_index(first->id, first->indexes[0].id, catalog, note));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::ResourceNotFound);
  EXPECT_TRUE(catalog.find("T")->is_building());
}

}  // namespace
}  // namespace stator::engine
