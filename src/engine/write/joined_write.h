#pragma once

#include <optional>
#include <vector>

#include "stator/base/mutex.h"
#include "stator/engine/write/item_write.h"

namespace stator::engine {

// Puts the outcomes of the parts of a write together, and answers when all are there.  If one part failed and another
// was written, the answer is Busy: no caller may take it for a write without effect and repeat it unasked.
// Thread-safe.
class JoinedWrite {
 public:
  JoinedWrite(std::size_t actions, std::size_t parts, WriteCallback done);

  // The outcome of a part, and the places of its actions in the whole.
  void finish(const std::vector<std::size_t>& places, Result<WriteOutcome> part);

 private:
  Mutex mutex_;
  std::size_t parts_left_ GUARDED_BY(mutex_);
  WriteOutcome outcome_ GUARDED_BY(mutex_);
  std::optional<Error> error_ GUARDED_BY(mutex_);  // of the first part that failed
  bool some_written_ GUARDED_BY(mutex_) = false;
  WriteCallback done_;  // called by the part that finishes last
};

}  // namespace stator::engine
