#include "stator/storage/rocksdb/disk_room.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace stator::storage {
namespace {

constexpr std::uint64_t kMega = 1ULL << 20;

TEST(DiskRoom, LeavesALargeDiskAsItIs) {
  const auto room = DiskRoom::of(4096 * kMega, 64 * kMega);
  EXPECT_EQ(room.write_buffer, 64 * kMega);
  EXPECT_EQ(room.table_file, 64 * kMega);
  EXPECT_EQ(room.reserve, 16 * kMega);
  EXPECT_EQ(DiskRoom::of(4096 * kMega, kMega).write_buffer, kMega) << "a smaller one that was asked for";
}

// Otherwise the log could not be flushed on a full disk, and the room of what is deleted there would never come back.
TEST(DiskRoom, ReservesWhatTheLogOfASmallDiskNeedsToBeFlushed) {
  for (auto megas = DiskRoom::kLeast / kMega; megas <= 128; ++megas) {
    const auto room = DiskRoom::of(megas * kMega, 64 * kMega);
    EXPECT_GE(room.reserve, 2 * room.write_buffer + room.compaction_headroom) << megas;
    EXPECT_LE(room.reserve, room.bytes / 8) << megas;
  }
}

}  // namespace
}  // namespace stator::storage
