#pragma once

#include <array>

#include "stator/base/bytes.h"
#include "stator/storage/tree/tree.h"

namespace stator::storage {

// Keys below it are ours.
inline constexpr BytesView kFirstUserKey("\x01", 1);

// The key of an interval in the tree.
class IntervalKey {
 public:
  static constexpr BytesView kPrefix{"\0i", 2};
  static constexpr BytesView kEnd{"\0j", 2};  // behind all intervals

  explicit IntervalKey(BytesView begin);
  IntervalKey(const IntervalKey&) = delete;
  IntervalKey& operator=(const IntervalKey&) = delete;
  operator BytesView() const { return view_; }  // NOLINT(google-explicit-constructor): it is one

 private:
  std::array<char, 126> short_;
  Bytes long_;
  BytesView view_;
};

inline bool is_interval(const tree::Blob& blob) { return blob.key().starts_with(IntervalKey::kPrefix); }
inline BytesView begin_of(const tree::Blob& interval) { return interval.key().substr(IntervalKey::kPrefix.size()); }
inline BytesView end_of(const tree::Blob& interval) { return interval.value(); }

}  // namespace stator::storage
