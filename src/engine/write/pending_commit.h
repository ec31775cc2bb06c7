#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "stator/base/clock.h"
#include "stator/base/result.h"
#include "stator/engine/keyspace.h"
#include "stator/engine/write/freshness_map.h"
#include "stator/storage/store.h"

namespace stator::engine {

// The commit being put together: the changes of the works before this one in the group, on top of the store.
// Used by one thread at a time.
class PendingCommit {
 public:
  // `reads_written`: also reads values that are written and not published; a work that reads them is answered after
  // they are published.
  PendingCommit(storage::Store& store, FreshnessMap& freshness, std::uint64_t number, WallTime time,
                bool reads_written);

  WallTime time() const { return time_; }
  bool empty() const { return batch_.empty() && statistics_.empty(); }
  std::size_t size_bytes() const { return size_bytes_; }

  // Whether `key` still has the value that it had when FreshnessMap::now() answered `seen`.
  bool is_fresh(BytesView key, std::uint64_t seen) const;
  // The value at `key` as this commit will leave it.
  Result<std::optional<Bytes>> get(BytesView key);
  // Whether other processes write to the store.
  bool is_shared() const { return shared_; }
  // Whether erase_range() takes time for each key, so that large ranges are erased in pieces.
  bool erases_key_by_key() const { return shared_ && store_.capabilities().erases_key_by_key; }
  // Reads keys that get() and counter() will be asked for: in one step where each would be a question to a server.
  // Without effect on a store that only this process uses.
  Result<void> read_ahead(const std::vector<KeyBytes>& keys);
  std::size_t bytes_ahead() const { return bytes_ahead_; }  // of the values that it has found
  // Another process has changed the catalog since this commit began: all that was executed is void.
  bool is_outdated() const { return outdated_ || store_.epoch() != batch_.epoch(); }
  // A counter as this commit will leave it.  On a shared store others may change it meanwhile: nothing depends on it,
  // since adds commute.
  Result<std::int64_t> counter(BytesView key) const;
  // The greatest id of a table that the store has items of; 0 when it has none.
  Result<std::int64_t> greatest_table_with_items() const;

  void put(KeyBytes key, Bytes value);
  void erase(KeyBytes key);
  void erase_range(storage::KeyRange range);  // no later work in the group may read it: catalog changes, trimming
  void add(KeyBytes counter, std::int64_t delta);
  void add_statistics(TableId table, IndexId index, std::int64_t items, std::int64_t bytes);
  // Appends a change of an item with that hash to the change log of a table.
  void append_change(TableId table, std::uint64_t hash, Bytes record);
  void put_sequenced(KeyBytes key, std::size_t sequence_at, Bytes value);
  // Changes the catalog, which all processes that share the store keep in memory.
  void begin_epoch() { batch_.begins_epoch(); }
  // Orders all lanes of the store: every commit before it has a smaller number, every later one a greater number.
  void make_barrier() { batch_.make_barrier(); }
  // Stores the time of this commit, so that a commit can be found by its time.  Once.
  void note_time();
  // Whether its number says something about all commits before it.
  bool is_barrier() const { return lanes_ == 1 || batch_.is_barrier(); }

  // Everything, as one batch for the store.
  storage::Batch take_batch();

 private:
  // A put or an erase, in a chain of those with keys of one slot, so that get() need not look through the whole batch.
  struct Write {
    std::size_t operation;   // in the batch
    std::uint32_t previous;  // in writes_
  };
  static constexpr std::uint32_t kNoWrite = UINT32_MAX;

  // The value in the store.
  Result<std::optional<Bytes>> read(BytesView key) const;
  // The operation that is about to be added to the batch writes `key`.
  void note_write(BytesView key);

  storage::Store& store_;
  FreshnessMap& freshness_;
  const std::uint64_t number_;
  const WallTime time_;
  const bool shared_;
  const std::uint32_t lanes_;  // of the store
  const bool reads_written_;

  storage::Batch batch_;
  std::map<Bytes, std::optional<Bytes>, std::less<>> ahead_;  // what read_ahead() has found
  std::size_t bytes_ahead_ = 0;
  mutable bool outdated_ = false;
  std::vector<Write> writes_;
  struct Delta {
    TableId table;
    IndexId index;
    std::int64_t items, bytes;
  };
  std::vector<Delta> statistics_;
  std::map<Bytes, std::int64_t, std::less<>> added_;  // what add() was called with
  std::uint32_t next_ordinal_ = 0;
  bool time_noted_ = false;
  std::size_t size_bytes_ = 0;
};

}  // namespace stator::engine
