#include "stator/runtime/consistency/change_follower.h"

#include <algorithm>
#include <utility>

namespace stator::runtime {

Result<void, Problem> ChangeFollower::begin(WallTime now) {
  since_ = now - kClockSlack;
  TRY(list());
  for (const auto& shard : shards_) positions_[shard.id].iterator = TRY(reader_.latest(stream_, shard.id));
  return {};
}

Result<void, Problem> ChangeFollower::list() {
  shards_ = TRY(reader_.shards(stream_));
  next_listing_ = clock_.steady_now() + list_every_;
  std::erase_if(positions_, [this](const auto& known) {  // the stream has forgotten them
    return known.second.done && std::ranges::find(shards_, known.first, &StreamShard::id) == shards_.end();
  });
  return {};
}

bool ChangeFollower::waits_for_its_parent(const StreamShard& shard) const {
  const auto parent = positions_.find(shard.parent);
  return parent != positions_.end() && !parent->second.done;
}

Result<void, Problem> ChangeFollower::drain(const Handler& handle, Time until, WallTime upto) {
  do {
    if (clock_.steady_now() >= next_listing_) TRY(list());
    bool ended = false;
    for (const auto& shard : shards_) {
      auto& position = positions_[shard.id];
      if (position.done || waits_for_its_parent(shard)) continue;
      TRY(drain(shard.id, position, handle, until, upto));
      ended = ended || position.done;
    }
    if (!ended) return {};
    next_listing_ = {};  // its children may be there
  } while (clock_.steady_now() < until);
  return {};
}

Result<void, Problem> ChangeFollower::drain(const std::string& shard, ShardPosition& position, const Handler& handle,
                                            Time until, WallTime upto) {
  do {
    auto page = TRY(next_page(shard, position));
    const bool empty = page.changes.empty();
    const bool enough = empty || page.changes.back().at > upto;
    if (!empty && !page.changes.back().sequence_number.empty()) position.last = page.changes.back().sequence_number;
    std::erase_if(page.changes, [this](const Change& change) { return change.at < since_; });
    if (!page.changes.empty()) TRY(handle(page.changes));
    position.iterator = std::move(page.next);
    position.done = !position.iterator;
    if (enough) break;
  } while (!position.done && clock_.steady_now() < until);
  return {};
}

Result<ChangePage, Problem> ChangeFollower::next_page(const std::string& shard, ShardPosition& position) {
  if (!position.iterator) position.iterator = TRY(reader_.iterator(stream_, shard, position.last));
  auto page = reader_.read(*position.iterator);
  if (page || page.error().code != StreamReader::kExpired) return page;
  // The iterator was taken at the end and expired before there was a record: records from before the beginning are left
  // out.
  position.iterator = TRY(reader_.iterator(stream_, shard, position.last));
  return reader_.read(*position.iterator);
}

}  // namespace stator::runtime
