#include "stator/base/random.h"

#include <unistd.h>

#include <algorithm>
#include <random>

#include "stator/base/assert.h"

namespace stator {

Random Random::from_system() {
  std::random_device device;
  return Random((static_cast<std::uint64_t>(device()) << 32) | device());
}

Random::Random(Random&& other) noexcept {
  MutexLock lock(other.mutex_);
  state_ = other.state_;
}

std::uint64_t Random::next() {
  // splitmix64: every seed gives a full-period sequence, and one word is all the state there is.
  MutexLock lock(mutex_);
  std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

std::uint64_t Random::below(std::uint64_t bound) {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
}

std::string Random::uuid() {
  const std::uint64_t high = (next() & ~0xF000ULL) | 0x4000ULL;
  const std::uint64_t low = (next() & ~(3ULL << 62)) | (2ULL << 62);
  std::string text(36, '-');
  std::size_t at = 0;
  for (const auto word : {high, low}) {
    for (int shift = 60; shift >= 0; shift -= 4) {
      if (at == 8 || at == 13 || at == 18 || at == 23) ++at;
      text[at++] = "0123456789abcdef"[(word >> shift) & 0xF];
    }
  }
  return text;
}

void fill_with_entropy(std::span<unsigned char> bytes) {
  constexpr std::size_t kAtOnce = 256;  // getentropy() gives no more
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(kAtOnce, bytes.size()));
    STATOR_ASSERT(::getentropy(part.data(), part.size()) == 0,
                  "the kernel gives so many random bytes to every process");
    bytes = bytes.subspan(part.size());
  }
}

}  // namespace stator
