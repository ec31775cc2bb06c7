#include "stator/systems/stories/arrangement.h"

#include <algorithm>
#include <optional>

namespace stator::systems::stories {
namespace {

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

// The places of a longest strictly growing subsequence.
std::vector<std::size_t> longest_growing(const std::vector<std::int64_t>& values) {
  std::vector<std::size_t> ends;  // ends[n]: the place of the smallest value that ends a growing subsequence of n + 1
  std::vector<std::size_t> before(values.size(), kNowhere);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto end = std::lower_bound(ends.begin(), ends.end(), values[i],
                                      [&](std::size_t place, std::int64_t value) { return values[place] < value; });
    if (end != ends.begin()) before[i] = *(end - 1);
    if (end == ends.end()) {
      ends.push_back(i);
    } else {
      *end = i;
    }
  }
  std::vector<std::size_t> places;
  for (auto place = ends.empty() ? kNowhere : ends.back(); place != kNowhere; place = before[place])
    places.push_back(place);
  std::reverse(places.begin(), places.end());
  return places;
}

std::vector<std::int64_t> renumbered(std::size_t count) {
  std::vector<std::int64_t> positions;
  for (std::size_t i = 1; i <= count; ++i) positions.push_back(static_cast<std::int64_t>(i) * kPositionStep);
  return positions;
}

// Spreads positions[begin, end) evenly between two that stay.  False when there is no room.
bool fill_gap(std::vector<std::int64_t>& positions, std::size_t begin, std::size_t end, std::int64_t low,
              std::int64_t high) {
  const auto count = static_cast<std::int64_t>(end - begin);
  if (high - low - 1 < count) return false;
  for (std::int64_t i = 0; i < count; ++i) {
    positions[begin + static_cast<std::size_t>(i)] = low + (high - low) * (i + 1) / (count + 1);
  }
  return true;
}

}  // namespace

std::vector<std::int64_t> arrange(const std::vector<std::int64_t>& current) {
  auto positions = current;
  const auto stay = longest_growing(current);
  std::size_t next = 0;  // the first place behind the last that stays
  std::int64_t low = -1;
  for (const auto place : stay) {
    if (!fill_gap(positions, next, place, low, current[place])) return renumbered(current.size());
    low = current[place];
    next = place + 1;
  }
  const auto rest = static_cast<std::int64_t>(current.size() - next);
  const auto end = std::min(low + (rest + 1) * kPositionStep, kLastPosition + 1);
  if (!fill_gap(positions, next, current.size(), low, end)) return renumbered(current.size());
  return positions;
}

}  // namespace stator::systems::stories
