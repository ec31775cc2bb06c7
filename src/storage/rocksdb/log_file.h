#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "stator/base/bytes.h"
#include "stator/base/result.h"

// The files to which RocksDB appends records: write-ahead logs and manifests.  RocksDB's own reader ends, or goes on,
// without a word where a record is damaged; this one reports the place, and the records behind it.
//
//   file    blocks of 32768 bytes; no record part crosses the end of a block, the last bytes of one may be unused
//   part    crc32c:u32le (masked, of type and payload)  length:u16le  type:u8  payload
//   type    1 a whole record; 2, 3, 4 the first, a middle and the last part of one
//   end     of a write-ahead log: any number of bytes ff, since LogSync fills logs ahead.  A manifest has none.
namespace stator::storage {

inline constexpr char kLogFilling = '\xff';

enum class RecordFile : std::uint8_t { Log, Manifest };

struct LogVisitor {
  // A whole record with a valid checksum, and where it begins.
  std::function<void(std::uint64_t offset, BytesView record)> record;
  // Bytes that are no valid record begin here; called once for each such stretch.  The last thing in the file may be a
  // record that was never finished.
  std::function<void(std::uint64_t offset, std::string_view what)> damage;
};

// The size of a log without its filling, and without the bytes ff that its last record may end in.  Errors: Storage.
Result<std::uint64_t> size_before_filling(const std::string& path);

// Reads a whole file, past damage as well.  Answers its size.  Errors: Storage.
Result<std::uint64_t> read_log_file(const std::string& path, RecordFile kind, const LogVisitor& visitor);

// Writes the records of a log once more where they are, from the first commit after `synced` on.  After a sync that has
// failed, the system takes what it could not write for written, and a second sync does nothing.  Errors: Storage.
Result<void> write_log_again(const std::string& path, std::uint64_t synced);

// The commit that a record of a write-ahead log holds; nullopt when it holds none.
std::optional<std::uint64_t> commit_of_record(BytesView record);
// The newest commit that was on disk when this record was written; nullopt when the record does not tell.
std::optional<std::uint64_t> synced_at_record(BytesView record);

// The commits that a start takes from the logs, which it reads in the order of their numbers.  A commit is taken only
// if the one before it was taken: after a power cut, unsynced commits can be on disk without those before them.
class CommitChain {
 public:
  // All commits up to `last` are in tables.
  explicit CommitChain(std::uint64_t last) : last_(last) {}
  // Whether this commit is taken.  One that was taken before, or is in tables, is taken again.
  bool take(std::uint64_t commit) {
    if (commit > last_ + 1) return false;
    last_ = std::max(last_, commit);
    return true;
  }
  std::uint64_t last() const { return last_; }

 private:
  std::uint64_t last_;
};

}  // namespace stator::storage
