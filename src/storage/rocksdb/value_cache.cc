#include "stator/storage/rocksdb/value_cache.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <utility>

namespace stator::storage {
namespace {

std::uint64_t hash_of(BytesView key) { return XXH3_64bits(key.data(), key.size()); }

// A commit puts its own number into such a key, so it is new.
bool changes_a_known_key(const Batch::Operation& operation) {
  return operation.kind != Batch::Kind::PutSequenced && operation.kind != Batch::Kind::EraseRange;
}

}  // namespace

ValueCache::ValueCache(std::uint64_t bytes)
    : most_bytes_(bytes / kShards), shards_(std::make_unique<std::array<Shard, kShards>>()) {}

std::optional<Bytes> ValueCache::find(BytesView key, Miss& miss) {
  const auto hash = hash_of(key);
  auto& shard = this->shard(hash);
  MutexLock lock(shard.mutex);
  const auto found = find(shard, hash, key);
  if (found != shard.entries.end()) {
    shard.entries.splice(shard.entries.begin(), shard.entries, found);
    return found->value;
  }
  const auto& counter = ValueCache::counter(shard, hash);
  miss = {.hash = hash,
          .changes = counter.changes,
          .ranges = range_changes_.load(std::memory_order_acquire),
          .changing = counter.changing > 0 || ranges_changing_.load(std::memory_order_acquire) > 0};
  return std::nullopt;
}

void ValueCache::fill(BytesView key, BytesView value, const Miss& miss) {
  if (miss.changing || kEntryOverhead + key.size() + value.size() > most_bytes_) return;
  auto& shard = this->shard(miss.hash);
  Entry entry{miss.hash, Bytes(key), Bytes(value)};
  MutexLock lock(shard.mutex);
  const auto& counter = ValueCache::counter(shard, miss.hash);
  if (counter.changes != miss.changes || range_changes_.load(std::memory_order_acquire) != miss.ranges) return;
  if (find(shard, miss.hash, key) == shard.entries.end()) insert(shard, std::move(entry));
}

void ValueCache::clear() {
  for (auto& shard : *shards_) {
    MutexLock lock(shard.mutex);
    for (auto entry = shard.entries.begin(); entry != shard.entries.end();) entry = erase(shard, entry);
    for (auto& counter : shard.counters) ++counter.changes;
  }
}

std::uint64_t ValueCache::size_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& shard : *shards_) {
    MutexLock lock(shard.mutex);
    bytes += shard.bytes;
  }
  return bytes;
}

ValueCache::Entries::iterator ValueCache::find(Shard& shard, std::uint64_t hash, BytesView key) {
  const auto [first, last] = shard.by_hash.equal_range(hash);
  const auto found = std::find_if(first, last, [&](const auto& entry) { return entry.second->key == key; });
  return found == last ? shard.entries.end() : found->second;
}

void ValueCache::insert(Shard& shard, Entry entry) {
  shard.bytes += entry.bytes();
  count(entry, 1);
  shard.entries.push_front(std::move(entry));
  shard.by_hash.emplace(shard.entries.front().hash, shard.entries.begin());
  while (shard.bytes > most_bytes_) erase(shard, std::prev(shard.entries.end()));
}

ValueCache::Entries::iterator ValueCache::erase(Shard& shard, Entries::iterator entry) {
  auto [first, last] = shard.by_hash.equal_range(entry->hash);
  shard.by_hash.erase(std::find_if(first, last, [&](const auto& known) { return known.second == entry; }));
  shard.bytes -= entry->bytes();
  count(*entry, -1);
  return shard.entries.erase(entry);
}

void ValueCache::erase(const KeyRange& range) {
  if (!range.end.empty() && range.end <= range.begin) return;
  const std::size_t first = range.begin.empty() ? 0 : static_cast<unsigned char>(range.begin.front());
  const std::size_t last = range.end.empty() ? 255 : static_cast<unsigned char>(range.end.front());
  const auto may_hold_some = [&] {
    return std::any_of(by_first_byte_.begin() + first, by_first_byte_.begin() + last + 1,
                       [](const auto& entries) { return entries.load(std::memory_order_relaxed) > 0; });
  };
  for (auto& shard : *shards_) {
    MutexLock lock(shard.mutex);
    if (!may_hold_some()) continue;  // asked under the lock: a fill() of this shard is over
    for (auto entry = shard.entries.begin(); entry != shard.entries.end();) {
      entry = range.contains(entry->key) ? erase(shard, entry) : std::next(entry);
    }
  }
}

// -- Change

ValueCache::Change::Change(ValueCache& cache, const Batch& batch) : cache_(cache) {
  keys_.reserve(batch.operations().size());
  for (std::size_t i = 0; i < batch.operations().size(); ++i) {
    const auto& operation = batch.operations()[i];
    if (operation.kind == Batch::Kind::EraseRange) {
      if (!std::exchange(ranges_, true)) {
        cache_.ranges_changing_.fetch_add(1, std::memory_order_acq_rel);
        cache_.range_changes_.fetch_add(1, std::memory_order_acq_rel);
      }
      cache_.erase({operation.key, operation.value});
    }
    if (!changes_a_known_key(operation)) continue;
    const auto hash = hash_of(operation.key);
    auto& shard = cache_.shard(hash);
    MutexLock lock(shard.mutex);
    auto& counter = ValueCache::counter(shard, hash);
    ++counter.changes;
    ++counter.changing;
    const auto found = find(shard, hash, operation.key);
    const bool was_here = found != shard.entries.end();
    if (was_here) cache_.erase(shard, found);
    keys_.push_back({hash, i, was_here});
  }
}

void ValueCache::Change::done(Batch& batch) {
  if (ranges_) return;  // rare, and a range may have taken a key that the batch has put before
  for (const auto& key : keys_) {
    auto& operation = batch.operations()[key.operation];
    auto& shard = cache_.shard(key.hash);
    MutexLock lock(shard.mutex);
    // An earlier operation of this batch may have put the key in.
    const auto found = find(shard, key.hash, operation.key);
    const bool is_here = found != shard.entries.end();
    if (is_here) cache_.erase(shard, found);
    if (operation.kind != Batch::Kind::Put || !(is_here || key.was_here)) continue;
    Entry entry{key.hash, std::move(operation.key), std::move(operation.value)};
    if (entry.bytes() <= cache_.most_bytes_) cache_.insert(shard, std::move(entry));
  }
}

ValueCache::Change::~Change() {
  for (const auto& key : keys_) {
    auto& shard = cache_.shard(key.hash);
    MutexLock lock(shard.mutex);
    --ValueCache::counter(shard, key.hash).changing;
  }
  if (ranges_) cache_.ranges_changing_.fetch_sub(1, std::memory_order_acq_rel);
}

}  // namespace stator::storage
