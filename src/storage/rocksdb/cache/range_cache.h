#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "stator/base/bytes.h"
#include "stator/base/mutex.h"
#include "stator/storage/rocksdb/cache/missed_keys.h"
#include "stator/storage/store.h"
#include "stator/storage/tree/versions.h"

namespace stator::storage {

// A cache of entries and of whole ranges of keys, in front of a store whose snapshots are dear to read: the base.
//
// It is a tree (tree/tree.h) with versions.  Each version is of one commit and has the base's snapshot of that commit.
// A reader pins the newest version, with one atomic addition, and reads there; keys that the version does not know are
// read from that snapshot, and never from a newer one.  So all that a reader sees is of one commit, and no reader sees
// a commit before commit() has published it.
//
//   key                    -> value   an entry of the base, as it is at the version's commit
//   0x00 'i' begin         -> end     an interval: all entries that the base has from begin to end, without end, are
//                                     in the tree.  Intervals do not overlap.
//
// An entry without an interval around it says nothing of its neighbours.  An interval from a key to key + 0x00 without
// an entry says that there is none.
//
// A reader offers the cache the data that it read from the base: a value, or pieces of the range that it walked.  A
// piece is taken if no commit since the reader's version has touched it.  A commit changes keys that the tree knows,
// and adds a new key only if that is in an interval or was looked for lately: the old value of an item is read before a
// write, while index entries and change records are written and perhaps never read.
//
// Its size is bounded in bytes, including memory that pinned versions keep.  When it is full, a hand goes through the
// keys, and removes those that were not used since it last passed them; and an offer is taken only if its key was
// missed before lately, so that walks through all data do not empty it.
//
// Thread-safe.
class RangeCache {
 public:
  // 0 bytes: it keeps nothing, and is a way to share snapshots.
  // All views are gone when it is destroyed.
  explicit RangeCache(std::uint64_t bytes);
  // One version, pinned.
  class View {
   public:
    explicit View(RangeCache& cache) : cache_(&cache), version_(cache.versions_.pin()) {}
    ~View() {
      if (version_ != nullptr) cache_->versions_.unpin(version_);
    }
    View(View&& other) noexcept : cache_(other.cache_), version_(std::exchange(other.version_, nullptr)) {}
    View& operator=(View&&) = delete;

    // False: there was no base at that moment, and every read fails.
    bool is_open() const { return version_->base != nullptr; }
    Result<std::optional<Bytes>> get(BytesView key) const { return cache_->get(*version_, key); }
    std::unique_ptr<Cursor> cursor(const KeyRange& range, Direction direction) const;
    static std::unique_ptr<Snapshot> snapshot(View view);

   private:
    RangeCache* cache_;
    const tree::Version* version_;
  };
  View view() { return View(*this); }

  // From now on it is a cache of this base, and empty.
  void open(std::shared_ptr<const Snapshot> base);
  // Forgets everything, and gives the base back.  Views that were taken before keep it alive.
  std::shared_ptr<const Snapshot> close();
  // `batch`, with the keys that it has written, has taken place, and `base` is the first snapshot that sees it.  Takes
  // the keys.  One commit at a time, in their order.
  void commit(Batch& batch, std::shared_ptr<const Snapshot> base);

  static Error closed_error() {
    return {ErrorCode::Storage, "the store is closed after a failure and has not recovered yet"};
  }
  std::uint64_t size_bytes() const {
    return versions_.allocated_bytes() + changes_bytes_.load(std::memory_order_relaxed);
  }

  // -- for cursors

  // Entries that were read from the base one after another.
  class Piece {
   public:
    void add(BytesView key, BytesView value);
    void clear();
    std::size_t bytes() const { return bytes_.size(); }
    bool is_full() const { return bytes_.size() >= kPieceBytes || sizes_.size() >= kPieceEntries; }
    template <typename Function>
    void for_each(const Function& function) const {
      const char* at = bytes_.data();
      for (const auto& [key, value] : sizes_) {
        function(BytesView(at, key), BytesView(at + key, value));
        at += key + value;
      }
    }

   private:
    Bytes bytes_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> sizes_;  // of keys and values
  };
  // Small, so that unused pieces can go while used ones stay.
  static constexpr std::size_t kPieceBytes = 64U << 10;
  static constexpr std::size_t kPieceEntries = 256;

  // Whether a piece at this key would be taken, for a cursor that has offered so many bytes before.
  bool wants(BytesView key, std::uint64_t offered);
  // `piece` is everything that the base of `seen` has from `begin` to `end`.
  void offer(const tree::Version& seen, const Bytes& begin, const Bytes& end,
             const Piece& piece) NO_THREAD_SAFETY_ANALYSIS;
  // The interval that holds `key`, if it is known.
  static const tree::Blob* interval_of(const tree::Node* root, BytesView key);

 private:
  // The keys that the last commits have changed.
  class Changes {
   public:
    void add(std::uint64_t version, Batch& batch);
    // Changes before this version are not known any more.
    void forget(std::uint64_t version);
    // Whether a key from `begin` to `end` may have been changed after this version.
    bool touch(std::uint64_t since, BytesView begin, BytesView end) const;
    std::uint64_t size_bytes() const { return bytes_; }

   private:
    static constexpr std::size_t kMostKeys = 4096;
    struct Change {
      std::uint64_t version;
      std::vector<Bytes> keys;
      std::vector<KeyRange> ranges;
      std::uint64_t bytes;
    };
    std::deque<Change> changes_;
    std::size_t keys_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint64_t known_from_ = 0;  // the commits after this version are all here
  };

  Result<std::optional<Bytes>> get(const tree::Version& version, BytesView key);
  void offer(const tree::Version& seen, BytesView key, const std::optional<Bytes>& value) NO_THREAD_SAFETY_ANALYSIS;
  // Whether it can be taken, and the lock is held then.
  bool begin_offer(const tree::Version& seen, BytesView begin, BytesView end) NO_THREAD_SAFETY_ANALYSIS;
  // Publishes a version of the same commit, with the entries that `add` puts into the tree.
  template <typename Function>
  void take(const Function& add) NO_THREAD_SAFETY_ANALYSIS;
  void add_interval(tree::Edit& edit, Bytes begin, Bytes end, const Piece& piece) REQUIRES(edit_mutex_);
  void apply(tree::Edit& edit, const Batch::Operation& operation) REQUIRES(edit_mutex_);
  void put(tree::Edit& edit, const Batch::Operation& operation) REQUIRES(edit_mutex_);
  void add(tree::Edit& edit, const Batch::Operation& operation) REQUIRES(edit_mutex_);
  void start_again(std::shared_ptr<const Snapshot> base) REQUIRES(edit_mutex_);

  bool is_full() const { return versions_.allocated_bytes() > bytes_ - bytes_ / 16; }
  void make_room(tree::Edit& edit, std::size_t steps) REQUIRES(edit_mutex_);
  // One step of the hand; gives back the bytes that it took out.
  std::size_t evict_some(tree::Edit& edit) REQUIRES(edit_mutex_);
  std::size_t evict_from_interval(tree::Edit& edit, const tree::Blob& interval) REQUIRES(edit_mutex_);
  std::size_t evict_entries(tree::Edit& edit) REQUIRES(edit_mutex_);

  const std::uint64_t bytes_;
  MissedKeys missed_;
  tree::Versions versions_;

  Mutex edit_mutex_;  // held to publish a version
  Changes changes_ GUARDED_BY(edit_mutex_);
  std::atomic<std::uint64_t> changes_bytes_{0};  // their size, for those without the lock
  Bytes hand_ GUARDED_BY(edit_mutex_);
};

}  // namespace stator::storage
