#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "stator/storage/store.h"

namespace stator::storage::postgres {

// The purpose of a group of statements that are sent together.
enum class StatementKind : std::uint8_t {
  Read,      // values at keys
  Snapshot,  // beginning one
  Page,      // reading in one
  Lock,      // the first half of a commit: it waits for its lane, and checks its reads
  Write,     // the second half
  Other,     // connecting, looking whether the server is there
};
inline constexpr std::array<std::string_view, 6> kStatementKinds{"read", "snapshot", "page", "lock", "write", "other"};

// Counts the statements that the connections of a store send.  Thread-safe.
class StatementCounters {
 public:
  void note_sent(StatementKind kind, std::uint64_t statements) { add(counts_of(kind).statements, statements); }
  void note_answered(StatementKind kind, std::uint64_t rows, std::chrono::nanoseconds took) {
    auto& counts = counts_of(kind);
    add(counts.round_trips, 1);
    add(counts.rows, rows);
    add(counts.microseconds,
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(took).count()));
  }
  void note_conflict() { add(conflicts_, 1); }
  void note_retry() { add(retries_, 1); }
  void note_lock_wait(std::chrono::microseconds waited) {
    add(lock_wait_microseconds_, static_cast<std::uint64_t>(waited.count()));
  }

  // Fills in the members that only stores on a database server have.
  void tell(StoreStatistics& statistics) const {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      statistics.statements.push_back({.kind = kStatementKinds[i],
                                       .round_trips = load(counts_[i].round_trips),
                                       .statements = load(counts_[i].statements),
                                       .rows = load(counts_[i].rows),
                                       .time = std::chrono::microseconds(load(counts_[i].microseconds))});
    }
    statistics.conflicts = load(conflicts_);
    statistics.retries = load(retries_);
    statistics.lock_wait = std::chrono::microseconds(load(lock_wait_microseconds_));
  }

 private:
  using Counter = std::atomic<std::uint64_t>;
  // On a cache line of its own: readers count while others commit.
  struct alignas(64) Counts {
    Counter round_trips{0}, statements{0}, rows{0}, microseconds{0};
  };

  static void add(Counter& counter, std::uint64_t number) { counter.fetch_add(number, std::memory_order_relaxed); }
  static std::uint64_t load(const Counter& counter) { return counter.load(std::memory_order_relaxed); }
  Counts& counts_of(StatementKind kind) { return counts_[static_cast<std::size_t>(kind)]; }

  std::array<Counts, kStatementKinds.size()> counts_;
  Counter conflicts_{0}, retries_{0}, lock_wait_microseconds_{0};
};

}  // namespace stator::storage::postgres
