#pragma once

#include <cstdint>
#include <optional>

#include "stator/base/bytes.h"
#include "stator/storage/store.h"

namespace stator::storage {

// The lanes from `first` to `last`.
struct LaneRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  bool in_key_order = true;  // the keys of each lane are before those of the next one
};

// Spreads the keys of a store over lanes, so that commits that have no lane in common do not wait for each other.
//
// A store with one lane has lane 0.  A store with more, `lanes`, has lanes 1 to `lanes` for keys that can be spread,
// and lane 0 for the others.  The layout of keys is known to the author of the keys, and the store asks for it.  The
// answers for a key never change, because its place is stored.  Thread-safe.
class Placement {
 public:
  virtual ~Placement() = default;
  // nullopt: a counter that has a part in each lane, so that an Add needs no lane of its own; reading adds them up.
  // The bytes of a sequence (Batch::put_sequenced) make no difference.
  virtual std::optional<std::uint32_t> lane_of(BytesView key, std::uint32_t lanes) const = 0;
  // All lanes that keys of the range can be in.
  virtual LaneRange lanes_of(const KeyRange& range, std::uint32_t lanes) const = 0;
};

}  // namespace stator::storage
