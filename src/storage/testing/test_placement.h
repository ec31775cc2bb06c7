#pragma once

#include <numeric>

#include "stator/storage/placement.h"

namespace stator::storage::testing {

// Spreads the keys of the contract's tests over lanes.
//
//   counter..., n, commits       a part in each lane
//   log...                       lane 0
//   i 00 00 00 01 00 00 byte...  by the byte, in its order
//   others                       by the sum of their bytes
class TestPlacement final : public Placement {
 public:
  static BytesView ordered_prefix() { return {"i\0\0\0\x01\0\0", 7}; }

  std::optional<std::uint32_t> lane_of(BytesView key, std::uint32_t lanes) const override {
    if (key.starts_with("counter") || key == "n" || key == "commits") return std::nullopt;
    if (key.starts_with("log")) return 0;
    if (key.starts_with(ordered_prefix())) return ordered_lane(key, lanes);
    const auto sum = std::accumulate(key.begin(), key.end(), 0U, [](unsigned so_far, char byte) {
      return so_far + static_cast<unsigned char>(byte);
    });
    return sum % (lanes + 1);
  }

  LaneRange lanes_of(const KeyRange& range, std::uint32_t lanes) const override {
    if (range.begin.starts_with("log") && !range.end.empty() && range.end <= "loh") return {};
    const auto prefix = ordered_prefix();
    const bool to_end = range.end == prefix_end(prefix);
    if (!range.begin.starts_with(prefix) || (!to_end && !range.end.starts_with(prefix)) || range.end <= range.begin) {
      return {.first = 0, .last = lanes, .in_key_order = false};
    }
    return {.first = ordered_lane(range.begin, lanes), .last = to_end ? lanes : ordered_lane(range.end, lanes)};
  }

 private:
  static std::uint32_t ordered_lane(BytesView key, std::uint32_t lanes) {
    const auto at = ordered_prefix().size();
    return 1 + (key.size() > at ? static_cast<unsigned char>(key[at]) : 0U) * lanes / 256;
  }
};

}  // namespace stator::storage::testing
