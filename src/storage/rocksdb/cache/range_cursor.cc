#include "stator/storage/rocksdb/cache/range_cursor.h"

#include <algorithm>
#include <utility>

#include "stator/storage/rocksdb/cache/interval_key.h"

namespace stator::storage {

RangeCursor::RangeCursor(RangeCache& cache, const tree::Version& version, const KeyRange& range, Direction direction)
    : cache_(cache),
      version_(version),
      begin_(is_reserved_key(range.begin) ? Bytes(kFirstUserKey) : range.begin),
      end_(range.end),
      direction_(direction),
      position_(direction == Direction::Forward ? begin_ : end_),
      entries_(version.root),
      intervals_(version.root) {
  if (version_.base == nullptr || (!end_.empty() && end_ <= begin_)) return;
  proceed();
}

RangeCursor::~RangeCursor() {
  if (wanted_ && base_ != nullptr && base_->valid()) end_piece();
}

void RangeCursor::next() {
  if (entry_ != nullptr) {
    if (forward()) {
      entries_.next();
    } else {
      entries_.previous();
    }
    load_from_tree();
    return;
  }
  if (piece_bytes_ >= RangeCache::kPieceBytes || piece_.is_full()) {
    end_piece();
    if (is_at_end() || enter_tree()) {
      base_.reset();
      if (!is_at_end()) load_from_tree();
      return;
    }
    begin_piece();
  }
  base_->next();
  load_from_base();
}

Result<void> RangeCursor::status() const {
  if (version_.base == nullptr) return RangeCache::closed_error();
  if (base_ == nullptr) return {};
  return base_->status();
}

bool RangeCursor::is_at_end() const {
  return forward() ? !end_.empty() && position_ >= end_ : !position_.empty() && position_ <= begin_;
}

void RangeCursor::proceed() {
  entry_ = nullptr;
  if (is_at_end()) return;
  if (enter_tree()) {
    load_from_tree();
  } else {
    enter_base();
  }
}

bool RangeCursor::enter_tree() {
  if (!forward() && position_.empty()) return false;
  const IntervalKey key(position_);
  if (forward()) {
    intervals_.seek_not_above(key);
  } else {
    intervals_.seek_below(key);
  }
  if (!intervals_.valid() || !is_interval(*intervals_.entry())) return false;
  const auto& interval = *intervals_.entry();
  if (forward() ? end_of(interval) <= position_ : end_of(interval) < position_) return false;
  take_interval(interval);
  if (forward()) {
    entries_.seek_not_below(position_);
  } else {
    entries_.seek_below(position_);
  }
  return true;
}

void RangeCursor::take_interval(const tree::Blob& interval) {
  interval.mark_used();
  if (forward()) {
    bound_ = end_of(interval);
    bound_is_intervals_ = end_.empty() || bound_ < end_;
    if (!bound_is_intervals_) bound_ = end_;
  } else {
    bound_ = begin_of(interval);
    bound_is_intervals_ = bound_ > begin_;
    if (!bound_is_intervals_) bound_ = begin_;
  }
}

void RangeCursor::load_from_tree() {
  for (;;) {
    entry_ = entries_.valid() ? entries_.entry() : nullptr;
    if (entry_ != nullptr && (forward() ? entry_->key() < bound_ : entry_->key() >= bound_)) {
      entry_->mark_used();
      return;
    }
    entry_ = nullptr;
    if (!bound_is_intervals_) return;
    if (forward()) {
      intervals_.next();
    } else {
      intervals_.previous();
    }
    const auto* next = intervals_.valid() ? intervals_.entry() : nullptr;
    if (next == nullptr || !is_interval(*next) || (forward() ? begin_of(*next) : end_of(*next)) != bound_) break;
    take_interval(*next);
  }
  position_ = bound_;
  enter_base();
}

void RangeCursor::enter_base() {
  base_ = version_.base->cursor(forward() ? KeyRange{position_, end_} : KeyRange{begin_, position_}, direction_);
  begin_piece();
  load_from_base();
}

void RangeCursor::begin_piece() {
  offered_ += piece_bytes_;
  piece_start_ = position_;
  piece_bytes_ = 0;
  piece_.clear();
  wanted_ = cache_.wants(piece_start_, offered_);
}

void RangeCursor::load_from_base() {
  if (base_->valid()) {
    const auto key = base_->key();
    const auto value = base_->value();
    if (piece_start_.empty()) piece_start_ = Bytes(key) + '\0';  // backward from the last key
    piece_bytes_ += key.size() + value.size();
    if (wanted_) piece_.add(key, value);
    position_ = key;
    if (forward()) position_ += '\0';
    return;
  }
  if (!wanted_ || !base_->status()) return;
  // All of the range was seen.  Behind the last key of all there is nothing to remember.
  if (!forward()) {
    position_ = begin_;
  } else if (!end_.empty()) {
    position_ = end_;
  }
  if (!piece_start_.empty()) offer();
  wanted_ = false;
}

void RangeCursor::end_piece() {
  if (wanted_) offer();
  wanted_ = false;
}

void RangeCursor::offer() {
  if (forward()) {
    cache_.offer(version_, piece_start_, position_, piece_);
  } else {
    cache_.offer(version_, position_, piece_start_, piece_);
  }
}

}  // namespace stator::storage
