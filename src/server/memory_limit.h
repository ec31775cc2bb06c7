#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stator::server {

// "512MB", "2GB", or a plain number of bytes.  Nothing when it is not a size.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

// The memory that this process may use: the machine's memory, or less where a container (cgroup v1 or v2) has less.  0
// when it is not known.  `root` stands for "/", so that a test can be any machine.
std::uint64_t available_memory(const std::string& root = "");

// The least memory_limit that holds: with less, a single large request takes more than its share, or cannot be
// worked on at all.
inline constexpr std::uint64_t kLeastMemoryLimit = 192ULL << 20;

// memory_limit, or by default half of the available memory, and its division.
struct MemoryPlan {
  std::uint64_t limit = 0;
  std::uint64_t requests = 0;      // for requests
  std::uint64_t data = 0;          // items, when they are kept in memory
  std::uint64_t block_cache = 0;   // of a store on disk
  std::uint64_t write_buffer = 0;  // likewise; there are up to three
  std::uint64_t range_cache = 0;   // likewise
};
// `cache_size`: caches and write buffers together, at most most_cache(); by default half.  Requests get less if
// the caches get more.
MemoryPlan plan_memory(std::uint64_t limit, std::optional<std::uint64_t> cache_size = {});

inline constexpr std::uint64_t kLeastCache = 16ULL << 20;
std::uint64_t most_cache(std::uint64_t limit);

}  // namespace stator::server
