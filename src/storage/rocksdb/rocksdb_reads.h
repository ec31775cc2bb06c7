#pragma once

#include <rocksdb/db.h>

#include <atomic>
#include <memory>
#include <optional>

#include "stator/storage/rocksdb/failure_listener.h"
#include "stator/storage/store.h"

// Reading from a database: single keys, ranges, and both as of one moment.
namespace stator::storage {

// Keys below it are ours.
inline constexpr BytesView kFirstUserKey("\x01", 1);

inline rocksdb::Slice slice(BytesView bytes) { return {bytes.data(), bytes.size()}; }
inline BytesView view(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

// `db` may be null: the store could not be reopened after a failure.  `listener` is told when damage is found.
Result<std::optional<Bytes>> read(rocksdb::DB* db, const rocksdb::Snapshot* snapshot, BytesView key,
                                  FailureListener& listener);

// Counts itself in `open_snapshots`, already raised by the caller, until it is destroyed.
std::unique_ptr<Snapshot> take_snapshot(rocksdb::DB* db, std::atomic<std::size_t>& open_snapshots,
                                        FailureListener& listener);

}  // namespace stator::storage
