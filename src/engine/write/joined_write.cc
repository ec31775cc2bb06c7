#include "stator/engine/write/joined_write.h"

namespace stator::engine {

JoinedWrite::JoinedWrite(std::size_t actions, std::size_t parts, WriteCallback done)
    : parts_left_(parts), outcome_{.written = true, .repeated = false, .actions = {}}, done_(std::move(done)) {
  outcome_.actions.resize(actions);
}

void JoinedWrite::finish(const std::vector<std::size_t>& places, Result<WriteOutcome> part) {
  std::optional<Result<WriteOutcome>> whole;
  {
    MutexLock lock(mutex_);
    if (part) {
      some_written_ = some_written_ || part->written;
      outcome_.written = outcome_.written && part->written;
      for (std::size_t i = 0; i < places.size(); ++i) outcome_.actions[places[i]] = std::move(part->actions[i]);
    } else if (!error_) {
      error_ = std::move(part).error();
    }
    if (--parts_left_ > 0) return;
    if (error_ && some_written_) {
      error_ = Error{ErrorCode::Busy, "A part of the batch was written, and a part was not; send it again"};
    }
    whole = error_ ? Result<WriteOutcome>(std::move(*error_)) : Result<WriteOutcome>(std::move(outcome_));
  }
  done_(std::move(*whole));
}

}  // namespace stator::engine
