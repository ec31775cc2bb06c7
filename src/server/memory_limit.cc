#include "stator/server/memory_limit.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <sstream>

namespace stator::server {
namespace {

constexpr std::uint64_t kMega = 1 << 20;
constexpr std::uint64_t kProgramBytes = 24 * kMega;  // code, threads, buffers of connections: whatever the limit is
constexpr std::uint64_t kMostWriteBuffer = 128 * kMega;

// The memory that is divided among caches, data and requests.
std::uint64_t shared_memory(std::uint64_t limit) { return limit - std::min(limit / 2, kProgramBytes); }

std::optional<std::uint64_t> read_number(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  if (!(file >> number)) return std::nullopt;  // missing, or "max"
  return number;
}

// A group's limit holds for the groups within it, so the smallest on the way up to the root counts.
std::uint64_t smallest_limit(const std::string& mount, std::string group, std::string_view file) {
  auto smallest = std::numeric_limits<std::uint64_t>::max();
  for (;;) {
    if (const auto limit = read_number(mount + group + "/" + std::string(file))) smallest = std::min(smallest, *limit);
    const auto slash = group.rfind('/');
    if (slash == std::string::npos) return smallest;
    group.resize(slash);
  }
}

// Lines such as "0::/user.slice" (v2) and "4:memory:/docker/abc" (v1).
std::uint64_t cgroup_limit(const std::string& root) {
  auto smallest = std::numeric_limits<std::uint64_t>::max();
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const auto controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    auto group = line.substr(second + 1);
    if (group == "/") group.clear();
    if (controllers == ",,") {
      smallest = std::min(smallest, smallest_limit(root + "/sys/fs/cgroup", group, "memory.max"));
    } else if (controllers.find(",memory,") != std::string::npos) {
      smallest = std::min(smallest, smallest_limit(root + "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
    }
  }
  return smallest;
}

std::uint64_t machine_memory(const std::string& root) {
  std::ifstream file(root + "/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t kilobytes = 0;
    if (words >> name >> kilobytes && name == "MemTotal:") return kilobytes * 1024;
  }
  return 0;
}

}  // namespace

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const int shift = unit.empty() ? 0 : unit == "KB" ? 10 : unit == "MB" ? 20 : unit == "GB" ? 30 : -1;
  if (shift < 0 || number > (std::numeric_limits<std::uint64_t>::max() >> shift)) return std::nullopt;
  return number << shift;
}

std::uint64_t available_memory(const std::string& root) {
  const auto machine = machine_memory(root);
  const auto container = cgroup_limit(root);
  return machine == 0 && container == std::numeric_limits<std::uint64_t>::max()
             ? 0
             : std::min(machine == 0 ? container : machine, container);
}

std::uint64_t most_cache(std::uint64_t limit) { return shared_memory(limit) / 4 * 3; }

// A quarter of what requests could have is left for what an allocator loses between blocks.
MemoryPlan plan_memory(std::uint64_t limit, std::optional<std::uint64_t> cache_size) {
  const auto shared = shared_memory(limit);
  const auto cache = std::min(cache_size.value_or(shared / 2), most_cache(limit));
  // Larger buffers are written to disk less often, and take longer to read back from the log after a crash.
  const auto write_buffer = std::min(kMostWriteBuffer, cache / 12);
  // Keys in the range cache need no blocks.  Blocks are for keys that were not read before.
  const auto range_cache = (cache - 3 * write_buffer) / 4 * 3;
  return {.limit = limit,
          .requests = (shared - cache) / 4 * 3,
          .data = shared / 2,
          .block_cache = cache - 3 * write_buffer - range_cache,
          .write_buffer = write_buffer,
          .range_cache = range_cache};
}

}  // namespace stator::server
