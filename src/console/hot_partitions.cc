#include "stator/console/hot_partitions.h"

#include <algorithm>
#include <utility>

namespace stator::console {

void HotPartitions::count(std::string_view table, std::string_view partition) {
  Key key(table, partition.substr(0, kMostKeyBytes));
  auto found = counts_.find(key);
  std::uint64_t before = 0;
  if (found != counts_.end()) {
    before = found->second;
    const auto [begin, end] = by_count_.equal_range(before);
    by_count_.erase(std::find_if(begin, end, [&](const auto& each) { return each.second == &found->first; }));
  } else if (counts_.size() >= kCounters) {
    const auto smallest = by_count_.begin();
    before = smallest->first;
    counts_.erase(counts_.find(*smallest->second));
    by_count_.erase(smallest);
  }
  if (found == counts_.end()) found = counts_.emplace(std::move(key), 0).first;
  found->second = before + 1;
  by_count_.emplace(before + 1, &found->first);
}

std::vector<HotPartitions::Entry> HotPartitions::top(std::size_t most) const {
  std::vector<Entry> entries;
  for (auto at = by_count_.rbegin(); at != by_count_.rend() && entries.size() < most; ++at) {
    entries.push_back({.table = at->second->first, .partition = at->second->second, .requests = at->first});
  }
  return entries;
}

void HotPartitions::clear() {
  by_count_.clear();
  counts_.clear();
}

}  // namespace stator::console
