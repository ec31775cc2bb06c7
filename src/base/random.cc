#include "stator/base/random.h"

#include <fmt/format.h>

#include <random>

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
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xFFFF, high & 0xFFFF, low >> 48,
                     low & 0xFFFF'FFFF'FFFFULL);
}

}  // namespace stator
