#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "stator/base/bytes.h"
#include "stator/base/result.h"

// The files to which RocksDB appends records: write-ahead logs and manifests.  RocksDB's own reader ends, or goes on,
// without a word where a record is damaged; this one tells where that is, and what is behind it.
//
//   file    blocks of 32768 bytes; no record part crosses the end of a block, the last bytes of one may be unused
//   part    crc32c:u32le (masked, of type and payload)  length:u16le  type:u8  payload
//   type    1 a whole record; 2, 3, 4 the first, a middle and the last part of one
namespace stator::storage {

struct LogVisitor {
  // A whole record with a valid checksum, and where it begins.
  std::function<void(std::uint64_t offset, BytesView record)> record;
  // Bytes that are no valid record begin here; called once for each such stretch.  The last thing in the file may be a
  // record that was never finished.
  std::function<void(std::uint64_t offset, std::string_view what)> damage;
};

// Reads a whole file, past damage as well.  Answers its size.  Errors: Storage.
Result<std::uint64_t> read_log_file(const std::string& path, const LogVisitor& visitor);

// The commit that a record of a write-ahead log holds; nullopt when it holds none.
std::optional<std::uint64_t> commit_of_record(BytesView record);

// The checksum of RocksDB's files, Castagnoli's polynomial.
std::uint32_t crc32c(BytesView bytes, std::uint32_t start = 0);

}  // namespace stator::storage
