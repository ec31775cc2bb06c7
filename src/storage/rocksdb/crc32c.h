#pragma once

#include <cstdint>

#include "stator/base/bytes.h"

namespace stator::storage {

// The checksum of RocksDB's files, Castagnoli's polynomial.  `start` is the checksum of the bytes before `bytes`.
//
// Debian compiles RocksDB for every x86-64, and RocksDB then computes this from tables, a byte or two per cycle.  There
// the program is linked so that RocksDB calls this function instead, which uses the processor's instruction where there
// is one (cmake/dependencies.cmake).
std::uint32_t crc32c(BytesView bytes, std::uint32_t start = 0);

// The same without the processor's instruction.
std::uint32_t crc32c_by_tables(BytesView bytes, std::uint32_t start = 0);

}  // namespace stator::storage
