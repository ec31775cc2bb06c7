#pragma once

#include <deque>
#include <functional>

#include "stator/base/mutex.h"
#include "stator/engine/background_thread.h"
#include "stator/engine/catalog.h"
#include "stator/engine/lease.h"
#include "stator/engine/write/committer.h"

namespace stator::engine {

// Fills indexes that were added to a table with items, while it is being written to.
//
// From the commit that adds an index, every write keeps it (see plan_index).  The builder walks the items that were
// there before, a few at a time, and works out their entries: each chunk is a work of its own in the committer, which
// looks again at those that were written meanwhile, adds the entries that are missing, and notes how far it came.  So a
// chunk and a write never overlap, a restart goes on where it stopped, and when the walk is over the index holds
// exactly what it should.  Then it may be read.
//
// Thread-safe.  Owns one thread, joined by stop() or the destructor.
class IndexBuilder {
 public:
  // `catch_up` makes the catalog current.  All outlive the builder.
  IndexBuilder(const storage::Store& store, Catalog& catalog, Committer& committer, Lease& lease,
               std::function<Result<void>()> catch_up);

  // Builds the unfinished indexes of this table, sooner or later.
  void build(TableId table);
  // Starts the thread if the system had none for it when it was needed.
  void try_again() { thread_.try_again(); }
  // Stops between two chunks; the next start continues with unfinished indexes.
  void stop() { thread_.stop(); }

 private:
  static constexpr std::size_t kChunkItems = 128;

  // Builds what is in the queue, up to a table that cannot be built now; then false.
  bool build_queue();
  enum class Outcome : std::uint8_t { Done, NotOurs };
  // NotOurs: another process has the lease, and builds.  Errors: Storage, ReadOnly: worth another try.
  Result<Outcome> build_table(TableId table);
  Result<Outcome> build_index(const Table& table, const Index& index);

  const storage::Store& store_;
  Catalog& catalog_;
  Committer& committer_;
  Lease& lease_;
  const std::function<Result<void>()> catch_up_;

  Mutex mutex_;
  std::deque<TableId> queue_ GUARDED_BY(mutex_);

  BackgroundThread thread_;  // last: it uses everything above
};

}  // namespace stator::engine
