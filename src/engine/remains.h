#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "stator/engine/background_thread.h"
#include "stator/engine/catalog.h"
#include "stator/engine/lease.h"
#include "stator/engine/write/committer.h"

// The remains of deleted tables and indexes in a store that erases key by key.
//
//   'c' 'r' table:u32be index:u16be -> version:u8 = 1
//
// A table or index is gone with one commit, which also puts such a record for each of its indexes.  Their records are
// erased later, a few at a time.  No request reads them meanwhile: ids are not used again.
namespace stator::engine {

struct Remains {
  TableId table;
  IndexId index;  // kBaseIndex: also the sizes of item collections, and the expiries

  static std::optional<Remains> from_key(BytesView key);
  std::vector<storage::KeyRange> ranges() const;
  friend auto operator<=>(const Remains&, const Remains&) = default;
};

// Erases all keys of a table or index, or leaves that to RemainsEraser, as the store needs it.
void erase_table(PendingCommit& commit, const Table& table);
void erase_index(PendingCommit& commit, TableId table, IndexId index);

// Erases remains in the background, in the process that has the lease: each chunk is a work of its own in the
// committer, which checks the lease and that the remains are still to be erased.
//
// Thread-safe.  Owns one thread, joined by stop() or the destructor.
class RemainsEraser {
 public:
  // `catch_up` makes the catalog current.  All outlive the eraser.
  RemainsEraser(const storage::Store& store, const Catalog& catalog, Committer& committer, Lease& lease,
                std::function<Result<void>()> catch_up);

  // Looks for remains in this snapshot, and erases them, sooner or later.  Errors: Storage.
  void look(const storage::Snapshot& snapshot);
  // Starts the thread if the system had none for it when it was needed.
  void try_again() { thread_.try_again(); }
  // Stops between two chunks; the next start continues with the rest.
  void stop() { thread_.stop(); }

 private:
  static constexpr std::size_t kChunkKeys = 256;  // a few milliseconds of a commit
  static constexpr std::size_t kChunks = 8;       // read at once

  // Erases what there is; false if that cannot be now.
  bool erase_now();
  enum class Outcome : std::uint8_t { Done, NotOurs };
  // NotOurs: another process has the lease, and erases.  Errors: Storage, ReadOnly: worth another try.
  Result<Outcome> erase_all();
  Result<Outcome> erase(const Remains& remains);
  Result<Outcome> erase_range(const Remains& remains, storage::KeyRange rest);
  // Whether the remains are still to be erased.
  Result<bool> commit(const Remains& remains, std::optional<storage::KeyRange> chunk);

  const storage::Store& store_;
  const Catalog& catalog_;
  Committer& committer_;
  Lease& lease_;
  const std::function<Result<void>()> catch_up_;

  std::string told_;  // the last cause why it could not be: it is tried each second.  Confined to the thread

  BackgroundThread thread_;  // last: it uses everything above
};

}  // namespace stator::engine
