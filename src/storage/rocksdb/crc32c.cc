#include "stator/storage/rocksdb/crc32c.h"

#include <array>
#include <cstring>

#ifdef __x86_64__
#include <nmmintrin.h>
#endif

namespace stator::storage {
namespace {

using ChecksumTables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr ChecksumTables make_checksum_tables() {
  ChecksumTables tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? (crc >> 1) ^ 0x82F63B78U : crc >> 1;
    tables[0][i] = crc;
  }
  for (std::size_t table = 1; table < 8; ++table) {
    for (std::size_t i = 0; i < 256; ++i) {
      tables[table][i] = (tables[table - 1][i] >> 8) ^ tables[0][tables[table - 1][i] & 0xFF];
    }
  }
  return tables;
}

constexpr ChecksumTables kChecksumTables = make_checksum_tables();

template <typename Word>
Word take_word(BytesView& bytes) {
  Word word;
  std::memcpy(&word, bytes.data(), sizeof word);
  bytes.remove_prefix(sizeof word);
  return word;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) std::uint32_t crc32c_by_instruction(BytesView bytes, std::uint32_t start) {
  std::uint64_t crc = static_cast<std::uint32_t>(~start);
  while (bytes.size() >= 8) crc = _mm_crc32_u64(crc, take_word<std::uint64_t>(bytes));
  auto rest = static_cast<std::uint32_t>(crc);
  while (!bytes.empty()) rest = _mm_crc32_u8(rest, take_word<unsigned char>(bytes));
  return ~rest;
}
#endif

}  // namespace

#ifdef __x86_64__
// The linker puts this in the place of rocksdb::crc32c::Extend.
std::uint32_t extend_for_rocksdb(std::uint32_t start, const char* data,
                                 std::size_t size) asm("__wrap__ZN7rocksdb6crc32c6ExtendEjPKcm");

std::uint32_t extend_for_rocksdb(std::uint32_t start, const char* data, std::size_t size) {
  return crc32c({data, size}, start);
}
#endif

std::uint32_t crc32c(BytesView bytes, std::uint32_t start) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("sse4.2")) return crc32c_by_instruction(bytes, start);
#endif
  return crc32c_by_tables(bytes, start);
}

std::uint32_t crc32c_by_tables(BytesView bytes, std::uint32_t start) {
  const auto& tables = kChecksumTables;
  std::uint32_t crc = ~start;
  while (bytes.size() >= 8) {
    const auto low = crc ^ take_word<std::uint32_t>(bytes);
    const auto high = take_word<std::uint32_t>(bytes);
    crc = tables[7][low & 0xFF] ^ tables[6][low >> 8 & 0xFF] ^ tables[5][low >> 16 & 0xFF] ^ tables[4][low >> 24] ^
          tables[3][high & 0xFF] ^ tables[2][high >> 8 & 0xFF] ^ tables[1][high >> 16 & 0xFF] ^ tables[0][high >> 24];
  }
  while (!bytes.empty()) crc = crc >> 8 ^ tables[0][(crc ^ take_word<unsigned char>(bytes)) & 0xFF];
  return ~crc;
}

}  // namespace stator::storage
