#pragma once

#include <atomic>
#include <cstddef>

namespace stator {

// Two threads never write to the same cache line where their data is that far apart.
inline constexpr std::size_t kCacheLine = 64;

// A number of the calling thread, from 0 on in the order in which threads ask: for data that each thread, or each of a
// few groups of threads, has for itself.
inline std::size_t number_of_this_thread() {
  static std::atomic<std::size_t> next{0};
  thread_local const std::size_t mine = next.fetch_add(1, std::memory_order_relaxed);
  return mine;
}

}  // namespace stator
