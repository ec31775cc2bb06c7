#include "stator/storage/postgres/lanes.h"

#include <algorithm>
#include <bit>
#include <set>

namespace stator::storage::postgres {

bool Lanes::is_valid(std::int64_t count) {
  return count >= 1 && count <= kMost && std::has_single_bit(static_cast<std::uint64_t>(count));
}

std::optional<std::int32_t> Lanes::of(BytesView key) const {
  if (count_ == 1) return 0;
  const auto lane = placement_->lane_of(key, count_);
  if (!lane) return std::nullopt;
  STATOR_ASSERT(*lane < rows(), "a placement knows the lanes there are");
  return static_cast<std::int32_t>(*lane);
}

LaneRange Lanes::of(const KeyRange& range) const {
  if (count_ == 1) return all();
  const auto lanes = placement_->lanes_of(range, count_);
  STATOR_ASSERT(lanes.first <= lanes.last && lanes.last < rows(), "a placement knows the lanes there are");
  return lanes;
}

CommitSequence Lanes::next(CommitSequence last, std::int32_t lane) const {
  const std::uint64_t step = rows();
  return {last.value + step - (last.value + step - static_cast<std::uint64_t>(lane)) % step};
}

std::vector<std::int32_t> each_lane(const LaneRange& range) {
  std::vector<std::int32_t> lanes;
  for (auto lane = range.first; lane <= range.last; ++lane) lanes.push_back(static_cast<std::int32_t>(lane));
  return lanes;
}

CommitLanes CommitLanes::of(const Batch& batch, const Lanes& lanes, bool shared) {
  CommitLanes needed;
  std::set<std::int32_t> written, read;
  const auto add_all = [](std::set<std::int32_t>& set, const LaneRange& range) {
    for (const auto lane : each_lane(range)) set.insert(lane);
  };
  if (batch.is_barrier()) add_all(written, lanes.all());
  for (const auto& operation : batch.operations()) {
    if (operation.kind == Batch::Kind::EraseRange) {
      const KeyRange range{operation.key, operation.value};
      if (range.end.empty() || range.begin < range.end) add_all(written, lanes.of(range));
    } else if (const auto lane = lanes.of(operation.key)) {
      written.insert(*lane);
    } else if (operation.kind != Batch::Kind::Add) {
      needed.rewritten.push_back(operation.key);
      add_all(written, lanes.all());
    }
  }
  if (written.empty()) written.insert(0);
  if (shared) {
    for (const auto& key : batch.keys_read()) {
      if (const auto lane = lanes.of(key)) {
        read.insert(*lane);
      } else {
        add_all(read, lanes.all());
      }
    }
    for (const auto& range : batch.ranges_read()) add_all(read, lanes.of(range));
  }
  needed.written.assign(written.begin(), written.end());
  std::ranges::set_difference(read, written, std::back_inserter(needed.read));
  return needed;
}

std::vector<std::int32_t> CommitLanes::all() const {
  std::vector<std::int32_t> all;
  std::ranges::merge(written, read, std::back_inserter(all));
  return all;
}

Result<std::optional<Bytes>> sum_of_parts(const std::vector<BytesView>& parts) {
  if (parts.empty()) return std::optional<Bytes>();
  if (parts.size() == 1) return std::optional<Bytes>(parts.front());
  std::int64_t sum = 0;
  for (const auto part : parts) sum = add_to_counter(sum, TRY(decode_counter(part)));
  return std::optional<Bytes>(encode_counter(sum));
}

void KnownCommits::note(std::int32_t lane, CommitSequence sequence) {
  auto& newest = lanes_[static_cast<std::size_t>(lane)];
  auto known = newest.load(std::memory_order_relaxed);
  while (known < sequence.value &&
         !newest.compare_exchange_weak(known, sequence.value, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

CommitSequence KnownCommits::of(std::int32_t lane) const {
  return {lanes_[static_cast<std::size_t>(lane)].load(std::memory_order_acquire)};
}

std::vector<CommitSequence> KnownCommits::all() const {
  std::vector<CommitSequence> all;
  read_all(all);
  return all;
}

void KnownCommits::read_all(std::vector<CommitSequence>& all) const {
  all.clear();
  all.reserve(lanes_.size());
  for (const auto& newest : lanes_) all.push_back({newest.load(std::memory_order_acquire)});
}

CommitSequence KnownCommits::newest() const {
  CommitSequence newest;
  for (const auto& lane : all()) newest = std::max(newest, lane);
  return newest;
}

}  // namespace stator::storage::postgres
