#include "stator/base/bytes.h"

#include <gtest/gtest.h>

namespace stator {
namespace {

TEST(Varint, ReadsBackWhatItWrote) {
  for (const std::uint64_t value : {0ULL, 1ULL, 127ULL, 128ULL, 300ULL, ~0ULL}) {
    Bytes bytes;
    append_varint(bytes, value);
    BytesView view = bytes;
    std::uint64_t read = 0;
    ASSERT_TRUE(take_varint(view, read)) << value;
    EXPECT_EQ(read, value);
    EXPECT_TRUE(view.empty());
  }
}

TEST(Varint, RefusesACutOne) {
  BytesView cut("\x80\x80", 2);
  std::uint64_t value = 0;
  EXPECT_FALSE(take_varint(cut, value));
}

TEST(BigEndian, SortsAsBytesTheWayItSortsAsNumbers) {
  Bytes small, large;
  append_u64be(small, 255);
  append_u64be(large, 256);
  EXPECT_LT(small, large);
  EXPECT_EQ(read_u64be(large.data()), 256U);
}

TEST(PrefixEnd, IsTheFirstKeyBehindAllWithThePrefix) {
  EXPECT_EQ(prefix_end("ab"), "ac");
  EXPECT_EQ(prefix_end("a\xff"), "b");
  EXPECT_EQ(prefix_end("\xff\xff"), "");
}

}  // namespace
}  // namespace stator
