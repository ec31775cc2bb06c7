#include "stator/engine/catalog.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "stator/engine/keyspace.h"
#include "stator/engine/test_support.h"
#include "stator/storage/memory/memory_store.h"

namespace stator::engine {
namespace {

constexpr int kThreads = 20;  // more than there are copies

Table books() { return testing::table("Books", testing::keys({"pk:S"})); }

// The table that each of several threads finds.
std::vector<TablePtr> found_by_all(const Catalog& catalog, std::string_view name) {
  std::vector<TablePtr> found(kThreads);
  std::vector<std::jthread> threads;
  for (auto& one : found) threads.emplace_back([&] { one = catalog.find(name); });
  threads.clear();
  return found;
}

TEST(Catalog, ShowsEveryThreadTheSameTable) {
  Catalog catalog;
  const auto table = std::make_shared<const Table>(books());
  catalog.publish(table);
  for (const auto& found : found_by_all(catalog, "Books")) EXPECT_EQ(found, table);
  EXPECT_EQ(catalog.find(TableId{1}), table);
  const auto changed = std::make_shared<const Table>(books());
  catalog.publish(changed);
  for (const auto& found : found_by_all(catalog, "Books")) EXPECT_EQ(found, changed);
  EXPECT_EQ(table.use_count(), 1);
  catalog.remove(*changed);
  for (const auto& found : found_by_all(catalog, "Books")) EXPECT_EQ(found, nullptr);
  EXPECT_EQ(changed.use_count(), 1);
}

TEST(Catalog, KeepsTablesThatHaveNotChangedWhenTheyAreReadAgain) {
  const auto store = storage::open_memory_store();
  storage::Batch batch;
  batch.put(table_record_key("Books"), encode_table(books()));
  ASSERT_TRUE(store->commit(std::move(batch)).ok());
  Catalog catalog;
  ASSERT_TRUE(catalog.load(*store).ok());
  const auto first = found_by_all(catalog, "Books");
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(catalog.load(*store).ok());
  for (const auto& found : found_by_all(catalog, "Books")) EXPECT_EQ(found, first.front());
}

TEST(Catalog, NeverShowsAnOlderTableAfterANewerOne) {
  Catalog catalog;
  catalog.publish(std::make_shared<const Table>(books()));
  std::atomic<std::uint32_t> newest{0};
  std::vector<std::jthread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        const auto before = newest.load();
        const auto found = catalog.find(TableId{1});
        ASSERT_NE(found, nullptr);
        ASSERT_GE(found->next_index_id, before);
      }
    });
  }
  for (std::uint32_t change = 1; change <= 2'000; ++change) {
    auto table = books();
    table.next_index_id = static_cast<decltype(table.next_index_id)>(change);
    catalog.publish(std::make_shared<const Table>(std::move(table)));
    newest.store(change);
  }
}

}  // namespace
}  // namespace stator::engine
