#include "stator/runtime/consistency/consistency_manager.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stator/base/log.h"
#include "stator/base/priority.h"
#include "stator/runtime/problem.h"

namespace stator::runtime {
namespace {

constexpr int kNiceness = 10;  // of the threads: requests have the processor first
constexpr std::chrono::milliseconds kAfterProblem{1'000};
constexpr unsigned kRenewalsPerLease = 3;
constexpr std::chrono::seconds kLookAtOthers{1};  // how often it looks at what waits in shards that it does not read

bool is_listed(const std::vector<StreamShard>& shards, std::string_view id) {
  return std::any_of(shards.begin(), shards.end(), [&](const StreamShard& shard) { return shard.id == id; });
}

}  // namespace

ConsistencyManager::ConsistencyManager(std::shared_ptr<const model::Model> model, client::Client& client,
                                       const Clock& clock, Random& random, ConsistencyOptions options)
    : model_(std::move(model)),
      clock_(clock),
      options_(options),
      owner_(options.owner.empty() ? random.uuid() : options.owner),
      dynamo_(client, random, clock),
      table_(dynamo_, clock, *model_),
      reader_(client),
      reconciler_(*model_, dynamo_, random, options.traffic),
      propagation_(reconciler_),
      leases_(table_, clock, owner_, options.lease),
      hold_(*model_, table_),
      unread_(table_, reader_, leases_),
      verification_(table_, reader_, reconciler_, clock, owner_, options.lease),
      worker_({.clock = clock,
               .table = table_,
               .reader = reader_,
               .propagation = propagation_,
               .leases = leases_,
               .hold = hold_},
              {.table = model_->table.name,
               .owner = owner_,
               .attempts = options.attempts,
               .first_wait = options.first_wait}) {}

ConsistencyManager::~ConsistencyManager() { stop(); }

Result<void, Problem> ConsistencyManager::open(const std::stop_token& stop) {
  const auto state = TRY(dynamo_.describe_table(model_->table.name));
  if (!state || !state->stream_arn || state->table.stream != model::StreamView::NewAndOldImages) {
    return invalid(fmt::format("table {} has no stream with new and old images, which the model's rules need",
                               model_->table.name));
  }
  return table_.open(stop);
}

Result<void, Problem> ConsistencyManager::start(const std::stop_token& stop) {
  TRY(open(stop));
  {
    MutexLock lock(mutex_);
    running_ = true;
  }
  stop_ = std::stop_source();
  threads_.emplace_back([this, own = stop_.get_token()] { maintain_until_stopped(own); });
  for (unsigned worker = 0; worker < options_.workers; ++worker) {
    threads_.emplace_back([this, own = stop_.get_token()] { work_until_stopped(own); });
  }
  return {};
}

void ConsistencyManager::stop() {
  stop_.request_stop();
  {
    MutexLock lock(mutex_);
    running_ = false;
    changed_.notify_all();
  }
  threads_.clear();
  leases_.give_back();
}

ConsistencyStatus ConsistencyManager::status() const {
  ConsistencyStatus status;
  {
    MutexLock lock(mutex_);
    status.running = running_;
    status.problem = problem_;
  }
  const auto verification = verification_.status();
  const auto totals = worker_.totals();
  status.verifying = verification.since.has_value();
  status.held = hold_.is_held();
  status.shards = static_cast<unsigned>(leases_.all().size());
  status.propagated = totals.propagated;
  status.parked = totals.parked;
  status.repaired = verification.repaired;

  auto waiting = unread_.waiting();
  if (!status.held) {  // otherwise ours are among the unread ones
    const auto ours = leases_.waiting();
    waiting.add(ours.count, ours.oldest);
  }
  status.waiting = waiting.count;
  const auto since = std::min(waiting.oldest, verification.since.value_or(WallTime::max()));
  const auto now = clock_.now();
  if (since < now) status.lag = std::chrono::duration_cast<std::chrono::milliseconds>(now - since);
  return status;
}

Result<void, Problem> ConsistencyManager::catch_up() {
  const auto stop = stop_.get_token();
  TRY(open(stop));
  for (bool progress = true; progress;) {
    progress = false;
    TRY(maintain(stop));
    for (const auto& shard : leases_.all()) {
      while (TRY(advance(*shard, stop))) progress = true;
    }
    MutexLock lock(mutex_);
    progress = std::exchange(maintain_now_, false) || verification_.is_asked() || progress;
  }
  return {};
}

// -------------------------------------------------------------------------------------------------------- whose shards

Result<void, Problem> ConsistencyManager::maintain(const std::stop_token& stop) {
  const auto state = TRY(dynamo_.describe_table(model_->table.name));
  if (!state || !state->stream_arn) return invalid(fmt::format("table {} has no stream", model_->table.name));
  const auto& stream = *state->stream_arn;
  {
    MutexLock lock(mutex_);
    stream_ = stream;
  }
  if (TRY(hold_.look())) return count_unread();
  const auto progress = TRY(table_.stream());
  if (verification_.is_asked() || !progress || progress->stream != stream || progress->verifying) {
    return verify(progress, stream, stop);
  }
  const auto listed = TRY(reader_.shards(stream));
  auto known = TRY(table_.shards());
  const auto is_missed = [&](const ShardProgress& shard) { return !shard.done && table_.is_too_old(shard.read_to_ms); };
  const bool missed = std::any_of(known.begin(), known.end(), is_missed) ||
                      TRY(forget_vanished_shards(listed, known)) || TRY(add_new_shards(listed, known));
  if (missed) return verify(progress, stream, stop);
  TRY(leases_.renew());
  TRY(leases_.take(known, stream));
  return count_unread();
}

Result<void, Problem> ConsistencyManager::verify(const std::optional<StreamProgress>& seen, const std::string& stream,
                                                 const std::stop_token& stop) {
  leases_.drop_all();
  if (TRY(verification_.run(seen, stream, stop))) maintain_soon();
  return {};
}

// Rows of shards that the stream has forgotten.  True when one of them had not been read to its end.
Result<bool, Problem> ConsistencyManager::forget_vanished_shards(const std::vector<StreamShard>& listed,
                                                                 const std::vector<ShardProgress>& known) {
  for (const auto& shard : known) {
    if (is_listed(listed, shard.id)) continue;
    if (!shard.done) return true;
    const bool awaited = std::any_of(listed.begin(), listed.end(), [&](const StreamShard& child) {
      return child.parent == shard.id && find_shard(known, child.id) == nullptr;
    });
    if (!awaited) TRY(table_.remove_shard(shard.id));
  }
  return false;
}

// Shards whose parent has been read to its end.  True when there is one whose parent was never seen.
Result<bool, Problem> ConsistencyManager::add_new_shards(const std::vector<StreamShard>& listed,
                                                         std::vector<ShardProgress>& known) {
  for (const auto& shard : listed) {
    if (find_shard(known, shard.id) != nullptr) continue;
    const auto* parent = find_shard(known, shard.parent);
    if (parent == nullptr && !is_listed(listed, shard.parent)) return true;
    if (parent == nullptr || !parent->done) continue;
    ShardProgress progress;
    progress.id = shard.id;
    progress.parent = shard.parent;
    progress.read_to_ms = parent->read_to_ms;
    TRY(table_.add_shard(progress));
    known.push_back(std::move(progress));
  }
  return false;
}

Result<bool, Problem> ConsistencyManager::advance(LeasedShard& shard, const std::stop_token& stop) {
  const auto progress = TRY(worker_.advance(shard, stop));
  if (progress.missed) verification_.ask();
  if (progress.missed || progress.ended) maintain_soon();
  return progress.more;
}

Result<void, Problem> ConsistencyManager::count_unread() {
  std::string stream;
  {
    MutexLock lock(mutex_);
    stream = stream_;
  }
  return unread_.count(stream, hold_.is_held());
}

// ------------------------------------------------------------------------------------------------------ parked records

Result<std::vector<ParkedRecord>, Problem> ConsistencyManager::parked() {
  if (!TRY(table_.exists())) return std::vector<ParkedRecord>();
  return table_.parked();
}

Result<void, Problem> ConsistencyManager::replay(const std::string& id) {
  const auto records = TRY(parked());
  const auto record = std::find_if(records.begin(), records.end(), [&](const auto& other) { return other.id == id; });
  if (record == records.end()) return not_found("parked record");
  TRY(propagation_.propagate(TRY(read_change(record->record))));
  return table_.unpark(id);
}

// ------------------------------------------------------------------------------------------------------------- threads

void ConsistencyManager::note(const std::string& problem) {
  MutexLock lock(mutex_);
  if (problem != problem_ && !problem.empty()) {
    log::warning("consistency_manager_problem", {{"table", model_->table.name}, {"problem", problem}});
  }
  problem_ = problem;
}

void ConsistencyManager::maintain_soon() {
  MutexLock lock(mutex_);
  maintain_now_ = true;
  changed_.notify_all();
}

void ConsistencyManager::maintain_until_stopped(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    try {
      const auto maintained = maintain(stop);
      note(maintained ? "" : maintained.error().message);
      wait_for_maintenance(stop);
    } catch (const std::exception& exception) {
      note(exception.what());
      clock_.wait(kAfterProblem, stop);
    }
  }
}

void ConsistencyManager::wait_for_maintenance(const std::stop_token& stop) {
  const auto until = clock_.steady_now() + options_.lease / kRenewalsPerLease;
  while (!is_time_to_maintain(until, stop)) {
    const auto counted = count_unread();
    if (!counted) break;  // the next maintenance tells what is wrong
  }
  MutexLock lock(mutex_);
  maintain_now_ = false;
}

bool ConsistencyManager::is_time_to_maintain(SteadyTime until, const std::stop_token& stop) {
  const auto look = clock_.steady_now() + kLookAtOthers;
  const auto wake = unread_.shards() > 0 ? std::min(until, look) : until;
  MutexLock lock(mutex_);
  while (!maintain_now_ && !stop.stop_requested()) {
    const auto left = wake - clock_.steady_now();
    if (left <= left.zero()) return wake == until;
    clock_.wait_for(changed_, mutex_, left);
  }
  return true;
}

void ConsistencyManager::work_until_stopped(const std::stop_token& stop) {
  lower_priority(kNiceness);
  while (const auto shard = leases_.next(options_.poll, stop)) {
    auto pause = options_.poll;
    std::string problem;
    try {
      const auto more = advance(*shard, stop);
      if (more && *more) pause = std::chrono::milliseconds(0);
      if (!more) problem = more.error().message;
    } catch (const std::exception& exception) {
      problem = exception.what();
    }
    if (!problem.empty() && !stop.stop_requested()) {
      note(problem);
      shard->iterator.reset();
      pause = std::max(pause, kAfterProblem);
    }
    leases_.put_back(*shard, pause);
  }
}

}  // namespace stator::runtime
