#include "stator/storage/memory/memory_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stator/base/random.h"
#include "stator/storage/testing/contract.h"

namespace stator::storage {
namespace {

const auto new_place = testing::place_for(open_memory_store);
const bool registered = testing::register_contract_tests("MemoryStoreContract", new_place);

TEST(MemoryStore, BehavesLikeAMap) {
  for (const auto seed : testing::seeds(100)) testing::expect_same_as_map(new_place, seed);
}

TEST(MemoryStore, KeepsSnapshotsWholeUnderWrites) {
  testing::expect_snapshots_whole_under_writes(new_place, 3, 3000);
}

}  // namespace
}  // namespace stator::storage
