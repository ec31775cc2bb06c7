#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "stator/base/clock.h"
#include "stator/base/mutex.h"
#include "stator/storage/store.h"

namespace stator::storage::postgres {

// Whether a store can be used, and why not.  Thread-safe.
class StoreCondition {
 public:
  explicit StoreCondition(const Clock& clock) : clock_(clock), since_(clock.now()) {}  // outlives it

  void hold_fence(std::int64_t fence) { fence_ = fence; }  // once, before all others
  std::int64_t fence() const { return fence_; }
  // Errors: Storage, if another process has taken over the store.
  Result<void> check_fence(std::int64_t fence);

  // From now on, nothing works any more until the store is opened again.
  Error lose(std::string why, StoreTrouble trouble = StoreTrouble::TakenOver);
  bool is_lost() const { return lost_.load(std::memory_order_acquire); }

  // No commits until recovered().
  Error fail(Error error, bool reached);
  std::optional<std::string> failure() const;  // why it failed, if it did
  void recovered();

  // Readers wait until it is known whether a commit happened.
  void refuse_readers() { readers_refused_.store(true, std::memory_order_release); }
  std::optional<Error> refusal() const;  // why nothing may be read now

  void set_health(StoreHealth health);
  void note_unreachable(const Error& error);
  void note_reached();
  StoreHealth health() const;

  // The server that the first session is connected to.
  void note_host(std::string host);
  // The server, whether it is reachable, and since when.
  struct Server {
    std::string host;
    bool reachable = true;
    WallTime since;
  };
  Server server() const;

 private:
  const Clock& clock_;
  std::int64_t fence_ = 0;
  std::atomic<bool> readers_refused_{false};
  std::atomic<bool> lost_{false};
  std::atomic<bool> unreachable_{false};

  mutable Mutex mutex_;
  StoreHealth health_ GUARDED_BY(mutex_);
  std::optional<std::string> failure_ GUARDED_BY(mutex_);
  std::string host_ GUARDED_BY(mutex_);
  WallTime since_ GUARDED_BY(mutex_);
};

}  // namespace stator::storage::postgres
