#include "stator/runtime/consistency/consistency_manager.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "stator/base/log.h"
#include "stator/runtime/consistency/verify.h"
#include "stator/runtime/problem.h"

namespace stator::runtime {
namespace {

// What this thread does can wait: while there is something to answer, others have the processor.  Where that cannot be had, it works
// as everybody else.
void yield_to_requests() {
  constexpr int kNiceness = 10;
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNiceness);
}

constexpr std::size_t kCheckpointEvery = 50;  // changes, when a page has more
constexpr unsigned kRenewalsPerLease = 3;
constexpr std::chrono::seconds kLookAtOthers{1};  // how often it looks at what waits in shards that it does not read

std::int64_t to_ms(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

const ShardProgress* find_shard(const std::vector<ShardProgress>& shards, std::string_view id) {
  const auto found = std::find_if(shards.begin(), shards.end(), [&](const auto& shard) { return shard.id == id; });
  return found != shards.end() ? &*found : nullptr;
}

bool is_listed(const std::vector<StreamShard>& shards, std::string_view id) {
  return std::any_of(shards.begin(), shards.end(), [&](const StreamShard& shard) { return shard.id == id; });
}

}  // namespace

value::Item primary_keys(const model::Model& model) {
  value::Item keys;
  for (const auto& entity : model.entities) {
    std::string text;
    for (const auto* key : {&model.table.partition, model.table.sort ? &*model.table.sort : nullptr}) {
      const auto* rule = key != nullptr ? entity.main().find_key(key->name) : nullptr;
      if (rule == nullptr) continue;
      text += key->name;
      for (const auto& alternative : rule->alternatives) text += fmt::format("={}", alternative.text.text());
      text += '\n';
    }
    keys.set(entity.name, value::AttributeValue::string(text));
  }
  return keys;
}

ConsistencyManager::ConsistencyManager(std::shared_ptr<const model::Model> model, client::Client& client,
                                       const Clock& clock, Random& random, ConsistencyOptions options)
    : model_(std::move(model)),
      clock_(clock),
      random_(random),
      options_(options),
      owner_(options.owner.empty() ? random.uuid() : options.owner),
      keys_(primary_keys(*model_)),
      dynamo_(client, random),
      table_(dynamo_, clock, *model_),
      reader_(client),
      reconciler_(*model_, dynamo_, random),
      propagation_(reconciler_) {}

ConsistencyManager::~ConsistencyManager() { stop(); }

Result<void, Problem> ConsistencyManager::open() {
  const auto state = TRY(dynamo_.describe_table(model_->table.name));
  if (!state || !state->stream_arn || state->table.stream != model::StreamView::NewAndOldImages) {
    return invalid(fmt::format("table {} has no stream with new and old images, which the model's rules need",
                               model_->table.name));
  }
  return table_.open();
}

Result<void, Problem> ConsistencyManager::start() {
  TRY(open());
  {
    MutexLock lock(mutex_);
    stopping_ = false;
    status_.running = true;
  }
  threads_.emplace_back([this] { tend_until_stopped(); });
  for (unsigned worker = 0; worker < options_.workers; ++worker) {
    threads_.emplace_back([this] { work_until_stopped(); });
  }
  return {};
}

void ConsistencyManager::stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    status_.running = false;
    changed_.notify_all();
  }
  threads_.clear();
  give_back_leases();
}

ConsistencyStatus ConsistencyManager::status() const {
  MutexLock lock(mutex_);
  auto status = status_;
  status.shards = static_cast<unsigned>(shards_.size());
  const auto now = clock_.now();
  const auto add = [&](std::uint64_t waiting, WallTime oldest) {
    if (waiting == 0) return;
    status.waiting += waiting;
    status.lag = std::max(status.lag, std::chrono::duration_cast<std::chrono::milliseconds>(now - oldest));
  };
  add(unread_, oldest_unread_);
  for (const auto& [id, shard] : shards_) {
    if (!status.held) add(shard->waiting, shard->oldest_waiting);
  }
  if (status.verifying) {
    status.lag = std::max(status.lag, std::chrono::duration_cast<std::chrono::milliseconds>(now - verifying_since_));
  }
  return status;
}

Result<void, Problem> ConsistencyManager::catch_up() {
  TRY(open());
  for (bool progress = true; progress;) {
    progress = false;
    TRY(tend());
    std::vector<ShardPtr> shards;
    {
      MutexLock lock(mutex_);
      for (const auto& [id, shard] : shards_) shards.push_back(shard);
    }
    for (const auto& shard : shards) {
      while (TRY(advance(*shard))) progress = true;
    }
    MutexLock lock(mutex_);
    progress = std::exchange(tend_now_, false) || must_verify_ || progress;
  }
  return {};
}

// ------------------------------------------------------------------------------------------------------------ whose shards

Result<void, Problem> ConsistencyManager::tend() {
  const auto state = TRY(dynamo_.describe_table(model_->table.name));
  if (!state || !state->stream_arn) return invalid(fmt::format("table {} has no stream", model_->table.name));
  const auto& stream = *state->stream_arn;
  bool must_verify = false;
  {
    MutexLock lock(mutex_);
    stream_ = stream;
    must_verify = must_verify_;
  }
  if (TRY(held())) return count_unread();
  const auto progress = TRY(table_.stream());
  if (must_verify || !progress || progress->stream != stream || progress->verifying) {
    TRY(verify_everything(progress, stream));
    return {};
  }
  const auto listed = TRY(reader_.shards(stream));
  auto known = TRY(table_.shards());
  const bool missed = std::any_of(known.begin(), known.end(), [&](const auto& shard) { return is_missed(shard); }) ||
                      TRY(settle_vanished_shards(listed, known)) || TRY(add_new_shards(listed, known));
  if (missed) return verify_everything(progress, stream);
  TRY(renew_leases());
  TRY(take_leases(known));
  return count_unread();
}

bool ConsistencyManager::is_missed(const ShardProgress& shard) const {
  return !shard.done && table_.now_ms() - shard.read_to_ms > std::chrono::milliseconds(kRetention).count();
}

// Rows of shards that the stream has forgotten.  True when one of them had not been read to its end.
Result<bool, Problem> ConsistencyManager::settle_vanished_shards(const std::vector<StreamShard>& listed,
                                                                 std::vector<ShardProgress>& known) {
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

Result<void, Problem> ConsistencyManager::renew_leases() {
  std::vector<ShardPtr> shards;
  {
    MutexLock lock(mutex_);
    for (const auto& [id, shard] : shards_) shards.push_back(shard);
  }
  for (const auto& shard : shards) {
    std::int64_t read_to = 0;
    {
      MutexLock lock(mutex_);
      read_to = shard->read_to_ms;
    }
    if (TRY(table_.renew(shard->id, owner_, read_to, options_.lease))) continue;
    MutexLock lock(mutex_);
    shard->lost = true;
    shards_.erase(shard->id);
  }
  return {};
}

Result<void, Problem> ConsistencyManager::take_leases(const std::vector<ShardProgress>& known) {
  for (const auto& shard : known) {
    {
      MutexLock lock(mutex_);
      if (shards_.contains(shard.id)) continue;
    }
    const auto* parent = find_shard(known, shard.parent);
    const bool free = shard.expires_ms <= table_.now_ms() || shard.owner == owner_;
    if (shard.done || !free || (parent != nullptr && !parent->done)) continue;
    if (!TRY(table_.acquire(shard, owner_, options_.lease))) continue;
    auto taken = std::make_shared<Shard>();
    taken->id = shard.id;
    taken->checkpoint = shard.checkpoint;
    taken->read_to_ms = shard.read_to_ms;
    MutexLock lock(mutex_);
    shards_.emplace(shard.id, std::move(taken));
    changed_.notify_all();
  }
  return {};
}

void ConsistencyManager::give_back_leases() {
  std::map<std::string, ShardPtr> shards;
  {
    MutexLock lock(mutex_);
    shards.swap(shards_);
  }
  for (const auto& [id, shard] : shards) {
    if (!table_.release(id, owner_, shard->read_to_ms))
      return;  // the database cannot be reached: the leases run out by themselves
  }
}

Result<void, Problem> ConsistencyManager::verify_everything(const std::optional<StreamProgress>& seen,
                                                            const std::string& stream) {
  {
    MutexLock lock(mutex_);
    for (const auto& [id, shard] : shards_) shard->lost = true;
    shards_.clear();
  }
  const bool others =
      seen && seen->verifying && seen->owner != owner_ && seen->stream == stream && seen->expires_ms > table_.now_ms();
  if (others || !TRY(table_.begin_verification(seen, stream, owner_, options_.lease))) return {};
  {
    MutexLock lock(mutex_);
    must_verify_ = false;
    if (!std::exchange(status_.verifying, true)) verifying_since_ = clock_.now();
  }
  // Positions first: what changes while the table is walked is read afterwards.
  const auto listed = TRY(reader_.shards(stream));
  for (const auto& shard : TRY(table_.shards())) TRY(table_.remove_shard(shard.id));
  for (const auto& shard : listed) {
    ShardProgress progress;
    progress.id = shard.id;
    progress.parent = shard.parent;
    progress.read_to_ms = table_.now_ms();
    TRY(table_.add_shard(progress));
  }
  log::info("table is being verified", {{"table", model_->table.name}, {"model", model_->name}});
  VerifyOptions options;
  options.repair = true;
  options.report = [](const Finding& finding, bool repaired) {
    log::warning(repaired ? "repaired" : "needs a person to look at it", {{"kind", finding_name(finding.kind)},
                                                                          {"entity", finding.entity},
                                                                          {"key", key_text(finding.key)},
                                                                          {"what", finding.what}});
  };
  options.progress = [this](const value::Item&, std::uint64_t) {
    const auto renewed = table_.renew_verification(owner_, options_.lease);
    return !stopping() && renewed && *renewed;
  };
  const auto result = TRY(verify(reconciler_, options));
  if (result.complete) {
    TRY(table_.end_verification(owner_));
  } else {
    TRY(table_.renew_verification(owner_, std::chrono::milliseconds(0)));  // somebody else need not wait to begin anew
  }
  MutexLock lock(mutex_);
  status_.repaired += result.repaired;
  status_.verifying = false;
  tend_now_ = true;
  return {};
}

// ------------------------------------------------------------------------------------------------------------------- reading

Result<ChangePage, Problem> ConsistencyManager::next_page(Shard& shard) {
  std::string stream;
  {
    MutexLock lock(mutex_);
    stream = stream_;
  }
  if (!shard.iterator) shard.iterator = TRY(reader_.iterator(stream, shard.id, shard.checkpoint));
  auto page = reader_.read(*shard.iterator);
  if (page || page.error().code != StreamReader::kExpired) return page;
  shard.iterator = TRY(reader_.iterator(stream, shard.id, shard.checkpoint));
  return reader_.read(*shard.iterator);
}

Result<bool, Problem> ConsistencyManager::advance(Shard& shard) {
  const auto asked_ms = table_.now_ms();
  auto page = next_page(shard);
  if (!page && page.error().code == StreamReader::kTrimmed) {
    shard.iterator.reset();
    MutexLock lock(mutex_);
    // The last record is older than what the stream keeps.  If we have looked since, there was nothing behind it.
    const bool looked = asked_ms - shard.read_to_ms <= std::chrono::milliseconds(kRetention).count();
    if (looked && shard.checkpoint) {
      shard.checkpoint.reset();
      return true;
    }
    must_verify_ = true;
    return false;
  }
  if (!page) return Problem(page.error());
  if (!page->changes.empty() && TRY(held())) {
    shard.iterator.reset();
    return false;
  }

  const auto count = page->changes.size();
  for (std::size_t done = 0; done < count; ++done) {
    const auto& change = page->changes[done];
    {
      MutexLock lock(mutex_);
      shard.waiting = count - done;
      shard.oldest_waiting = change.at;
      if (shard.lost || stopping_) return false;
    }
    TRY(carry_or_park(shard, change));
    const bool checkpoint =
        !change.sequence_number.empty() && (done + 1 == count || (done + 1) % kCheckpointEvery == 0);
    // Never back: a verification has covered what happened before it, though those records are read as well.
    const auto read_to = std::max(shard.read_to_ms, to_ms(change.at));
    if (checkpoint && !TRY(table_.checkpoint(shard.id, owner_, change.sequence_number, read_to))) {
      MutexLock lock(mutex_);
      shard.lost = true;
      shards_.erase(shard.id);
      return false;
    }
    MutexLock lock(mutex_);
    if (checkpoint) shard.checkpoint = change.sequence_number;
    if (checkpoint) shard.read_to_ms = read_to;
    ++status_.carried;
  }
  if (!page->next) {
    TRY(table_.finish(shard.id, owner_, asked_ms));
    MutexLock lock(mutex_);
    shard.lost = true;
    shards_.erase(shard.id);
    tend_now_ = true;
    changed_.notify_all();
    return count > 0;
  }
  shard.iterator = std::move(page->next);
  MutexLock lock(mutex_);
  shard.waiting = 0;
  if (count == 0) shard.read_to_ms = asked_ms;
  return count > 0;
}

Result<void, Problem> ConsistencyManager::carry_or_park(Shard& shard, const Change& change) {
  if (change.unreadable) return park(shard, change, *change.unreadable, 1);
  auto pause = options_.first_wait;
  for (unsigned attempt = 1;; ++attempt) {
    const auto carried = propagation_.propagate(change, [this] { return stopping(); });
    if (carried) return {};
    const auto& problem = carried.error();
    if (stopping()) return problem;
    const bool hopeless = problem.kind == ProblemKind::Invalid;  // what the rules give cannot be stored
    if (!hopeless && attempt < options_.attempts) {
      wait(pause);
      pause = std::min(pause * 2, kLongestWait);
      continue;
    }
    // A database that is busy will be less so.  One that cannot be reached will not take the parked record, either.
    if (problem.kind == ProblemKind::Busy) return problem;
    return park(shard, change, problem, attempt);
  }
}

Result<void, Problem> ConsistencyManager::park(const Shard& shard, const Change& change, const Problem& problem,
                                               unsigned attempts) {
  const auto number = change.sequence_number.empty()
                          ? fmt::format("unnumbered-{:016x}", std::hash<std::string>()(change.text))
                          : change.sequence_number;
  TRY(table_.park(
      shard.id, number,
      {.id = {}, .record = change.text, .problem = problem.message, .attempts = attempts, .parked_at = {}}));
  log::error("a change could not be carried and was parked",
             {{"table", model_->table.name}, {"key", key_text(change.keys)}, {"problem", problem.message}});
  MutexLock lock(mutex_);
  ++status_.parked;
  return {};
}

// A migration has moved rows to other primary keys than ours.  Asked after a page was read: what it moves is announced before.
Result<bool, Problem> ConsistencyManager::held() {
  const auto row = TRY(table_.row(kHoldRow));
  const auto* content = row ? row->find("Keys") : nullptr;
  const auto* moved = content != nullptr ? content->as_map() : nullptr;
  std::vector<std::string> entities;
  for (const auto& [entity, key] : moved != nullptr ? *moved : value::Item()) {
    const auto* ours = keys_.find(entity);
    if (ours != nullptr && *ours != key) entities.push_back(entity);
  }
  const bool held = !entities.empty();
  MutexLock lock(mutex_);
  if (held && !status_.held) {
    log::warning("consistency manager is held",
                 {{"table", model_->table.name},
                  {"moved", fmt::format("{}", fmt::join(entities, ", "))},
                  {"reason",
                   "a migration moves rows to other primary keys than this model's, or has moved them; until "
                   "that is settled nothing is copied, cascaded or cleaned up here"},
                  {"remedy",
                   "finish it with `stator model migrate OLD NEW` and serve the new model, or take it back "
                   "with `stator model migrate NEW OLD`"}});
  }
  if (!held && status_.held) log::info("consistency manager goes on", {{"table", model_->table.name}});
  status_.held = held;
  return held;
}

// Reads without leases: nothing is carried, and others may look as well.
Result<void, Problem> ConsistencyManager::count_unread() {
  std::string stream;
  bool all = false;
  {
    MutexLock lock(mutex_);
    stream = stream_;
    all = status_.held;
  }
  unsigned shards = 0;
  std::uint64_t changes = 0;
  auto oldest = WallTime::max();
  for (const auto& shard : TRY(table_.shards())) {
    {
      MutexLock lock(mutex_);
      if (shard.done || (!all && shards_.contains(shard.id))) continue;
    }
    ++shards;
    const auto iterator = reader_.iterator(stream, shard.id, shard.checkpoint);
    const auto page = iterator ? reader_.read(*iterator) : Result<ChangePage, Problem>(iterator.error());
    if (!page && page.error().code != StreamReader::kTrimmed) return page.error();
    if (page && page->changes.empty()) continue;
    changes += page ? page->changes.size() : 1;
    const WallTime done_to{std::chrono::milliseconds(shard.read_to_ms)};
    oldest = std::min(oldest, page ? std::max(page->changes.front().at, done_to) : done_to);
  }
  MutexLock lock(mutex_);
  unread_shards_ = shards;
  unread_ = changes;
  oldest_unread_ = oldest;
  return {};
}

// -------------------------------------------------------------------------------------------------------------- parked records

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

// ------------------------------------------------------------------------------------------------------------------- threads

bool ConsistencyManager::stopping() const {
  MutexLock lock(mutex_);
  return stopping_;
}

void ConsistencyManager::wait(std::chrono::milliseconds duration) {
  const auto until = std::chrono::steady_clock::now() + duration;
  MutexLock lock(mutex_);
  while (!stopping_ && std::chrono::steady_clock::now() < until) {
    changed_.wait_for(mutex_, until - std::chrono::steady_clock::now());
  }
}

void ConsistencyManager::note(const std::string& problem) {
  MutexLock lock(mutex_);
  if (problem != status_.problem && !problem.empty()) {
    log::warning("consistency manager", {{"table", model_->table.name}, {"problem", problem}});
  }
  status_.problem = problem;
}

void ConsistencyManager::tend_until_stopped() {
  while (!stopping()) {
    try {
      const auto tended = tend();
      note(tended ? "" : tended.error().message);
      wait_for_tending();
    } catch (const std::exception& exception) {
      note(exception.what());
      wait(kAfterProblem);
    }
  }
}

void ConsistencyManager::wait_for_tending() {
  const auto until = std::chrono::steady_clock::now() + options_.lease / kRenewalsPerLease;
  while (!is_time_to_tend(until)) {
    const auto counted = count_unread();
    if (!counted) break;  // tending tells what is wrong
  }
  MutexLock lock(mutex_);
  tend_now_ = false;
}

bool ConsistencyManager::is_time_to_tend(std::chrono::steady_clock::time_point until) {
  MutexLock lock(mutex_);
  const auto look = std::chrono::steady_clock::now() + kLookAtOthers;
  const auto wake = unread_shards_ > 0 ? std::min(until, look) : until;
  const auto is_asked_to = [this]() REQUIRES(mutex_) { return stopping_ || tend_now_ || must_verify_; };
  while (!is_asked_to() && std::chrono::steady_clock::now() < wake) {
    changed_.wait_for(mutex_, wake - std::chrono::steady_clock::now());
  }
  return is_asked_to() || wake == until;
}

ConsistencyManager::ShardPtr ConsistencyManager::next_shard() {
  MutexLock lock(mutex_);
  while (!stopping_) {
    const auto now = std::chrono::steady_clock::now();
    auto wake = now + options_.poll;
    for (const auto& [id, shard] : shards_) {
      if (shard->busy || shard->lost) continue;
      if (shard->next_read <= now) {
        shard->busy = true;
        return shard;
      }
      wake = std::min(wake, shard->next_read);
    }
    changed_.wait_for(mutex_, wake - now);
  }
  return nullptr;
}

void ConsistencyManager::work_until_stopped() {
  yield_to_requests();
  while (const auto shard = next_shard()) {
    auto pause = options_.poll;
    std::string problem;
    try {
      const auto more = advance(*shard);
      if (more && *more) pause = std::chrono::milliseconds(0);
      if (!more) problem = more.error().message;
    } catch (const std::exception& exception) {
      problem = exception.what();
    }
    if (!problem.empty() && !stopping()) {
      note(problem);
      shard->iterator.reset();
      pause = std::max(pause, kAfterProblem);
    }
    MutexLock lock(mutex_);
    shard->busy = false;
    shard->next_read = std::chrono::steady_clock::now() + pause;
    changed_.notify_all();
  }
}

}  // namespace stator::runtime
