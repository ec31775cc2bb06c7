#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "stator/base/mutex.h"

namespace stator {

// A seeded source of random numbers, passed in so that a test can replay a run.  Thread-safe.  Not for secrets.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  static Random from_system();

  std::uint64_t next();
  std::uint64_t below(std::uint64_t bound);  // 0 .. bound - 1; bound > 0
  std::string uuid();                        // version 4, lower case

  Random(Random&& other) noexcept;

 private:
  Mutex mutex_;
  std::uint64_t state_ GUARDED_BY(mutex_);
};

// Random bytes of the kernel, for secrets.
void fill_with_entropy(std::span<unsigned char> bytes);

}  // namespace stator
