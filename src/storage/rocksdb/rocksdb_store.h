#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "stator/base/clock.h"
#include "stator/storage/store.h"

namespace stator::storage {

enum class Durability : std::uint8_t {
  Sync,     // a commit is on disk when it returns
  Relaxed,  // a commit survives the process when it returns, and the machine a few milliseconds later
};

struct RocksDbOptions {
  std::string path;  // a folder of its own; created if it is missing
  Durability durability = Durability::Sync;
  std::chrono::milliseconds sync_interval{5};      // when relaxed
  std::uint64_t block_cache_bytes = 64ULL << 20;   // taken as it fills
  std::uint64_t write_buffer_bytes = 64ULL << 20;  // likewise; changes kept in memory before they become a file
  std::uint64_t value_cache_bytes = 32ULL << 20;   // likewise; values that were read by their key
  int open_files = 512;                            // of its own, at the same time
  // Changes nothing in the folder, which must hold a store: commits fail.  It counts as in use all the same.
  bool read_only = false;
  // Read-only: opens a damaged folder all the same, as far as that can be; what cannot be read fails when it is.
  bool despite_damage = false;
  std::shared_ptr<const Clock> clock = std::make_shared<SystemClock>();  // for its waits
};

// Opens the store in a folder; docs/formats/store.md says what is in there.
//
// Commits happen one after another, each with one write and one sync of the log.  A commit that fails with Storage
// leaves the store read-only until recover(): readers go on with what was committed before, further commits fail at
// once.  Whether the one that failed has taken place is known after recover(), from last_commit(); if it has, then
// whole.  recover() keeps new readers waiting for a moment until all snapshots are gone, and fails if one stays.
//
// A folder that lacks something that was acknowledged is not opened, and not changed: Corruption names the file and the
// way out.  A full disk keeps no folder from being opened: health() tells it, and the store takes what frees space, if
// anything. docs/internals/damage.md tells the whole story. files() freezes the table files by hard links in the folder
// FROZEN, after a flush; commits wait meanwhile, for as long as the last few changes take to be written.  Read-only,
// the files are frozen where they are.
//
// Errors: Usage (the folder is in use, or its format is newer than this program), Storage, Corruption.
Result<std::unique_ptr<Store>> open_rocksdb_store(const RocksDbOptions& options);

}  // namespace stator::storage
