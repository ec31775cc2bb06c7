#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stator/base/clock.h"
#include "stator/base/mutex.h"
#include "stator/storage/postgres/connection.h"
#include "stator/storage/postgres/lanes.h"
#include "stator/storage/postgres/postgres_statements.h"
#include "stator/storage/postgres/store_condition.h"

namespace stator::storage::postgres {

// Which of the servers of a store has its newest data, as far as this process knows.
//
// PostgreSQL numbers the times at which a standby was promoted: the timeline.  If a server has a smaller timeline than
// another, it was the primary before.  It may not know that yet, and still take reads and writes.  If a server lacks
// commits that this process has seen, it was promoted too early, or has lost them.  Neither is used.  If no other is
// found, the second kind means that the store is lost: at once if the address leads to one server alone, otherwise
// after kPatience.
//
// Each change of the server begins an era.  Connections of an earlier era are not to be used.  Thread-safe.
class Servers final : public ServerChoice {
 public:
  static constexpr std::chrono::seconds kPatience{30};

  // All outlive it.
  Servers(const Statements& statements, const KnownCommits& known, StoreCondition& condition, const Clock& clock)
      : statements_(statements), known_(known), condition_(condition), clock_(clock) {}

  std::string preferred() const override;
  Result<ReachedServer> look_at(Connection& connection) override;
  Result<ChosenServer> choose(const std::vector<ReachedServer>& servers, bool only_one) override;

  bool is_current_era(std::uint64_t era) const override { return era == era_.load(std::memory_order_acquire); }
  bool is_current(const Connection& connection) const { return is_current_era(connection.era()); }
  // Whether a connection of an earlier era has answered: then it is given up.  Errors: Storage.
  Result<void> check(Connection& connection) const;
  // A connection has ended: the next one looks at all servers.
  void forget_preferred();
  // Whether the address leads to more than one server.
  bool has_others() const { return has_others_.load(std::memory_order_relaxed); }

 private:
  struct Outcome {
    std::optional<ChosenServer> chosen = std::nullopt;
    std::string lost = {};  // by servers that were turned away
    bool is_final = false;
  };
  Outcome choose_or_tell(const std::vector<ReachedServer>& servers, bool only_one);
  bool is_former(const ReachedServer& server) const REQUIRES(mutex_);
  bool is_better(const ReachedServer& server, const ReachedServer& than) const REQUIRES(mutex_);

  const Statements& statements_;
  const KnownCommits& known_;
  StoreCondition& condition_;
  const Clock& clock_;

  std::atomic<std::uint64_t> era_{0};
  std::atomic<bool> has_others_{false};
  mutable Mutex mutex_;
  std::optional<ReachedServer> current_ GUARDED_BY(mutex_);
  std::string preferred_ GUARDED_BY(mutex_);
  std::set<std::pair<std::int64_t, std::int64_t>> behind_ GUARDED_BY(mutex_);  // clusters with their timelines
  std::optional<SteadyTime> behind_since_ GUARDED_BY(mutex_);
};

}  // namespace stator::storage::postgres
