#include "stator/expr/cache.h"

#include <algorithm>

namespace stator::expr {

namespace {

std::string key_of(Kind kind, std::string_view text) {
  std::string key;
  key.reserve(text.size() + 1);
  key += static_cast<char>(kind);
  key += text;
  return key;
}

}  // namespace

Cache::Cache(std::size_t max_trees) : max_per_shard_(std::max<std::size_t>(1, max_trees / kShards)) {}

Cache::Shard& Cache::shard_of(std::string_view key) { return shards_[std::hash<std::string_view>{}(key) % kShards]; }

std::shared_ptr<const Tree> Cache::find(Kind kind, std::string_view text) {
  const std::string key = key_of(kind, text);
  Shard& shard = shard_of(key);
  const MutexLock lock(shard.mutex);
  const auto found = shard.by_key.find(key);
  if (found == shard.by_key.end()) return nullptr;
  shard.entries.splice(shard.entries.begin(), shard.entries, found->second);
  return found->second->tree;
}

void Cache::insert(Kind kind, std::string_view text, std::shared_ptr<const Tree> tree) {
  std::string key = key_of(kind, text);
  Shard& shard = shard_of(key);
  const MutexLock lock(shard.mutex);
  if (shard.by_key.contains(key)) return;  // another thread parsed the same text meanwhile
  if (shard.entries.size() >= max_per_shard_) {
    shard.by_key.erase(shard.entries.back().key);
    shard.entries.pop_back();
  }
  shard.entries.push_front({std::move(key), std::move(tree)});
  shard.by_key.emplace(shard.entries.front().key, shard.entries.begin());
}

std::size_t Cache::size() const {
  std::size_t total = 0;
  for (const Shard& shard : shards_) {
    const MutexLock lock(shard.mutex);
    total += shard.entries.size();
  }
  return total;
}

}  // namespace stator::expr
