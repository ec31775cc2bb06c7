#include "stator/runtime/consistency/shard_worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "stator/base/log.h"

namespace stator::runtime {
namespace {

constexpr std::size_t kCheckpointEvery = 50;  // changes, when a page has more

std::int64_t to_ms(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

}  // namespace

ShardWorker::Totals ShardWorker::totals() const {
  MutexLock lock(mutex_);
  return totals_;
}

Result<ChangePage, Problem> ShardWorker::next_page(LeasedShard& shard) {
  auto& reader = uses_.reader;
  if (!shard.iterator) shard.iterator = TRY(reader.iterator(shard.stream, shard.id, shard.checkpoint));
  auto page = reader.read(*shard.iterator);
  if (page || page.error().code != StreamReader::kExpired) return page;
  shard.iterator = TRY(reader.iterator(shard.stream, shard.id, shard.checkpoint));
  return reader.read(*shard.iterator);
}

Result<ShardWorker::Progress, Problem> ShardWorker::advance(LeasedShard& shard, const std::stop_token& stop) {
  const auto asked_ms = uses_.table.now_ms();
  auto page = next_page(shard);
  if (!page && page.error().code == StreamReader::kTrimmed) {
    shard.iterator.reset();
    // The last record is older than what the stream keeps.  If we have looked since, there was nothing behind it.
    if (uses_.table.is_too_old(shard.read_to_ms) || !shard.checkpoint) return Progress{.missed = true};
    shard.checkpoint.reset();
    return Progress{.more = true};
  }
  if (!page) return Problem(page.error());
  if (!page->changes.empty() && TRY(uses_.hold.look())) {
    shard.iterator.reset();
    return Progress{};
  }

  const auto count = page->changes.size();
  for (std::size_t done = 0; done < count; ++done) {
    const auto& change = page->changes[done];
    if (!uses_.leases.note_waiting(shard, count - done, change.at) || stop.stop_requested()) return Progress{};
    TRY(propagate_or_park(shard, change, stop));
    const bool is_time = done + 1 == count || (done + 1) % kCheckpointEvery == 0;
    if (is_time && !TRY(checkpoint(shard, change))) {
      uses_.leases.drop(shard);
      return Progress{};
    }
    MutexLock lock(mutex_);
    ++totals_.propagated;
  }
  if (!page->next) {
    TRY(uses_.table.finish(shard.id, options_.owner, asked_ms));
    uses_.leases.drop(shard);
    return Progress{.more = count > 0, .ended = true};
  }
  shard.iterator = std::move(page->next);
  uses_.leases.note_waiting(shard, 0, {});
  if (count == 0) shard.read_to_ms = asked_ms;
  return Progress{.more = count > 0};
}

Result<bool, Problem> ShardWorker::checkpoint(LeasedShard& shard, const Change& change) {
  if (change.sequence_number.empty()) return true;
  // Never back: a verification has covered what happened before it, though those records are read as well.
  const auto read_to = std::max(shard.read_to_ms.load(), to_ms(change.at));
  if (!TRY(uses_.table.checkpoint(shard.id, options_.owner, change.sequence_number, read_to))) return false;
  shard.checkpoint = change.sequence_number;
  shard.read_to_ms = read_to;
  return true;
}

Result<void, Problem> ShardWorker::propagate_or_park(const LeasedShard& shard, const Change& change,
                                                     const std::stop_token& stop) {
  if (change.unreadable) return park(shard, change, unreadable_change(), 1);
  auto pause = options_.first_wait;
  for (unsigned attempt = 1;; ++attempt) {
    const auto propagated = uses_.propagation.propagate(change, [&] { return stop.stop_requested(); });
    if (propagated) return {};
    const auto& problem = propagated.error();
    if (stop.stop_requested()) return problem;
    const bool hopeless = problem.kind == ProblemKind::Invalid;  // what the rules give cannot be stored
    if (!hopeless && attempt < options_.attempts) {
      uses_.clock.wait(pause, stop);
      pause = std::min(pause * 2, kLongestWait);
      continue;
    }
    // A database that is busy will be less so.  One that cannot be reached will not take the parked record, either.
    if (problem.kind == ProblemKind::Busy) return problem;
    return park(shard, change, problem, attempt);
  }
}

Result<void, Problem> ShardWorker::park(const LeasedShard& shard, const Change& change, const Problem& problem,
                                        unsigned attempts) {
  const auto record = change_text(change);
  const auto number = change.sequence_number.empty()
                          ? fmt::format("unnumbered-{:016x}", std::hash<std::string>()(record))
                          : change.sequence_number;
  TRY(uses_.table.park(
      shard.id, number,
      {.id = {}, .record = record, .problem = problem.message, .attempts = attempts, .parked_at = {}}));
  log::error("change_parked",
             {{"table", options_.table}, {"key", key_text(change.keys)}, {"problem", problem.message}});
  MutexLock lock(mutex_);
  ++totals_.parked;
  return {};
}

}  // namespace stator::runtime
