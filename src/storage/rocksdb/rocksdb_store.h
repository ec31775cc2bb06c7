#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "stator/base/clock.h"
#include "stator/storage/durability.h"
#include "stator/storage/store.h"

namespace stator::storage {

struct RocksDbOptions {
  std::string path;  // a folder of its own; created if it is missing
  Durability durability = Durability::Sync;
  std::chrono::milliseconds sync_interval{5};      // when relaxed
  std::uint64_t block_cache_bytes = 64ULL << 20;   // taken as it fills
  std::uint64_t write_buffer_bytes = 64ULL << 20;  // likewise; changes kept in memory before they become a file
  std::uint64_t range_cache_bytes = 64ULL << 20;   // likewise; entries and ranges of keys that were read
  int open_files = 512;                            // of its own, at the same time
  // Changes nothing in the folder, which must hold a store: commits fail.  It counts as in use all the same.
  bool read_only = false;
  // Read-only: opens a damaged folder as far as possible; a read of damaged data fails.
  bool despite_damage = false;
  std::shared_ptr<const Clock> clock = std::make_shared<SystemClock>();  // for its waits
  std::function<int(int descriptor)> sync_file = ::fdatasync;            // for its logs
};

// Opens the store in a folder; docs/formats/store.md describes the folder.
//
// Commits happen one after another.  While the disk takes one, the next can be written (write(), publish()): one sync
// of the log is for all commits written before it, and after a failed sync nothing is published.  A commit that fails
// with Storage leaves the store read-only until recover(): readers see the earlier commits, further commits fail at
// once.  Whether the one that failed has taken place is known after recover(), from last_commit(); if it has, then
// whole.  recover() keeps new readers waiting for a moment until all snapshots are gone, and fails if one stays.
//
// A folder that lacks acknowledged commits is not opened, and not changed: Corruption names the file and the way out.
// A folder on a full disk is opened: health() reports it, and the store accepts at most commits that free space.
// docs/internals/damage.md tells the whole story. files() freezes the table files by hard links in the folder FROZEN,
// after a flush; commits wait meanwhile, for as long as the last few changes take to be written.  Read-only, the files
// are frozen where they are.
//
// Errors: Usage (the folder is in use, or its format is newer than this program), Storage, Corruption.
Result<std::unique_ptr<Store>> open_rocksdb_store(const RocksDbOptions& options);

}  // namespace stator::storage
