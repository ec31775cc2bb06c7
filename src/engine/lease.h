#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "stator/base/clock.h"
#include "stator/base/mutex.h"
#include "stator/base/random.h"
#include "stator/engine/write/committer.h"

namespace stator::engine {

// The right to do the background work of a store (time to live, index builds, trimming).  A commit of such work checks
// that this process has it.
//
//   'c' 'l' -> version:u8 = 1  fence:u64be  until:u64be (microseconds)  holder: 16 bytes
//
// Kept in the store; docs/formats/catalog.md shows an example.
struct LeaseRecord {
  std::uint64_t fence = 0;  // grows by one with each holder
  WallTime until;
  Bytes holder;

  friend bool operator==(const LeaseRecord&, const LeaseRecord&) = default;
  Bytes encode() const;
  static Result<LeaseRecord> decode(BytesView bytes);  // Errors: Corruption
};

// Lets one process at a time do the background work of a store that several processes share.
//
// A process takes the lease for kDuration and renews it in time.  If it is paused for longer, another one takes the
// lease, with the next fence number; the work of the first one then fails in its commit.  Times are those of the clock
// that all processes agree on.  That clock can be set back, as by a failover to another machine.  So a lease also ends
// when a process has seen for kDuration that nobody renews it, whatever time it says.  Where only this process uses the
// store, it always has the lease, and no record is kept. Thread-safe.
class Lease {
 public:
  static constexpr std::chrono::seconds kDuration{6};
  static constexpr std::chrono::seconds kRenewal{3};  // before its end

  Lease(bool shared, Committer& committer, const Clock& clock, Random& random);  // all outlive it

  // Whether this process has it; takes or renews it if that is possible.  May wait for a commit, so not from a callback
  // of the committer.
  bool hold();
  // Gives it back, so that another process need not wait for its end.
  void release();

  // In the execution of a work: nothing, if this process still has it.  Errors: Busy, if it has not; Storage.
  Result<void> check(PendingCommit& commit) const;

 private:
  // Waits for a commit that takes or renews the lease, or gives it back.
  void change(std::chrono::microseconds duration);

  Committer& committer_;
  const Clock& clock_;
  const bool shared_;
  const Bytes holder_;

  mutable Mutex mutex_;
  std::uint64_t fence_ GUARDED_BY(mutex_) = 0;  // of our turn; 0: it is not ours
  WallTime until_ GUARDED_BY(mutex_){};         // of the process that has it
  // The lease of another process, and since when it has not been renewed, by this machine's clock.
  std::optional<LeaseRecord> seen_ GUARDED_BY(mutex_);
  SteadyTime seen_since_ GUARDED_BY(mutex_){};
  bool changing_ GUARDED_BY(mutex_) = false;  // somebody waits for the commit that changes it
};

}  // namespace stator::engine
