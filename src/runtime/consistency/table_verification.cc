#include "stator/runtime/consistency/table_verification.h"

#include <utility>

#include "stator/base/log.h"
#include "stator/runtime/consistency/verify.h"

namespace stator::runtime {

TableVerification::TableVerification(ConsistencyTable& table, StreamReader& reader, Reconciler& reconciler,
                                     const Clock& clock, std::string owner, std::chrono::milliseconds lease)
    : table_(table), reader_(reader), reconciler_(reconciler), clock_(clock), owner_(std::move(owner)), lease_(lease) {}

void TableVerification::ask() {
  MutexLock lock(mutex_);
  asked_ = true;
}

bool TableVerification::is_asked() const {
  MutexLock lock(mutex_);
  return asked_;
}

TableVerification::Status TableVerification::status() const {
  MutexLock lock(mutex_);
  return status_;
}

Result<void, Problem> TableVerification::take_positions(const std::string& stream) {
  const auto listed = TRY(reader_.shards(stream));
  for (const auto& shard : TRY(table_.shards())) TRY(table_.remove_shard(shard.id));
  for (const auto& shard : listed) {
    ShardProgress progress;
    progress.id = shard.id;
    progress.parent = shard.parent;
    progress.read_to_ms = table_.now_ms();
    TRY(table_.add_shard(progress));
  }
  return {};
}

Result<bool, Problem> TableVerification::run(const std::optional<StreamProgress>& seen, const std::string& stream,
                                             const std::stop_token& stop) {
  const bool others =
      seen && seen->verifying && seen->owner != owner_ && seen->stream == stream && seen->expires_ms > table_.now_ms();
  if (others || !TRY(table_.begin_verification(seen, stream, owner_, lease_))) return false;
  {
    MutexLock lock(mutex_);
    asked_ = false;
    if (!status_.since) status_.since = clock_.now();
  }
  // Differences because of changes that still wait in the stream are not reported.
  const auto changes = TRY(PendingChanges::read_all(reconciler_, stream));
  // Positions first: what changes while the table is walked is read afterwards.
  TRY(take_positions(stream));
  log::info("table_verification_started",
            {{"table", reconciler_.model().table.name}, {"model", reconciler_.model().name}});
  VerifyOptions options;
  options.repair = true;
  options.changes = &changes;
  options.report = [](const RowFinding& finding, FindingState state) {
    if (state == FindingState::Propagated) return;
    log::warning(state == FindingState::Repaired ? "row_repaired" : "row_needs_a_decision",
                 {{"kind", finding_name(finding.kind)},
                  {"entity", finding.entity},
                  {"key", key_text(finding.key)},
                  {"what", finding.what}});
  };
  options.progress = [&](const value::Item&, std::uint64_t) {
    const auto renewed = table_.renew_verification(owner_, lease_);
    return !stop.stop_requested() && renewed && *renewed;
  };
  const auto result = TRY(verify(reconciler_, options));
  if (result.complete) {
    TRY(table_.end_verification(owner_));
  } else {
    TRY(table_.renew_verification(owner_, std::chrono::milliseconds(0)));  // somebody else need not wait to begin anew
  }
  MutexLock lock(mutex_);
  status_.repaired += result.repaired;
  status_.since.reset();
  return true;
}

}  // namespace stator::runtime
