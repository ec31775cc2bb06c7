#include "stator/expr/cache.h"

#include <functional>
#include <utility>

namespace stator::expr {

namespace {

// A list node, a hash node and its bucket, about.
constexpr std::size_t kEntryOverheadBytes = 160;

}  // namespace

Cache::Cache(std::size_t max_bytes) : max_bytes_per_shard_(max_bytes / (kKinds * kShardsPerKind)) {}

Cache::Shard& Cache::shard_of(Kind kind, std::string_view text) {
  return shards_[static_cast<std::size_t>(kind) * kShardsPerKind +
                 std::hash<std::string_view>{}(text) % kShardsPerKind];
}

std::shared_ptr<const Tree> Cache::find(Kind kind, std::string_view text) {
  Shard& shard = shard_of(kind, text);
  const MutexLock lock(shard.mutex);
  const auto found = shard.by_text.find(text);
  if (found == shard.by_text.end()) return nullptr;
  shard.entries.splice(shard.entries.begin(), shard.entries, found->second);
  return found->second->tree;
}

void Cache::insert(std::string_view text, std::shared_ptr<const Tree> tree) {
  const std::size_t bytes = tree->memory_bytes() + text.size() + kEntryOverheadBytes;
  if (bytes > max_bytes_per_shard_) return;
  Shard& shard = shard_of(tree->kind, text);
  const MutexLock lock(shard.mutex);
  if (shard.by_text.contains(text)) return;  // another thread parsed it meanwhile
  while (shard.bytes + bytes > max_bytes_per_shard_) {
    const Entry& oldest = shard.entries.back();
    shard.bytes -= oldest.bytes;
    shard.by_text.erase(oldest.text);
    shard.entries.pop_back();
  }
  shard.entries.push_front({std::string(text), std::move(tree), bytes});
  shard.by_text.emplace(shard.entries.front().text, shard.entries.begin());
  shard.bytes += bytes;
}

std::size_t Cache::trees() const {
  std::size_t total = 0;
  for (const Shard& shard : shards_) {
    const MutexLock lock(shard.mutex);
    total += shard.entries.size();
  }
  return total;
}

std::size_t Cache::bytes() const {
  std::size_t total = 0;
  for (const Shard& shard : shards_) {
    const MutexLock lock(shard.mutex);
    total += shard.bytes;
  }
  return total;
}

}  // namespace stator::expr
