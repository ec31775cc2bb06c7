#pragma once

#include <cstdint>
#include <vector>

namespace stator::systems::stories {

inline constexpr std::int64_t kPositionStep = 100;
inline constexpr std::int64_t kLastPosition = 9'999'999'999;  // what the key has digits for

// New positions for nodes that are to stand in the order of this list, given where each stands now: growing, and as few of them changed
// as possible.  Whoever stands right among the others stays; the rest goes into the gaps.  Only where a gap is too narrow does everybody
// get a new position.
std::vector<std::int64_t> arrange(const std::vector<std::int64_t>& current);

}  // namespace stator::systems::stories
