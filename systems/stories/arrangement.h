#pragma once

#include <cstdint>
#include <vector>

namespace stator::systems::stories {

inline constexpr std::int64_t kPositionStep = 100;
inline constexpr std::int64_t kLastPosition = 9'999'999'999;  // limited by the digits in the key

// New positions for nodes, in the wanted order, from their current positions.  The new positions are ascending, and as
// few as possible differ.  Nodes that are already in order keep their position, and the others go into the gaps.  If a
// gap is too small, all nodes get a new position.
std::vector<std::int64_t> arrange(const std::vector<std::int64_t>& current);

}  // namespace stator::systems::stories
