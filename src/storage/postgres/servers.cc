#include "stator/storage/postgres/servers.h"

#include <fmt/format.h>

#include <algorithm>

namespace stator::storage::postgres {
namespace {

constexpr std::chrono::seconds kWhichServerLimit{5};

// The first eight digits in the name of a file of the log are the timeline.
const char* const kWhichServer =
    "SELECT pg_is_in_recovery(), (SELECT system_identifier FROM pg_control_system()), "
    "CASE WHEN pg_is_in_recovery() THEN 0 "
    "ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int8 END";

}  // namespace

std::string Servers::preferred() const {
  MutexLock lock(mutex_);
  return preferred_;
}

void Servers::forget_preferred() {
  MutexLock lock(mutex_);
  preferred_.clear();
}

Result<ReachedServer> Servers::look_at(Connection& connection) {
  ReachedServer server;
  connection.add_once(kWhichServer);
  const auto which = connection.run_within(kWhichServerLimit);
  if (which) {
    const auto& rows = (*which)[0];
    if (rows.integer(0, 0) != 0) {
      return Error{ErrorCode::Storage, fmt::format("{} is a standby", connection.host())};
    }
    server.cluster = rows.integer(0, 1);
    server.timeline = rows.integer(0, 2);
  } else if (connection.broken()) {
    return which.error();
  }  // otherwise a relative of PostgreSQL, which has no such functions
  const auto known = known_.all();
  if (known.empty()) return server;  // not even the tables
  connection.add(statements_.lanes);
  const auto answer = TRY(connection.run_within(kWhichServerLimit));
  const auto& rows = answer[0];
  for (int row = 0; row < std::min(rows.count(), static_cast<int>(known.size())); ++row) {
    const CommitSequence last{static_cast<std::uint64_t>(rows.integer(row, 2))};
    const auto acknowledged = known[static_cast<std::size_t>(row)];
    if (last >= acknowledged) continue;
    server.lost = fmt::format("the database has lost commits: its last one is {}, and {} was acknowledged", last.value,
                              acknowledged.value);
    break;
  }
  return server;
}

bool Servers::is_former(const ReachedServer& server) const {
  return current_ && current_->cluster == server.cluster && server.timeline != 0 &&
         server.timeline < current_->timeline;
}

bool Servers::is_better(const ReachedServer& server, const ReachedServer& than) const {
  if (server.cluster == than.cluster) return server.timeline > than.timeline;
  return current_ && server.cluster == current_->cluster;
}

Result<ChosenServer> Servers::choose(const std::vector<ReachedServer>& servers, bool only_one) {
  has_others_.store(!only_one, std::memory_order_relaxed);
  auto [chosen, lost, is_final] = choose_or_tell(servers, only_one);
  if (chosen) return *chosen;
  if (lost.empty()) return Error{ErrorCode::Storage, "another server has been promoted since, and cannot be reached"};
  if (is_final) return condition_.lose(std::move(lost));
  return Error{ErrorCode::Storage, std::move(lost)};
}

Servers::Outcome Servers::choose_or_tell(const std::vector<ReachedServer>& servers, bool only_one) {
  std::optional<std::size_t> best;
  std::string lost;
  bool is_known = true;
  MutexLock lock(mutex_);
  for (std::size_t i = 0; i < servers.size(); ++i) {
    const auto& server = servers[i];
    if (is_former(server)) continue;
    const std::pair place{server.cluster, server.timeline};
    // Others may have made as many new commits there as were lost.
    const bool was_behind = server.timeline != 0 && behind_.contains(place);
    if (!server.lost.empty() || was_behind) {
      lost = server.lost.empty() ? "the database has lost commits" : server.lost;
      is_known = is_known && server.timeline != 0;
      if (server.timeline != 0) behind_.insert(place);
      continue;
    }
    if (!best || is_better(server, servers[*best])) best = i;
  }
  if (best) {
    const auto& server = servers[*best];
    const bool is_same = current_ && current_->cluster == server.cluster && current_->timeline == server.timeline;
    if (!is_same) era_.fetch_add(1, std::memory_order_acq_rel);
    current_ = server;
    preferred_ = server.place;
    behind_since_.reset();
    return {.chosen = ChosenServer{.index = *best, .era = era_.load(std::memory_order_acquire)}};
  }
  if (lost.empty()) return {};
  const auto now = clock_.steady_now();
  if (!behind_since_) behind_since_ = now;
  const bool is_final = only_one || !is_known || now - *behind_since_ >= kPatience;
  return {.chosen = std::nullopt, .lost = std::move(lost), .is_final = is_final};
}

Result<void> Servers::check(Connection& connection) const {
  if (is_current(connection)) return {};
  connection.give_up("another server has been promoted since");
  return Error{ErrorCode::Storage, "another server has been promoted since"};
}

}  // namespace stator::storage::postgres
