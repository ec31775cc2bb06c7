#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stator::console {

// Which partitions get the most requests, in a fixed amount of memory (the algorithm "space saving").
//
// There are kCounters counters.  A partition without one takes over the smallest, with its count: a partition that has
// more than 1/kCounters of all requests is always among them, and its count is never too low.  Not thread-safe.
class HotPartitions {
 public:
  static constexpr std::size_t kCounters = 256;
  static constexpr std::size_t kMostKeyBytes = 256;  // a longer partition key is counted by its beginning

  struct Entry {
    std::string table, partition;
    std::uint64_t requests = 0;
  };

  void count(std::string_view table, std::string_view partition);
  std::vector<Entry> top(std::size_t most) const;  // the hottest first
  void clear();

 private:
  using Key = std::pair<std::string, std::string>;  // table and partition

  std::map<Key, std::uint64_t> counts_;
  std::multimap<std::uint64_t, const Key*> by_count_;  // the keys are in counts_
};

}  // namespace stator::console
