#include "stator/storage/rocksdb/cache/interval_key.h"

#include <algorithm>

namespace stator::storage {

IntervalKey::IntervalKey(BytesView begin) {
  const auto size = kPrefix.size() + begin.size();
  char* bytes = short_.data();
  if (size > short_.size()) {
    long_.resize(size);
    bytes = long_.data();
  }
  std::copy(kPrefix.begin(), kPrefix.end(), bytes);
  std::copy(begin.begin(), begin.end(), bytes + kPrefix.size());
  view_ = {bytes, size};
}

}  // namespace stator::storage
