#include "stator/storage/rocksdb/rocksdb_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "stator/storage/testing/contract.h"
#include "stator/storage/testing/temporary_folder.h"

namespace stator::storage {
namespace {

using testing::TemporaryFolder;

class RocksDbPlace final : public testing::StorePlace {
 public:
  explicit RocksDbPlace(RocksDbOptions options) : options_(std::move(options)) { options_.path = folder_.path() + "/data"; }
  std::unique_ptr<Store> open() override {
    auto store = open_rocksdb_store(options_);
    if (!store) {
      ADD_FAILURE() << store.error().message;
      return nullptr;
    }
    return std::move(*store);
  }

 private:
  TemporaryFolder folder_;
  RocksDbOptions options_;
};

testing::NewPlace place_with(RocksDbOptions options) {
  return [options] { return std::make_unique<RocksDbPlace>(options); };
}

const auto relaxed_place = place_with({.path = {}, .durability = Durability::Relaxed});
const auto synced_place = place_with({.path = {}});
// Small buffers, so that data moves through flushes and compactions while a test runs.
const auto busy_place = place_with({.path = {}, .durability = Durability::Relaxed, .block_cache_bytes = 1 << 20, .write_buffer_bytes = 64 << 10});

const bool registered = testing::register_contract_tests("RocksDbStoreContract", synced_place) &&
                        testing::register_contract_tests("RelaxedRocksDbStoreContract", relaxed_place);

TEST(RocksDbStore, BehavesLikeAMap) {
  for (const auto seed : testing::seeds(20)) testing::expect_same_as_map(relaxed_place, seed);
}

TEST(RocksDbStore, BehavesLikeAMapWhileItCompacts) {
  for (const auto seed : testing::seeds(20)) testing::expect_same_as_map(busy_place, seed);
}

TEST(RocksDbStore, KeepsSnapshotsWholeUnderWrites) {
  testing::expect_snapshots_whole_under_writes(busy_place, 2, 1000);
}

}  // namespace
}  // namespace stator::storage
