#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace stator::storage {

// The hashes of keys that were looked for lately, and not found in a cache, and how often.  A key is forgotten some
// time after it was missed last, when newer ones need its place.  Thread-safe; threads that note keys at the same time
// may lose one.
class MissedKeys {
 public:
  explicit MissedKeys(std::size_t keys)
      : buckets_(std::bit_ceil(std::max<std::size_t>(keys / kWays, 1))),
        slots_(std::make_unique<std::atomic<std::uint32_t>[]>(buckets_ * kWays)) {}

  // How often it was missed lately: 0 to 3.
  unsigned count(std::uint64_t hash) const {
    const auto* bucket = bucket_of(hash);
    for (std::size_t i = 0; i < kWays; ++i) {
      if (const auto slot = bucket[i].load(std::memory_order_relaxed); (slot & ~kMost) == print(hash))
        return slot & kMost;
    }
    return 0;
  }
  // The same before this time, which is counted.
  unsigned note(std::uint64_t hash) {
    auto* bucket = bucket_of(hash);
    for (std::size_t i = 0; i < kWays; ++i) {
      const auto slot = bucket[i].load(std::memory_order_relaxed);
      if ((slot & ~kMost) != print(hash)) continue;
      const auto before = slot & kMost;
      if (before < kMost) bucket[i].store(print(hash) | (before + 1), std::memory_order_relaxed);
      return before;
    }
    for (std::size_t i = kWays - 1; i > 0; --i) {
      bucket[i].store(bucket[i - 1].load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
    bucket[0].store(print(hash) | 1, std::memory_order_relaxed);
    return 0;
  }

 private:
  // Keys that are missed in turns must not drive each other out of one place.
  static constexpr std::size_t kWays = 4;
  static constexpr std::uint32_t kMost = 3;

  // A slot: the upper 30 bits of the hash, and the number.
  static std::uint32_t print(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32) & ~kMost; }
  std::atomic<std::uint32_t>* bucket_of(std::uint64_t hash) const {
    return slots_.get() + (hash & (buckets_ - 1)) * kWays;
  }

  const std::size_t buckets_;
  const std::unique_ptr<std::atomic<std::uint32_t>[]> slots_;
};

}  // namespace stator::storage
