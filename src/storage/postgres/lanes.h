#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "stator/storage/placement.h"
#include "stator/storage/store.h"

namespace stator::storage::postgres {

// The lanes of a store: the rows of its table `lanes`.  Constant.
class Lanes {
 public:
  static constexpr std::uint32_t kMost = 64;

  Lanes() = default;  // one
  Lanes(std::uint32_t count, std::shared_ptr<const Placement> placement)
      : count_(count), placement_(std::move(placement)) {}

  static bool is_valid(std::int64_t count);  // a power of two, from 1 to kMost
  std::uint32_t count() const { return count_; }
  // Lane 0 is one more, where there are several.
  std::uint32_t rows() const { return count_ == 1 ? 1 : count_ + 1; }

  // nullopt: each lane has a part of it.
  std::optional<std::int32_t> of(BytesView key) const;
  LaneRange of(const KeyRange& range) const;
  LaneRange all() const { return {.first = 0, .last = rows() - 1, .in_key_order = rows() == 1}; }
  // The number of a commit that follows `last`, where `lane` is the first lane that it writes.  Commits with the same
  // first lane follow each other, and the remainder is the lane: so no two commits have the same number.
  CommitSequence next(CommitSequence last, std::int32_t lane) const;

 private:
  std::uint32_t count_ = 1;
  std::shared_ptr<const Placement> placement_;
};

// The lanes in a range, one by one.
std::vector<std::int32_t> each_lane(const LaneRange& range);

// The lanes that a batch needs.
struct CommitLanes {
  std::vector<std::int32_t> written;  // in order; never empty
  std::vector<std::int32_t> read;     // others, in order
  std::vector<BytesView> rewritten;   // keys with a part in each lane that the batch does not only add to

  static CommitLanes of(const Batch& batch, const Lanes& lanes, bool shared);
  std::int32_t first() const { return written.front(); }
  std::vector<std::int32_t> all() const;  // in order
  // Where the batch writes a key.
  std::int32_t of(BytesView key, const Lanes& lanes) const { return lanes.of(key).value_or(first()); }
};

// The sum of a counter that has a part in each lane; nullopt without parts.  Errors: Corruption.
Result<std::optional<Bytes>> sum_of_parts(const std::vector<BytesView>& parts);

// The newest commit of each lane that readers are known to see.  Thread-safe.
class KnownCommits {
 public:
  void start(std::uint32_t rows) { lanes_ = std::vector<std::atomic<std::uint64_t>>(rows); }  // once, before all others
  void note(std::int32_t lane, CommitSequence sequence);
  CommitSequence of(std::int32_t lane) const;
  std::vector<CommitSequence> all() const;
  void read_all(std::vector<CommitSequence>& all) const;  // the same, into a vector that is used again
  CommitSequence newest() const;

 private:
  std::vector<std::atomic<std::uint64_t>> lanes_;
};

}  // namespace stator::storage::postgres
