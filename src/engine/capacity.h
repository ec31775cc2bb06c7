#pragma once

#include <cstddef>
#include <cstdint>

// DynamoDB's arithmetic of capacity units.
namespace stator::engine {

inline constexpr std::size_t kReadUnitBytes = 4096;
inline constexpr std::size_t kWriteUnitBytes = 1024;

inline std::uint64_t round_up_units(std::size_t bytes, std::size_t unit) {
  return bytes == 0 ? 1 : (bytes + unit - 1) / unit;
}

// One read of that many bytes: a unit per 4 KB, half of it when the read need not be consistent; reading nothing costs
// as much as reading one byte.
inline double read_units(std::size_t bytes, bool consistent) {
  const auto units = static_cast<double>(round_up_units(bytes, kReadUnitBytes));
  return consistent ? units : units / 2;
}

// One write: a unit per 1 KB.
inline double write_units(std::size_t bytes) { return static_cast<double>(round_up_units(bytes, kWriteUnitBytes)); }

}  // namespace stator::engine
