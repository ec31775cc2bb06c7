#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "stator/base/bytes.h"
#include "stator/base/event_loop.h"
#include "stator/base/result.h"
#include "stator/base/unique_function.h"
#include "stator/storage/store.h"

namespace stator::storage {

// A request's reads from a store: values at keys, or the first entries of a range.
struct ReadWish {
  struct Entries {
    KeyRange range;
    Direction direction = Direction::Forward;
    std::uint64_t most = UINT64_MAX;  // entries
  };
  std::vector<Bytes> keys = {};
  std::optional<Entries> entries = std::nullopt;  // then no keys
};

// The answer to a wish, as of one moment.  Thread-safe.
class ReadAhead final {
 public:
  struct Entry {
    Bytes key, value;
  };

  ReadAhead(CommitSequence epoch, ReadWish wish) : epoch_(epoch), wish_(std::move(wish)) {}
  // The values are in the order of the wish's keys.
  void set_values(std::vector<std::optional<Bytes>> values) { values_ = std::move(values); }
  // `complete`: there are no others that were wished for.
  void set_entries(std::vector<Entry> entries, bool complete) {
    entries_ = std::move(entries);
    complete_ = complete;
  }

  CommitSequence epoch() const { return epoch_; }
  // Errors: Busy: it was not wished for.
  Result<std::optional<Bytes>> get(BytesView key) const;
  // A snapshot that has nothing else: it answers Busy to all other questions.  Outlived by this.
  std::unique_ptr<Snapshot> snapshot() const;

 private:
  friend class AheadCursor;

  CommitSequence epoch_;
  ReadWish wish_;
  std::vector<std::optional<Bytes>> values_;
  std::vector<Entry> entries_;
  bool complete_ = false;
};

// Reads on the thread of an event loop, which never waits for a store.  Confined to that thread.
class LoopReader : public EventLoop::Attachment {
 public:
  using Done = UniqueFunction<void(Result<ReadAhead>)>;

  // `done` is called on the loop's thread, perhaps before this returns, and not at all if the loop ends before.
  // After any error, the same can be read from the store on a thread that may wait.  Errors: Busy: it is too large for
  // a loop, or there is no connection now.  Outdated, Storage, Corruption: as Store::get().
  virtual void read(ReadWish wish, Done done) = 0;
};

}  // namespace stator::storage
