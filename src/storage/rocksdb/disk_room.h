#pragma once

#include <cstdint>
#include <string>

namespace stator::storage {

// How a store shares out the room that a disk has for it.
//
// On a full disk a delete needs room in the log.  To give room back, everything in the log has to be flushed, which is
// at most two write buffers.  So two write buffers have to fit into the reserve, and on a small disk they are smaller.
// A disk with some gigabytes has room for everything at its usual size.
struct DiskRoom {
  // Below this, the promises for a full disk do not hold: the files that are always there leave too little.
  static constexpr std::uint64_t kLeast = 8ULL << 20;
  // The least space for deletes, if there is no reserve.
  static constexpr std::uint64_t kLeastReserve = 128ULL << 10;

  std::uint64_t bytes = 0;                // free, and used by the folder already
  std::uint64_t write_buffer = 0;         // of RocksDB
  std::uint64_t table_file = 0;           // size of one, so that a compaction of a part needs little room
  std::uint64_t reserve = 0;              // set aside for deletes
  std::uint64_t compaction_headroom = 0;  // left free by a flush or a compaction on a full disk
  std::uint64_t recovery_headroom = 0;  // free beyond the size of the log, before a full store is opened for all writes

  static DiskRoom of(std::uint64_t bytes, std::uint64_t write_buffer);  // `write_buffer`: the wanted one
  // A disk that does not tell its free space is taken to have room for everything.
  static DiskRoom in(const std::string& folder, std::uint64_t write_buffer);
};

}  // namespace stator::storage
