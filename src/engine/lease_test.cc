#include "stator/engine/lease.h"

#include <gtest/gtest.h>

namespace stator::engine {
namespace {

// The example of docs/formats/catalog.md.
TEST(LeaseRecord, IsWhatItsPageShows) {
  const LeaseRecord lease{
      .fence = 2, .until = WallTime{std::chrono::seconds{1'700'000'000}}, .holder = Bytes(16, '\xaa')};
  const Bytes bytes = Bytes("\x01\0\0\0\0\0\0\0\x02\0\x06\x0a\x24\x18\x1e\x40\0", 17) + lease.holder;
  EXPECT_EQ(lease.encode(), bytes);
  const auto read = LeaseRecord::decode(bytes).value();
  EXPECT_EQ(read.fence, lease.fence);
  EXPECT_EQ(read.until, lease.until);
  EXPECT_EQ(read.holder, lease.holder);
}

TEST(LeaseRecord, RefusesOtherBytes) {
  for (const Bytes& bytes : {Bytes(), Bytes(33, '\x02'), Bytes(32, '\x01'), Bytes(34, '\x01')}) {
    EXPECT_EQ(LeaseRecord::decode(bytes).error().code, ErrorCode::Corruption);
  }
}

}  // namespace
}  // namespace stator::engine
