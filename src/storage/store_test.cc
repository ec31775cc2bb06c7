#include "stator/storage/store.h"

#include <gtest/gtest.h>

#include <limits>

namespace stator::storage {
namespace {

TEST(Counter, ReadsBackWhatItWrote) {
  using Limits = std::numeric_limits<std::int64_t>;
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, Limits::min(), Limits::max()}) {
    const auto read = decode_counter(encode_counter(value));
    ASSERT_TRUE(read) << value;
    EXPECT_EQ(*read, value);
  }
}

TEST(Counter, IsLittleEndian) { EXPECT_EQ(hex(encode_counter(258)), "02 01 00 00 00 00 00 00"); }

TEST(Counter, OfAnotherLengthIsCorrupt) {
  for (const BytesView bytes : {BytesView(""), BytesView("1234567"), BytesView("123456789")}) {
    const auto read = decode_counter(bytes);
    ASSERT_FALSE(read) << bytes;
    EXPECT_EQ(read.error().code, ErrorCode::Corruption);
  }
}

TEST(Counter, WrapsAroundInsteadOfFailing) {
  using Limits = std::numeric_limits<std::int64_t>;
  EXPECT_EQ(add_to_counter(Limits::max(), 1), Limits::min());
}

TEST(SequencedKey, HoldsTheSequenceWhereItWasAsked) {
  Bytes key("ab........cd");
  write_sequence(key, 2, CommitSequence{0x0102});
  EXPECT_EQ(hex(key), "61 62 00 00 00 00 00 00 01 02 63 64");
}

TEST(ReservedKeys, AreTheEmptyOneAndThoseThatStartWithZero) {
  EXPECT_TRUE(is_reserved_key(""));
  EXPECT_TRUE(is_reserved_key(BytesView("\0x", 2)));
  EXPECT_FALSE(is_reserved_key("\x01"));
}

}  // namespace
}  // namespace stator::storage
