#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "stator/base/bytes.h"
#include "stator/base/mutex.h"
#include "stator/storage/store.h"

namespace stator::storage {

// Values that were read lately, whole, in front of a database that finds them by several searches each.
//
// A value in here is the newest one that readers may see.  A commit takes its keys out before the database shows the
// change to anybody, and puts the new values in when it is done.  Meanwhile, and if a commit has changed the key since
// the reader began, a reader's value is not kept.  Bounded by bytes; the values that were not used for longest go
// first.  Thread-safe.
class ValueCache {
 public:
  explicit ValueCache(std::uint64_t bytes);

  // What fill() has to know of a look-up that found nothing.
  struct Miss {
    std::uint64_t hash = 0;
    std::uint32_t changes = 0;
    std::uint32_t ranges = 0;
    bool changing = false;
  };
  // nullopt: it is not here, and `miss` is set.
  std::optional<Bytes> find(BytesView key, Miss& miss);
  // The database has `value` at the key that find() did not find.
  void fill(BytesView key, BytesView value, const Miss& miss);
  void clear();
  std::uint64_t size_bytes() const;

  // A commit that changes the keys of `batch`, from before the database shows it until it is over.
  class Change {
   public:
    Change(ValueCache& cache, const Batch& batch);
    ~Change();
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;
    // It has happened.  Takes the new values of keys that were here out of the batch.
    void done(Batch& batch);

   private:
    struct Key {
      std::uint64_t hash;
      std::size_t operation;  // in the batch
      bool was_here;
    };
    ValueCache& cache_;
    std::vector<Key> keys_;
    bool ranges_ = false;
  };

 private:
  static constexpr std::size_t kShards = 256;
  static constexpr std::size_t kCountersPerShard = 64;

  struct Entry {
    std::uint64_t hash;
    Bytes key;
    Bytes value;
    std::uint64_t bytes() const { return kEntryOverhead + key.capacity() + value.capacity(); }
  };
  static constexpr std::uint64_t kEntryOverhead = 160;  // of the list, the map and the allocator
  using Entries = std::list<Entry>;                     // the one used last is in front

  // How often keys of one slot were changed, and by how many commits that are under way.
  struct Counter {
    std::uint32_t changes = 0;
    std::uint32_t changing = 0;
  };
  struct alignas(64) Shard {
    mutable Mutex mutex;
    Entries entries GUARDED_BY(mutex);
    std::unordered_multimap<std::uint64_t, Entries::iterator> by_hash GUARDED_BY(mutex);
    std::uint64_t bytes GUARDED_BY(mutex) = 0;
    std::array<Counter, kCountersPerShard> counters GUARDED_BY(mutex);
  };
  Shard& shard(std::uint64_t hash) { return (*shards_)[hash % kShards]; }
  static Counter& counter(Shard& shard, std::uint64_t hash) REQUIRES(shard.mutex) {
    return shard.counters[hash / kShards % kCountersPerShard];
  }
  static Entries::iterator find(Shard& shard, std::uint64_t hash, BytesView key) REQUIRES(shard.mutex);
  void insert(Shard& shard, Entry entry) REQUIRES(shard.mutex);
  Entries::iterator erase(Shard& shard, Entries::iterator entry) REQUIRES(shard.mutex);
  // What is in the range goes.
  void erase(const KeyRange& range);
  void count(const Entry& entry, int by) {
    by_first_byte_[static_cast<unsigned char>(entry.key.front())].fetch_add(by, std::memory_order_relaxed);
  }

  const std::uint64_t most_bytes_;  // of a shard
  const std::unique_ptr<std::array<Shard, kShards>> shards_;
  // Entries by the first byte of their key: to erase a range of keys that are never looked up costs nothing.
  std::array<std::atomic<std::int64_t>, 256> by_first_byte_{};
  // As a Counter, for commits that erase ranges.
  std::atomic<std::uint32_t> range_changes_{0}, ranges_changing_{0};
};

}  // namespace stator::storage
