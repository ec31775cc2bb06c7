#include "stator/storage/rocksdb/crc32c.h"

#include <gtest/gtest.h>

#ifdef __x86_64__
// RocksDB's own, which the program does not call any more.
std::uint32_t extend_of_rocksdb(std::uint32_t start, const char* data,
                                std::size_t size) asm("__real__ZN7rocksdb6crc32c6ExtendEjPKcm");
#endif

namespace stator::storage {
namespace {

Bytes some_bytes(std::size_t size) {
  Bytes bytes;
  for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<char>(i * 151 + i / 7));
  return bytes;
}

TEST(RocksDbChecksum, IsCastagnolis) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c_by_tables("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(""), 0U);
}

TEST(RocksDbChecksum, IsTheSameWithAndWithoutTheInstructionAtEveryLengthAndPlace) {
  const auto bytes = some_bytes(4200);
  for (std::size_t at = 0; at < 9; ++at) {
    for (const std::size_t size : {0U, 1U, 7U, 8U, 9U, 15U, 16U, 63U, 64U, 65U, 1000U, 4096U, 4190U}) {
      const auto part = BytesView(bytes).substr(at, size);
      EXPECT_EQ(crc32c(part), crc32c_by_tables(part)) << size << " bytes at " << at;
      EXPECT_EQ(crc32c(part, 0xDEADBEEF), crc32c_by_tables(part, 0xDEADBEEF)) << size << " bytes at " << at;
    }
  }
}

TEST(RocksDbChecksum, GoesOnWhereAnotherEnded) {
  const auto bytes = some_bytes(100);
  EXPECT_EQ(crc32c(BytesView(bytes).substr(37), crc32c(BytesView(bytes).substr(0, 37))), crc32c(bytes));
}

#ifdef __x86_64__
TEST(RocksDbChecksum, IsWhatRocksDbComputesItself) {
  for (const std::size_t size : {0U, 1U, 8U, 100U, 1024U, 32768U}) {
    const auto bytes = some_bytes(size);
    EXPECT_EQ(crc32c(bytes, 77), extend_of_rocksdb(77, bytes.data(), bytes.size())) << size;
  }
}
#endif

}  // namespace
}  // namespace stator::storage
