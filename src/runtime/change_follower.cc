#include "stator/runtime/change_follower.h"

#include <utility>

namespace stator::runtime {

Outcome<Done> ChangeFollower::begin(WallTime now) {
  since_ = now - kClockSlack;
  for (const auto& shard : ATTEMPT(reader_.shards(stream_))) {
    positions_[shard.id].iterator = ATTEMPT(reader_.latest(stream_, shard.id));
  }
  return Done{};
}

Outcome<Done> ChangeFollower::drain(const Handler& handle) {
  for (bool ended = true; ended;) {
    ended = false;
    for (const auto& shard : ATTEMPT(reader_.shards(stream_))) {
      const auto parent = positions_.find(shard.parent);
      if (parent != positions_.end() && !parent->second.done) continue;
      auto& position = positions_[shard.id];
      if (position.done) continue;
      ATTEMPT(drain(shard.id, position, handle));
      ended = ended || position.done;  // its children may be there
    }
  }
  return Done{};
}

Outcome<Done> ChangeFollower::drain(const std::string& shard, Position& position, const Handler& handle) {
  while (!position.done) {
    auto page = ATTEMPT(next_page(shard, position));
    const bool empty = page.changes.empty();
    if (!empty && !page.changes.back().sequence_number.empty()) position.last = page.changes.back().sequence_number;
    std::erase_if(page.changes, [this](const Change& change) { return change.at < since_; });
    if (!page.changes.empty()) ATTEMPT(handle(page.changes));
    position.iterator = std::move(page.next);
    position.done = !position.iterator;
    if (empty) break;
  }
  return Done{};
}

Outcome<ChangePage> ChangeFollower::next_page(const std::string& shard, Position& position) {
  if (!position.iterator) position.iterator = ATTEMPT(reader_.iterator(stream_, shard, position.last));
  auto page = reader_.read(*position.iterator);
  if (page || page.problem().code != StreamReader::kExpired) return page;
  // One that was taken at the end, and expired before there was a record: then what is older than the beginning is left out.
  position.iterator = ATTEMPT(reader_.iterator(stream_, shard, position.last));
  return reader_.read(*position.iterator);
}

}  // namespace stator::runtime
