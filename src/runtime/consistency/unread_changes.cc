#include "stator/runtime/consistency/unread_changes.h"

#include <algorithm>
#include <chrono>

namespace stator::runtime {

Result<void, Problem> UnreadChanges::count(const std::string& stream, bool all) {
  unsigned shards = 0;
  WaitingChanges waiting;
  for (const auto& shard : TRY(table_.shards())) {
    if (shard.done || (!all && leases_.holds(shard.id))) continue;
    ++shards;
    const auto iterator = reader_.iterator(stream, shard.id, shard.checkpoint);
    const auto page = iterator ? reader_.read(*iterator) : Result<ChangePage, Problem>(iterator.error());
    if (!page && page.error().code != StreamReader::kTrimmed) return page.error();
    if (page && page->changes.empty()) continue;
    const WallTime done_to{std::chrono::milliseconds(shard.read_to_ms)};
    waiting.add(page ? page->changes.size() : 1, page ? std::max(page->changes.front().at, done_to) : done_to);
  }
  MutexLock lock(mutex_);
  shards_ = shards;
  waiting_ = waiting;
  return {};
}

unsigned UnreadChanges::shards() const {
  MutexLock lock(mutex_);
  return shards_;
}

WaitingChanges UnreadChanges::waiting() const {
  MutexLock lock(mutex_);
  return waiting_;
}

}  // namespace stator::runtime
