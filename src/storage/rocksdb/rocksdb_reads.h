#pragma once

#include <rocksdb/db.h>

#include <atomic>
#include <memory>

#include "stator/storage/rocksdb/cache/interval_key.h"
#include "stator/storage/rocksdb/failure_listener.h"
#include "stator/storage/store.h"

// Reading from a database as of one moment: single keys and ranges.
namespace stator::storage {

inline rocksdb::Slice slice(BytesView bytes) { return {bytes.data(), bytes.size()}; }
inline BytesView view(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

// Counts itself in `open_snapshots` until it is destroyed.  `listener` is told when damage is found.
std::shared_ptr<const Snapshot> take_snapshot(rocksdb::DB& db, std::atomic<std::size_t>& open_snapshots,
                                              FailureListener& listener);

}  // namespace stator::storage
