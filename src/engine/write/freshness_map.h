#pragma once

#include <array>
#include <atomic>
#include <cstdint>

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
  static constexpr std::size_t kSlots = 1 << 14;
  struct Slot {
    std::uint64_t commit = 0;      // the last that wrote here
    std::uint32_t last_write = 0;  // in that commit, the newest of PendingCommit::writes_
  };
  Slot& slot(BytesView key);

  std::atomic<std::uint64_t> visible_{0};
  std::array<Slot, kSlots> slots_{};  // only the thread that commits touches them
};

}  // namespace stator::engine
