#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "stator/engine/keyspace.h"
#include "stator/storage/store.h"

// Copies everything from one store to another, of any kinds.
namespace stator::engine {

// Is in a store while it is being copied into.
//
//   'c' 'y' -> version:u8 = 1  source:u64be  source_commit:u64be  records:u64be  bytes:u64be  last key
//
// docs/formats/catalog.md shows an example.
struct CopyMark {
  std::uint64_t source = 0;               // tells the source from others
  storage::CommitSequence source_commit;  // its newest
  std::uint64_t records = 0, bytes = 0;   // that were copied
  KeyBytes last_key = {};                 // up to and with this one; empty: none yet

  Bytes encode() const;
  static Result<CopyMark> decode(BytesView text);  // Errors: Corruption
};

// Errors: Usage, if it is a copy that is not finished; Storage.
Result<void> refuse_unfinished_copy(const storage::Snapshot& snapshot);

struct CopyOptions {
  // Called now and then with the records that are done, and as many as there may be.
  std::function<void(std::string_view stage, std::uint64_t done, std::uint64_t total)> progress = [](auto, auto, auto) {
  };
};

struct CopyOutcome {
  std::uint64_t records = 0, bytes = 0;
  bool resumed = false;                   // an earlier call had begun
  storage::CommitSequence source_commit;  // the newest that was copied
};

// Copies every record, in the order of keys and in small commits, and compares all of them afterwards.  If a call was
// ended, the next one continues.  The target is empty, or has the records of an earlier call with the same source. Its
// commits go on behind those of the source.  Memory does not grow with the data.
//
// Not copied are the texts of servers, which a data folder has as files, and the lease of background work.  A server
// refuses the target until finish_copy().  No other process uses the stores meanwhile.
//
// Errors: Usage: the target has other data, or the source has changed since the first call.  Storage, Corruption.
Result<CopyOutcome> copy_store(storage::Store& source, storage::Store& target, const CopyOptions& options = {});

// The last step, with the texts of servers that the target is to have.  Errors: Storage.
Result<void> finish_copy(storage::Store& target, const std::map<std::string, std::string>& texts);

}  // namespace stator::engine
