#include "stator/runtime/consistency/shard_leases.h"

#include <algorithm>
#include <utility>

namespace stator::runtime {

const ShardProgress* find_shard(const std::vector<ShardProgress>& shards, std::string_view id) {
  const auto found = std::ranges::find(shards, id, &ShardProgress::id);
  return found != shards.end() ? &*found : nullptr;
}

ShardLeases::ShardLeases(ConsistencyTable& table, const Clock& clock, std::string owner,
                         std::chrono::milliseconds lease)
    : table_(table), clock_(clock), owner_(std::move(owner)), lease_(lease) {}

Result<void, Problem> ShardLeases::take(const std::vector<ShardProgress>& known, const std::string& stream) {
  for (const auto& shard : known) {
    if (holds(shard.id)) continue;
    const auto* parent = find_shard(known, shard.parent);
    const bool free = shard.expires_ms <= table_.now_ms() || shard.owner == owner_;
    if (shard.done || !free || (parent != nullptr && !parent->done)) continue;
    if (!TRY(table_.acquire(shard, owner_, lease_))) continue;
    MutexLock lock(mutex_);
    leases_.emplace(shard.id, Lease{.shard = std::make_shared<LeasedShard>(stream, shard)});
    changed_.notify_all();
  }
  return {};
}

Result<void, Problem> ShardLeases::renew() {
  for (const auto& shard : all()) {
    if (!TRY(table_.renew(shard->id, owner_, shard->read_to_ms, lease_))) drop(*shard);
  }
  return {};
}

void ShardLeases::give_back() {
  const auto shards = all();
  drop_all();
  for (const auto& shard : shards) {
    if (!table_.release(shard->id, owner_, shard->read_to_ms))
      return;  // the database cannot be reached: the leases run out by themselves
  }
}

void ShardLeases::drop_all() {
  MutexLock lock(mutex_);
  leases_.clear();
}

void ShardLeases::drop(const LeasedShard& shard) {
  MutexLock lock(mutex_);
  if (find(shard) != nullptr) leases_.erase(shard.id);
}

ShardPtr ShardLeases::next(std::chrono::milliseconds poll, const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] {
    MutexLock lock(mutex_);
    changed_.notify_all();
  });
  MutexLock lock(mutex_);
  while (!stop.stop_requested()) {
    const auto now = clock_.steady_now();
    auto due = now + poll;
    for (auto& [id, lease] : leases_) {
      if (lease.busy) continue;
      if (lease.next_read <= now) {
        lease.busy = true;
        return lease.shard;
      }
      due = std::min(due, lease.next_read);
    }
    clock_.wait_for(changed_, mutex_, due - now);
  }
  return nullptr;
}

void ShardLeases::put_back(const LeasedShard& shard, std::chrono::milliseconds pause) {
  MutexLock lock(mutex_);
  if (auto* const lease = find(shard)) {
    lease->busy = false;
    lease->next_read = clock_.steady_now() + pause;
  }
  changed_.notify_all();
}

bool ShardLeases::note_waiting(const LeasedShard& shard, std::uint64_t count, WallTime oldest) {
  MutexLock lock(mutex_);
  auto* const lease = find(shard);
  if (lease == nullptr) return false;
  lease->waiting = count;
  lease->oldest_waiting = oldest;
  return true;
}

bool ShardLeases::holds(const std::string& id) const {
  MutexLock lock(mutex_);
  return leases_.contains(id);
}

std::vector<ShardPtr> ShardLeases::all() const {
  MutexLock lock(mutex_);
  std::vector<ShardPtr> shards;
  for (const auto& [id, lease] : leases_) shards.push_back(lease.shard);
  return shards;
}

WaitingChanges ShardLeases::waiting() const {
  MutexLock lock(mutex_);
  WaitingChanges waiting;
  for (const auto& [id, lease] : leases_) waiting.add(lease.waiting, lease.oldest_waiting);
  return waiting;
}

// One that was lost and taken again is another.
ShardLeases::Lease* ShardLeases::find(const LeasedShard& shard) {
  const auto found = leases_.find(shard.id);
  return found != leases_.end() && found->second.shard.get() == &shard ? &found->second : nullptr;
}

}  // namespace stator::runtime
