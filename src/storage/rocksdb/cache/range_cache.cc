#include "stator/storage/rocksdb/cache/range_cache.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <mutex>

#include "stator/storage/rocksdb/cache/interval_key.h"
#include "stator/storage/rocksdb/cache/range_cursor.h"
#include "stator/storage/tree/tree.h"

namespace stator::storage {
namespace {

using tree::Blob;
using tree::Edit;
using tree::TreeCursor;
using tree::Version;

// The share of the cache that the allocator needs beside the blocks.
constexpr std::uint64_t kAllocatorShare = 8;
// For so many bytes of the cache, one missed key is remembered.
constexpr std::uint64_t kBytesPerMissedKey = 512;
// An entry may be so large a part of the cache.
constexpr std::uint64_t kLargestShare = 16;
// Of a walk that is longer, a full cache takes no more.
constexpr std::uint64_t kMostOfAWalk = 1U << 20;
// The number of entries that the hand visits in one step.
constexpr std::size_t kEntriesPerStep = 64;
constexpr std::size_t kStepsPerOffer = 32;
constexpr std::size_t kStepsWhenTooLarge = 4096;
// So large a part of it may be in the cache beyond its size, before it takes nothing more from readers; commits change
// what it has all the same.
constexpr std::uint64_t kMostBeyond = 16;

std::uint64_t hash_of(BytesView key) { return XXH3_64bits(key.data(), key.size()); }

class RangeSnapshot final : public Snapshot {
 public:
  explicit RangeSnapshot(RangeCache::View view) : view_(std::move(view)) {}
  Result<std::optional<Bytes>> get(BytesView key) const override { return view_.get(key); }
  std::unique_ptr<Cursor> cursor(const KeyRange& range, Direction direction) const override {
    return view_.cursor(range, direction);
  }

 private:
  const RangeCache::View view_;
};

}  // namespace

// -- View

std::unique_ptr<Cursor> RangeCache::View::cursor(const KeyRange& range, Direction direction) const {
  return std::make_unique<RangeCursor>(*cache_, *version_, range, direction);
}

std::unique_ptr<Snapshot> RangeCache::View::snapshot(View view) {
  return std::make_unique<RangeSnapshot>(std::move(view));
}

// -- reading

RangeCache::RangeCache(std::uint64_t bytes)
    : bytes_(bytes - bytes / kAllocatorShare), missed_(bytes / kBytesPerMissedKey), hand_(kFirstUserKey) {}

Result<std::optional<Bytes>> RangeCache::get(const Version& version, BytesView key) {
  if (version.base == nullptr) return closed_error();
  if (is_reserved_key(key)) return std::optional<Bytes>();
  if (const Blob* entry = tree::find(version.root, key)) {
    entry->mark_used();
    return std::optional<Bytes>(entry->value());
  }
  if (const Blob* interval = interval_of(version.root, key)) {
    interval->mark_used();
    return std::optional<Bytes>();
  }
  auto value = TRY(version.base->get(key));
  offer(version, key, value);
  return value;
}

const Blob* RangeCache::interval_of(const tree::Node* root, BytesView key) {
  if (root == nullptr) return nullptr;
  TreeCursor cursor(root);
  cursor.seek_not_above(IntervalKey(key));
  if (!cursor.valid() || !is_interval(*cursor.entry()) || end_of(*cursor.entry()) <= key) return nullptr;
  return cursor.entry();
}

// -- what readers offer

void RangeCache::Piece::add(BytesView key, BytesView value) {
  bytes_.append(key);
  bytes_.append(value);
  sizes_.emplace_back(static_cast<std::uint32_t>(key.size()), static_cast<std::uint32_t>(value.size()));
}

void RangeCache::Piece::clear() {
  bytes_.clear();
  sizes_.clear();
}

bool RangeCache::wants(BytesView key, std::uint64_t offered) {
  if (bytes_ == 0) return false;
  if (!is_full()) return true;
  return offered < kMostOfAWalk && missed_.note(hash_of(key)) > 0;
}

bool RangeCache::begin_offer(const Version& seen, BytesView begin, BytesView end) {
  // A committing thread should not have to compete with many readers for the lock: they can offer it again the next
  // time.
  if (!edit_mutex_.try_lock()) return false;
  if (versions_.newest()->base != nullptr && !changes_.touch(seen.sequence, begin, end)) return true;
  edit_mutex_.unlock();
  return false;
}

void RangeCache::offer(const Version& seen, BytesView key, const std::optional<Bytes>& value) {
  if (bytes_ == 0) return;
  // That there is nothing is worth to be known the second time: mostly, something is put there next.
  if ((!value || is_full()) && missed_.note(hash_of(key)) == 0) return;
  if (value && key.size() + value->size() > bytes_ / kLargestShare) return;
  const auto end = Bytes(key) + '\0';
  if (!begin_offer(seen, key, end)) return;
  const std::lock_guard held(edit_mutex_, std::adopt_lock);
  take([&](Edit& edit) {
    // Another reader may have been faster.
    const bool known =
        versions_.newest() != &seen && (edit.find(key) != nullptr || interval_of(edit.root(), key) != nullptr);
    if (known) return;
    const auto* entry = value ? edit.put(key, *value) : edit.put(IntervalKey(key), end);
    if (is_full()) entry->mark_used();  // it was missed before, so it will probably be used again
  });
}

void RangeCache::offer(const Version& seen, const Bytes& begin, const Bytes& end, const Piece& piece) {
  if (bytes_ == 0 || begin >= end || piece.bytes() > bytes_ / kLargestShare + kPieceBytes) return;
  if (!begin_offer(seen, begin, end)) return;
  const std::lock_guard held(edit_mutex_, std::adopt_lock);
  take([&](Edit& edit) { add_interval(edit, begin, end, piece); });
}

template <typename Function>
void RangeCache::take(const Function& add) {
  const Version& newest = *versions_.newest();
  Edit edit(newest.root, newest.sequence + 1);
  if (versions_.allocated_bytes() <= bytes_ + bytes_ / kMostBeyond) add(edit);
  make_room(edit, kStepsPerOffer);
  if (edit.root() == newest.root) return;
  versions_.publish(newest.sequence + 1, edit.take(), newest.base);
}

void RangeCache::add_interval(Edit& edit, Bytes begin, Bytes end, const Piece& piece) {
  // Known parts at both sides stay as they are; intervals in between become a part of the new one.
  if (const Blob* before = interval_of(edit.root(), begin)) begin = end_of(*before);
  if (begin >= end) return;
  TreeCursor last(edit.root());
  last.seek_below(IntervalKey(end));
  if (last.valid() && is_interval(*last.entry()) && end_of(*last.entry()) > end) end = begin_of(*last.entry());
  if (begin >= end) return;
  edit.erase_range(IntervalKey(begin), IntervalKey(end));
  const bool full = is_full();  // then it was missed before, and will probably be used again
  const auto put = [&](BytesView key, BytesView value) {
    const auto* entry = edit.put(key, value);
    if (full) entry->mark_used();
  };
  piece.for_each([&](BytesView key, BytesView value) {
    if (key >= begin && key < end) put(key, value);
  });
  put(IntervalKey(begin), end);
}

// -- commits

void RangeCache::open(std::shared_ptr<const Snapshot> base) {
  MutexLock lock(edit_mutex_);
  start_again(std::move(base));
}

std::shared_ptr<const Snapshot> RangeCache::close() {
  MutexLock lock(edit_mutex_);
  auto base = versions_.newest()->base;
  start_again(nullptr);
  return base;
}

void RangeCache::start_again(std::shared_ptr<const Snapshot> base) {
  const Version& newest = *versions_.newest();
  const auto sequence = newest.sequence + 1;
  Edit edit(newest.root, sequence);
  edit.erase_range({}, {});
  changes_.forget(sequence);
  changes_bytes_.store(0, std::memory_order_relaxed);
  versions_.publish(sequence, edit.take(), std::move(base));
}

void RangeCache::commit(Batch& batch, std::shared_ptr<const Snapshot> base) {
  MutexLock lock(edit_mutex_);
  const Version& newest = *versions_.newest();
  const auto sequence = newest.sequence + 1;
  Edit edit(newest.root, sequence);
  if (bytes_ > 0) {
    const auto& operations = batch.operations();
    for (std::size_t i = 0; i < operations.size(); ++i) {
      if (i % tree::kPathsAtOnce == 0) tree::prefetch_paths(edit.root(), operations, i);
      apply(edit, operations[i]);
    }
    make_room(edit, kStepsPerOffer + batch.operations().size());
    changes_.add(sequence, batch);
    changes_bytes_.store(changes_.size_bytes(), std::memory_order_relaxed);
  }
  versions_.publish(sequence, edit.take(), std::move(base));
}

void RangeCache::apply(Edit& edit, const Batch::Operation& operation) {
  switch (operation.kind) {
    case Batch::Kind::Put:
    case Batch::Kind::PutSequenced: put(edit, operation); break;
    case Batch::Kind::Erase:
      if (edit.root() != nullptr) edit.erase(operation.key);
      break;
    case Batch::Kind::Add: add(edit, operation); break;
    case Batch::Kind::EraseRange: {
      const auto begin = is_reserved_key(operation.key) ? kFirstUserKey : BytesView(operation.key);
      const BytesView end = operation.value;
      if (!end.empty() && end <= begin) break;
      edit.erase_range(begin, end);
      // An interval that goes on behind the range leaves its other entries behind, as single ones.
      if (end.empty()) {
        edit.erase_range(IntervalKey(begin), IntervalKey::kEnd);
      } else {
        edit.erase_range(IntervalKey(begin), IntervalKey(end));
      }
      break;
    }
  }
}

void RangeCache::put(Edit& edit, const Batch::Operation& operation) {
  const BytesView key = operation.key;
  if (edit.replace(key, operation.value) != nullptr) return;
  if (const Blob* interval = interval_of(edit.root(), key)) {
    // One that only said that there was no entry.
    if (end_of(*interval).size() == key.size() + 1 && begin_of(*interval) == key) edit.erase(IntervalKey(key));
    edit.put(key, operation.value);
  } else if (operation.kind == Batch::Kind::Put && missed_.count(hash_of(key)) >= (is_full() ? 2 : 1)) {
    edit.put(key, operation.value);
  }
}

void RangeCache::add(Edit& edit, const Batch::Operation& operation) {
  const Blob* entry = edit.find(operation.key);
  const Blob* interval = entry == nullptr ? interval_of(edit.root(), operation.key) : nullptr;
  if (entry == nullptr && interval == nullptr) return;
  std::int64_t value = 0;
  if (entry != nullptr) {
    const auto counter = decode_counter(entry->value());
    if (!counter) {
      // The base will tell what is wrong.
      interval = interval_of(edit.root(), operation.key);
      if (interval != nullptr) edit.erase(Bytes(interval->key()));
      edit.erase(operation.key);
      return;
    }
    value = *counter;
  }
  edit.put(operation.key, encode_counter(add_to_counter(value, operation.delta)));
}

void RangeCache::Changes::add(std::uint64_t version, Batch& batch) {
  auto& operations = batch.operations();
  if (operations.size() > kMostKeys) return forget(version);
  Change change{.version = version, .keys = {}, .ranges = {}, .bytes = operations.size() * sizeof(Bytes)};
  change.keys.reserve(operations.size());
  for (auto& operation : operations) {
    if (operation.kind == Batch::Kind::EraseRange) {
      change.bytes += operation.key.size() + operation.value.size();
      change.ranges.push_back({operation.key, operation.value});
    } else {
      change.bytes += operation.key.size();
      change.keys.push_back(std::move(operation.key));
    }
  }
  keys_ += operations.size() + 1;
  bytes_ += change.bytes;
  changes_.push_back(std::move(change));
  while (keys_ > kMostKeys) {
    const auto& oldest = changes_.front();
    keys_ -= oldest.keys.size() + oldest.ranges.size() + 1;
    bytes_ -= oldest.bytes;
    known_from_ = oldest.version;
    changes_.pop_front();
  }
}

void RangeCache::Changes::forget(std::uint64_t version) {
  changes_.clear();
  keys_ = 0;
  bytes_ = 0;
  known_from_ = version;
}

bool RangeCache::Changes::touch(std::uint64_t since, BytesView begin, BytesView end) const {
  if (since < known_from_) return true;
  for (auto change = changes_.rbegin(); change != changes_.rend() && change->version > since; ++change) {
    for (const auto& key : change->keys) {
      if (BytesView(key) >= begin && BytesView(key) < end) return true;
    }
    for (const auto& range : change->ranges) {
      if (BytesView(range.begin) < end && (range.end.empty() || BytesView(range.end) > begin)) return true;
    }
  }
  return false;
}

// -- making room

void RangeCache::make_room(Edit& edit, std::size_t steps) {
  auto bytes = versions_.allocated_bytes() + edit.added_bytes();
  if (bytes > bytes_ + bytes_ / kMostBeyond) steps = kStepsWhenTooLarge;
  // Twice around: the first round clears the marks of used entries.  The rest is kept by older versions.
  for (unsigned rounds = 0; bytes > bytes_ && steps > 0 && rounds < 2 && edit.root() != nullptr; --steps) {
    bytes -= std::min(bytes, evict_some(edit));
    if (hand_ == kFirstUserKey) ++rounds;
  }
}

std::size_t RangeCache::evict_some(Edit& edit) {
  if (const Blob* interval = interval_of(edit.root(), hand_)) return evict_from_interval(edit, *interval);
  return evict_entries(edit);
}

std::size_t RangeCache::evict_from_interval(Edit& edit, const Blob& interval) {
  const Bytes begin(begin_of(interval));
  const Bytes end(end_of(interval));
  Bytes rest = end;
  std::size_t count = 0;
  std::size_t bytes = 0;
  bool used = false;
  TreeCursor entries(edit.root());
  for (entries.seek_not_below(hand_); entries.valid() && entries.entry()->key() < end; entries.next()) {
    const Blob& entry = *entries.entry();
    if (count == kEntriesPerStep || bytes >= kPieceBytes) {
      rest = entry.key();
      break;
    }
    ++count;
    bytes += entry.allocated();
    used = used || entry.is_used();
    entry.clear_used();
  }
  if (count == 0) {
    used = interval.is_used();
    interval.clear_used();
  }
  const Bytes first = std::exchange(hand_, rest);
  if (used) return 0;
  bytes += interval.allocated();
  edit.erase_range(first, rest);
  edit.erase(IntervalKey(begin));
  if (begin < first) edit.put(IntervalKey(begin), first);
  if (rest < end) edit.put(IntervalKey(rest), end);
  return bytes;
}

std::size_t RangeCache::evict_entries(Edit& edit) {
  TreeCursor next(edit.root());
  next.seek_not_below(IntervalKey(hand_));
  const Blob* interval = next.valid() && is_interval(*next.entry()) ? next.entry() : nullptr;
  // At the end it begins anew.
  Bytes rest(interval != nullptr ? begin_of(*interval) : kFirstUserKey);
  std::vector<Bytes> unused;
  std::size_t bytes = 0;
  std::size_t count = 0;
  TreeCursor entries(edit.root());
  for (entries.seek_not_below(hand_); entries.valid(); entries.next()) {
    const Blob& entry = *entries.entry();
    if (interval != nullptr && entry.key() >= begin_of(*interval)) break;
    if (count++ == kEntriesPerStep) {
      rest = entry.key();
      break;
    }
    if (entry.is_used()) {
      entry.clear_used();
    } else {
      unused.emplace_back(entry.key());
      bytes += entry.allocated();
    }
  }
  hand_ = std::move(rest);
  for (const auto& key : unused) edit.erase(key);
  return bytes;
}

}  // namespace stator::storage
