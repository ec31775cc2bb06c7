#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "stator/storage/store.h"

namespace stator::storage::postgres {

// The combined effect of the operations of a batch: ranges that are erased first, then one change per key. A few
// statements can do that.
struct FinalChanges {
  std::vector<KeyRange> erased_ranges;
  std::map<Bytes, std::optional<Bytes>> keys;  // nullopt: erased

  // `counter` has the stored value at a key that the batch adds to.  Errors: Corruption: it adds to a value that is no
  // counter.
  static Result<FinalChanges> of(const Batch& batch, CommitSequence sequence,
                                 const std::function<std::optional<BytesView>(const Bytes& key)>& counter);
};

}  // namespace stator::storage::postgres
