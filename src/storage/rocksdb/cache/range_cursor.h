#pragma once

#include <cstdint>
#include <memory>

#include "stator/storage/rocksdb/cache/range_cache.h"
#include "stator/storage/store.h"
#include "stator/storage/tree/tree.h"
#include "stator/storage/tree/versions.h"

namespace stator::storage {

// Walks one version of a cache: its tree where that knows all keys, and its base elsewhere.  Offers entries that it
// reads from the base to the cache.
//
// Once it is in the base, it stays there for a whole piece, also where the tree would know the keys: a step of an
// iterator costs less than to seek again behind each small interval.
class RangeCursor final : public Cursor {
 public:
  RangeCursor(RangeCache& cache, const tree::Version& version, const KeyRange& range, Direction direction);
  ~RangeCursor() override;
  RangeCursor(const RangeCursor&) = delete;
  RangeCursor& operator=(const RangeCursor&) = delete;

  bool valid() const override { return entry_ != nullptr || (base_ != nullptr && base_->valid()); }
  void next() override;
  BytesView key() const override { return entry_ != nullptr ? entry_->key() : base_->key(); }
  BytesView value() const override { return entry_ != nullptr ? entry_->value() : base_->value(); }
  Result<void> status() const override;

 private:
  bool forward() const { return direction_ == Direction::Forward; }
  // Goes on at position_.
  void proceed();
  bool is_at_end() const;
  // False: the tree does not know the entry at position_.
  bool enter_tree();
  void take_interval(const tree::Blob& interval);
  void load_from_tree();
  void enter_base();
  void begin_piece();
  void load_from_base();
  // The piece ends with the entry where the base is.
  void end_piece();
  void offer();

  RangeCache& cache_;
  const tree::Version& version_;
  const Bytes begin_, end_;  // an empty end: none
  const Direction direction_;
  // Forward: the next key is not below it.  Backward: the next key is below it; empty: it is the last one.
  Bytes position_;

  const tree::Blob* entry_ = nullptr;  // where it is in the tree
  tree::TreeCursor entries_, intervals_;
  BytesView bound_;                  // of the interval and of the range: where the tree's part ends
  bool bound_is_intervals_ = false;  // there may be more behind it

  std::unique_ptr<Cursor> base_;
  RangeCache::Piece piece_;
  Bytes piece_start_;
  std::size_t piece_bytes_ = 0;
  std::uint64_t offered_ = 0;
  bool wanted_ = false;
};

}  // namespace stator::storage
