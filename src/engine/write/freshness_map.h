#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "stator/base/bytes.h"

namespace stator::engine {

// Tells whether something read ahead is still true, without reading it again: for each slot of key hashes, the number
// of the last commit that wrote there.  Bounded; two keys in one slot only cost a second read.  Thread-safe.
class FreshnessMap {
 public:
  // Ask before reading; hand the answer to PendingCommit::is_fresh together with the value that was read.
  std::uint64_t now() const { return visible_.load(std::memory_order_acquire); }

 private:
  friend class PendingCommit;
  friend class Committer;
  // Many more than the keys that are planned and not yet committed, which are thousands when many batches wait.
  static constexpr std::size_t kSlots = 1 << 16;
  struct Slot {
    std::uint64_t commit;      // the last that wrote here
    std::uint32_t last_write;  // in that commit, the newest of PendingCommit::writes_
  };
  struct Free {
    void operator()(Slot* slots) const { std::free(slots); }
  };
  static Slot* new_slots() {
    auto* const slots = static_cast<Slot*>(std::calloc(kSlots, sizeof(Slot)));
    if (slots == nullptr) throw std::bad_alloc();
    return slots;
  }
  Slot& slot(BytesView key);

  std::atomic<std::uint64_t> visible_{0};
  // Only the thread that commits touches them.  Of these zeros, only those that were used take memory.
  const std::unique_ptr<Slot[], Free> slots_{new_slots()};
};

}  // namespace stator::engine
