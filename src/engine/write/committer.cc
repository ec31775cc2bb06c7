#include "stator/engine/write/committer.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "stator/base/log.h"
#include "stator/base/wake_later.h"

namespace stator::engine {

Committer::Committer(storage::Store& store, const Clock& clock, Mode mode, std::function<Result<void>()> recovered,
                     std::function<void()> failed)
    : store_(store),
      clock_(clock),
      mode_(mode),
      shared_(store.capabilities().shared),
      recovered_(std::move(recovered)),
      failed_(std::move(failed)) {
  // A full disk does not keep a store from being opened.
  if (auto health = store.health(); health.trouble != storage::StoreTrouble::None) {
    trouble_ = health.trouble;
    failure_ = {ErrorCode::Storage, std::move(health.cause)};
    read_only_ = true;
    next_recovery_ = clock_.now() + kRecoveryInterval;
  }
  if (mode_ == Mode::Inline) return;
  last_written_ = store.last_commit();
  if (store.capabilities().two_steps) {
    for (int i = 0; i < 2; ++i) threads_.emplace_back([this] { run_in_turns(); });
  } else {
    threads_.emplace_back([this] { run(); });
  }
}

Committer::~Committer() { stop(); }

void Committer::stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  waiting_.notify_all();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
  MutexLock lock(mutex_);
  stopped_ = true;  // without a thread, too
}

void Committer::submit(std::unique_ptr<Work> work) {
  bool commits_here = false;
  bool full = false;
  bool stopped = false;
  if (shared_) {
    work->arrived_ = clock_.now();
    work->arrived_steady_ = clock_.steady_now();
  }
  {
    MutexLock lock(mutex_);
    full = queue_.size() >= kMaxWaiting;
    stopped = stopped_;
    if (!full && !stopped) {
      queue_.push_back(std::move(work));
      if (mode_ == Mode::OwnThread) {
        // Otherwise a thread looks for more by itself.
        const bool looks = committing_ || (executing_ && !waits_for_disk_);
        if (!looks && (!publishing_ || queue_.size() >= kWorthWriting)) wake();
      } else {
        commits_here = become_committing();
      }
    }
  }
  if (stopped) return work->finish(Error{ErrorCode::Busy, "The database is being closed"});
  if (full) return work->finish(Error{ErrorCode::Busy, "Too many writes are waiting; try again later"});
  if (commits_here) commit_inline();
}

void Committer::wake() {
  if (!std::exchange(woken_, true)) waiting_.notify_one();
}

void Committer::wait(bool at_most_until_recovery) {
  woken_ = false;  // a wake-up may have found no thread waiting
  if (at_most_until_recovery) {
    waiting_.wait_for(mutex_, kRecoveryInterval);
  } else {
    waiting_.wait(mutex_);
  }
  woken_ = false;
}

bool Committer::become_committing() {
  const auto self = std::this_thread::get_id();
  if (committing_) {
    // The thread that commits takes it next.  A finish() that submits is on that very thread.
    if (!wants_relief_ || relief_waits_ || committing_thread_ == self) return false;
    relief_waits_ = true;
    while (committing_) waiting_.wait(mutex_);
    relief_waits_ = false;
  }
  committing_ = true;
  committing_thread_ = self;
  return true;
}

void Committer::commit_inline() {
  for (int round = 0;; ++round) {
    Works works;
    {
      MutexLock lock(mutex_);
      wants_relief_ = round >= kMaxInlineRounds;
      if (queue_.empty() || relief_waits_) {
        committing_ = false;
        wants_relief_ = false;
        if (relief_waits_) waiting_.notify_one();
        return;
      }
      works.swap(queue_);
    }
    commit_all(std::move(works));
  }
}

void Committer::run() {
  for (;;) {
    Works works;
    {
      MutexLock lock(mutex_);
      committing_ = false;
      while (queue_.empty() && !stopping_) {
        if (read_only_) {
          wait(/*at_most_until_recovery=*/true);
          break;
        }
        wait();
      }
      if (queue_.empty() && stopping_) {
        stopped_ = true;
        return;
      }
      works.swap(queue_);
      committing_ = true;
    }
    if (read_only_) try_recover();  // also where nobody writes
    commit_all(std::move(works));
  }
}

// -- two threads

void Committer::run_in_turns() {
  while (wait_for_turn()) {
    Round round;
    while (write_more(round)) {
    }
    {
      MutexLock lock(mutex_);
      executing_ = false;
      if (has_turn()) waiting_.notify_one();
    }
    publish(round);
    stop_publishing(round);
    for (auto& group : round.groups) finish(group.works, 0, group.works.size(), group.sequence);
  }
}

bool Committer::has_turn() const {
  if (executing_) return false;
  return !failed_groups_.empty() || (!queue_.empty() && (!publishing_ || queue_.size() >= kWorthWriting));
}

bool Committer::wait_for_turn() {
  MutexLock lock(mutex_);
  while (!has_turn()) {
    if (stopping_ && queue_.empty() && failed_groups_.empty()) {
      if (!executing_ && !publishing_) stopped_ = true;  // otherwise the other thread looks once more
      waiting_.notify_all();  // it may have gone to wait while there were works, which this one took
      return false;
    }
    if (!read_only_) {
      wait();
      continue;
    }
    wait(/*at_most_until_recovery=*/true);
    if (!executing_ && !stopping_) break;  // to recover, also where nobody writes
  }
  executing_ = true;
  return true;
}

// If all cores are busy, other threads can run first and submit their works: the more works share a commit, the less
// each costs.  If a core is free, this costs next to nothing.
void Committer::let_works_gather() {
  for (std::size_t before = 0; before < queue_.size() && queue_.size() < kMaxGroupWorks;) {
    before = queue_.size();
    mutex_.unlock();
    std::this_thread::yield();
    mutex_.lock();
  }
}

bool Committer::write_more(Round& round) {
  Works works;
  bool failed = false;
  {
    MutexLock lock(mutex_);
    let_works_gather();
    works.swap(queue_);
    failed = !failed_groups_.empty();
  }
  const auto alone = [&] {
    start_publishing(round);
    publish(round);
    for (auto& group : std::exchange(round.groups, {})) finish(group.works, 0, group.works.size(), group.sequence);
    answer_failed();
  };
  if (failed || read_only_) alone();
  if (read_only_) try_recover();
  for (std::size_t done = 0; done < works.size();) {
    if (read_only_ || works[done]->alone()) {
      alone();
      done += commit_group(works, done);
    } else if (!round.is_full()) {
      done += write_group(round, works, done);
    } else {
      const auto rest = works.begin() + static_cast<std::ptrdiff_t>(done);
      MutexLock lock(mutex_);
      queue_.insert(queue_.begin(), std::make_move_iterator(rest), std::make_move_iterator(works.end()));
      break;
    }
  }
  if (round.publishing) return false;
  MutexLock lock(mutex_);
  waits_for_disk_ = true;
  while (publishing_ && (round.is_full() || queue_.size() < kWorthWriting)) wait();
  waits_for_disk_ = false;
  if (publishing_) return true;
  publishing_ = round.publishing = true;
  return false;
}

std::size_t Committer::write_group(Round& round, Works& works, std::size_t first) {
  Group group;
  const auto executed = execute(works, first, kMaxGroupWorks, /*reads_written=*/true, group);
  const bool has_effect = executed && group.batch;
  auto sequence = executed ? Result(last_written_) : Result<storage::CommitSequence>(executed.error());
  if (has_effect) {
    for (const auto& operation : group.batch->operations()) round.bytes += storage::size_of(operation);
    sequence = store_.write(std::move(*group.batch));
    if (sequence) {
      last_written_ = *sequence;
      if (group.notes_time) last_commit_time_noted_ = group.time;
    }
  }
  round.works += group.taken;
  Works taken(std::make_move_iterator(works.begin() + static_cast<std::ptrdiff_t>(first)),
              std::make_move_iterator(works.begin() + static_cast<std::ptrdiff_t>(first + group.taken)));
  round.groups.push_back({std::move(taken), group.number, has_effect, std::move(sequence)});
  return group.taken;
}

void Committer::start_publishing(Round& round) {
  if (round.publishing) return;
  MutexLock lock(mutex_);
  while (publishing_) wait();
  publishing_ = round.publishing = true;
}

void Committer::stop_publishing(Round& round) {
  MutexLock lock(mutex_);
  publishing_ = round.publishing = false;
  if (executing_ || has_turn()) waiting_.notify_one();  // only the other thread can be waiting
}

// Leaves those groups in the round that can be answered.
void Committer::publish(Round& round) {
  if (round.groups.empty()) return;
  const auto is_of_store = [](const Written& group) {
    return !group.sequence && group.sequence.error().code != ErrorCode::Internal;
  };
  Result<void> published;
  for (const auto& group : round.groups) {
    if (is_of_store(group)) published = group.sequence.error();
  }
  // Also for groups without an effect: they may have seen what is not published yet.
  for (auto group = round.groups.rbegin(); published && group != round.groups.rend(); ++group) {
    if (!group->sequence) continue;
    published = store_.publish(*group->sequence);
    break;
  }
  if (published) {
    for (const auto& group : round.groups) {
      works_ += group.works.size();
      if (!group.sequence) continue;
      if (group.has_effect) ++commits_;
      committed_since_recovery_ = true;
      freshness_.visible_.store(group.number, std::memory_order_release);
    }
    return;
  }
  fail_store(published.error());
  MutexLock lock(mutex_);
  for (auto& group : round.groups) failed_groups_.push_back(std::move(group));
  round.groups.clear();
}

// With both roles, so that nothing is written meanwhile, and before any other attempt to recover.  A recovery may find
// that a group was kept.  The numbers of lost groups are given again, so the kept ones are determined before anything
// executes.
void Committer::answer_failed() {
  std::vector<Written> groups;
  {
    MutexLock lock(mutex_);
    groups.swap(failed_groups_);
  }
  if (groups.empty()) return;
  last_commit_time_noted_ = {};
  const auto written = last_written_;
  const bool tried = std::ranges::any_of(groups, [&](const auto& group) { return recover_for(*group.works.front()); });
  const auto last = store_.last_commit();
  for (auto& [works, number, has_effect, sequence] : groups) {
    const bool kept = tried && sequence && *sequence <= last;
    // If there are more commits than were written, one of those that could not be written was kept.
    const bool lost = tried && !kept && (sequence || last <= written);
    if (lost && (!read_only_ || is_accepted(*works.front()))) {
      commit_all(std::move(works));
      continue;
    }
    works_ += works.size();
    if (kept && has_effect) ++commits_;
    finish(works, 0, works.size(), kept ? sequence : read_only_error(*works.front()));
  }
}

// -- groups

void Committer::commit_all(Works works) {
  for (std::size_t done = 0; done < works.size();) done += commit_group(works, done);
}

// By both clocks: the machine's stands still with the machine, and the database's can be set back.
bool Committer::is_late(const Work& work) const {
  return shared_ && (clock_.now() - work.arrived_ > kMaxWait || clock_.steady_now() - work.arrived_steady_ > kMaxWait);
}

std::size_t Committer::commit_group(Works& works, std::size_t first) {
  const auto refuse_late = [&]() -> std::size_t {
    ++works_;
    finish(works, first, 1, Error{ErrorCode::Busy, "The write has waited for too long; try again"});
    return 1;
  };
  if (is_late(*works[first])) return refuse_late();
  std::size_t taken = 0;
  auto committed = commit_once(works, first, kMaxGroupWorks, taken);
  const auto is_void = [&] {
    return !committed &&
           (committed.error().code == ErrorCode::Conflict || committed.error().code == ErrorCode::Outdated);
  };
  for (int retry = 0; is_void() && retry < kMaxConflictRetries; ++retry) {
    ++conflicts_;
    if (is_late(*works[first])) return refuse_late();
    if (committed.error().code == ErrorCode::Outdated) {
      if (auto entered = enter_epoch(); !entered) {
        committed = std::move(entered).error();
        break;
      }
    }
    committed = commit_once(works, first, retry < kMaxGroupConflicts ? kMaxGroupWorks : 1, taken);
  }
  if (!committed && committed.error().code == ErrorCode::ReadOnly) {
    const auto last = store_.read_point();
    // Otherwise the commit that failed was kept after all.
    if (recover_for(*works[first]) && store_.read_point() == last) {
      committed = commit_once(works, first, kMaxGroupWorks, taken);
    }
  }
  works_ += taken;
  finish(works, first, taken, committed);
  return taken;
}

void Committer::finish(Works& works, std::size_t first, std::size_t count,
                       const Result<storage::CommitSequence>& committed) {
  const WakeLater later;
  for (std::size_t i = first; i < first + count; ++i) {
    try {
      works[i]->finish(committed);
    } catch (const std::exception& exception) {
      log::error("answer_failed", {{"cause", exception.what()}});
    }
    works[i].reset();
  }
}

Result<storage::CommitSequence> Committer::commit_once(Works& works, std::size_t first, std::size_t most,
                                                       std::size_t& taken) {
  if (read_only_) try_recover();  // first: it can change what the works are about to read
  if (read_only_ && !readable_) {
    taken = 1;
    return read_only_error(*works[first]);
  }
  Group group;
  const auto executed = execute(works, first, most, /*reads_written=*/false, group);
  taken = group.taken;
  if (!executed) return executed.error();
  if (!group.batch) return store_.last_commit();
  const bool on_full_disk = read_only_ && is_accepted(*works[first]);
  if (read_only_ && !on_full_disk) return read_only_error(*works[first]);
  if (on_full_disk) group.batch->frees_space();
  auto committed = store_.commit(std::move(*group.batch));
  if (committed && group.begins_epoch) ignore_error(enter_epoch(), "reads and commits are Outdated until it succeeds");
  if (committed) {
    ++commits_;
    last_written_ = *committed;
    committed_since_recovery_ = true;
    if (group.notes_time) last_commit_time_noted_ = group.time;
    freshness_.visible_.store(group.number, std::memory_order_release);
  } else if (committed.error().code != ErrorCode::Conflict && committed.error().code != ErrorCode::Outdated &&
             committed.error().code != ErrorCode::Busy) {
    fail_store(committed.error());
    return read_only_error(*works[first]);
  }
  return committed;
}

Result<void> Committer::execute(Works& works, std::size_t first, std::size_t most, bool reads_written, Group& group) {
  group.number = next_number_++;
  PendingCommit pending(store_, freshness_, group.number, clock_.now(), reads_written);
  group.time = pending.time();
  auto& taken = group.taken;
  const bool alone = works[first]->alone();
  if (pending.is_shared()) {
    std::vector<KeyBytes> keys;
    most = works_to_read(works, first, most, keys);
    // Without it, the works would read at different moments.
    if (auto read = pending.read_ahead(keys); !read) {
      taken = most;
      return std::move(read).error();
    }
    if (!keys.empty()) {
      const auto each = std::max<std::size_t>(1, pending.bytes_ahead() / keys.size());
      keys_ahead_ = std::clamp(kMaxGroupBytes / each, kMinKeysAhead, kMaxKeysAhead);
    }
  }
  try {
    do {
      works[first + taken]->execute(pending);
      ++taken;
    } while (!alone && first + taken < works.size() && !works[first + taken]->alone() && taken < most &&
             pending.size_bytes() < kMaxGroupBytes && !is_late(*works[first + taken]) &&
             (!read_only_ || works[first + taken]->frees_space() == works[first]->frees_space()));
  } catch (const std::exception& exception) {
    // Nothing of the group has reached the store, and none of it will.
    ++taken;
    log::error("commit_failed", {{"cause", exception.what()}});
    return Error{ErrorCode::Internal, exception.what()};
  }
  if (pending.is_outdated()) return Error{ErrorCode::Outdated, "another process has changed the catalog"};
  // Conditions that failed, deletes of nothing: there is nothing to keep.
  if (pending.empty()) return {};
  if (!read_only_ || is_accepted(*works[first])) group.notes_time = note_commit_time(pending);
  group.batch = pending.take_batch();
  group.begins_epoch = pending.is_shared() && group.batch->is_beginning_epoch();
  return {};
}

Result<void> Committer::enter_epoch() const { return recovered_ ? recovered_() : Result<void>(); }

std::size_t Committer::works_to_read(const Works& works, std::size_t first, std::size_t most,
                                     std::vector<KeyBytes>& keys) const {
  std::size_t count = 0;
  do {
    works[first + count]->will_read(keys);
    ++count;
  } while (first + count < works.size() && count < most && keys.size() < keys_ahead_);
  return count;
}

// Once a second, so that "the state at that time" can be found as "the state at that sequence".
bool Committer::note_commit_time(PendingCommit& commit) const {
  if (!commit.is_barrier() || commit.time() - last_commit_time_noted_ < kCommitTimeInterval) return false;
  commit.note_time();
  return true;
}

bool Committer::is_accepted(const Work& work) const {
  const bool full = trouble_ == storage::StoreTrouble::DiskFull || trouble_ == storage::StoreTrouble::MemoryFull;
  return full && work.frees_space();
}

void Committer::fail_store(const Error& error) {
  ++failures_;
  const auto trouble = error.code == ErrorCode::Corruption ? storage::StoreTrouble::Damaged : store_.health().trouble;
  const bool news = !read_only_ || trouble != trouble_;
  if (news) {
    const bool damaged = trouble == storage::StoreTrouble::Damaged;
    log::error(damaged ? "store_damaged" : "store_failed",
               {{"cause", error.message},
                {"message", damaged ? "the database is read-only" : "the database is read-only until it recovers"}});
  }
  failure_ = error;
  trouble_ = trouble;
  // Deletes that are refused on a full disk must not put off what would let them through, and the first of them need
  // not wait for it, where the last attempt is long enough ago.
  if (!read_only_ && trouble != storage::StoreTrouble::DiskFull) next_recovery_ = clock_.now() + kRecoveryInterval;
  read_only_ = true;
  if (news && failed_) failed_();
}

// Files and folders of this machine are for its log.
Error Committer::read_only_error(const Work& work) const {
  using storage::StoreTrouble;
  if (!readable_ && trouble_ != StoreTrouble::TakenOver) {
    return {ErrorCode::ReadOnly,
            trouble_ == StoreTrouble::Damaged
                ? "The database is closed: its files are damaged, and it could not be opened again. The server's log "
                  "names the file."
                : "The database is closed: its disk is full or failing, and its files could not be opened again. Reads "
                  "and writes go on when it recovers."};
  }
  const auto* words = "its disk is full or failing. Reads go on, and writes will when it recovers.";
  switch (trouble_) {
    case StoreTrouble::None: break;
    case StoreTrouble::DiskFull:
      words = work.frees_space()
                  ? "its disk is full, and so is what was set aside for deletes. Reads go on. Make room on the disk of "
                    "the data "
                    "folder; writes go on by themselves then."
                  : "its disk is full. Reads and deletes go on, and other writes will when there is room.";
      break;
    case StoreTrouble::MemoryFull:
      words =
          "its items have reached their share of memory_limit. Reads and deletes go on, and other writes will when "
          "there is room.";
      break;
    case StoreTrouble::DiskFailing:
      words = "its disk is failing. Reads go on, and writes will when it recovers.";
      break;
    case StoreTrouble::NoDescriptors:
      words = "its process may not open more files. Reads go on, and writes will when it may.";
      break;
    case StoreTrouble::Damaged:
      words = "a data file is damaged. Reads of other data go on; GET /health and the server's log name the file.";
      break;
    case StoreTrouble::Unreachable:
      words = "its store cannot be reached. Reads and writes go on when it can be reached again.";
      break;
    case StoreTrouble::TakenOver:
      words = "another server has taken over its store. Use that one, or restart this one when that one has stopped.";
      break;
    case StoreTrouble::Upgraded:
      words = "its store was upgraded, and this server is too old for it. Use a newer server.";
      break;
  }
  return {ErrorCode::ReadOnly, fmt::format("The database is read-only: {}", words)};
}

// Once between two commits, since the store may have to be opened again for it.
bool Committer::recover_for(const Work& work) {
  if (!is_accepted(work) || !std::exchange(committed_since_recovery_, false)) return false;
  next_recovery_ = clock_.now();
  try_recover();
  return true;
}

void Committer::try_recover() {
  const auto now = clock_.now();
  if (now < next_recovery_ || trouble_ == storage::StoreTrouble::Damaged) return;
  auto recovered = store_.recover();
  next_recovery_ = clock_.now() + kRecoveryInterval;  // it can take long itself
  readable_ = store_.health().readable;
  if (!recovered && recovered.error().code == ErrorCode::Corruption) return fail_store(recovered.error());
  if (recovered && recovered_) recovered = recovered_();
  if (!recovered) {
    if (recovered.error() != failure_) log::warning("store_not_recovered", {{"cause", recovered.error().message}});
    failure_ = std::move(recovered).error();
    if (const auto trouble = store_.health().trouble; trouble != storage::StoreTrouble::None) trouble_ = trouble;
    return;
  }
  trouble_ = storage::StoreTrouble::None;
  read_only_ = false;
  last_written_ = store_.last_commit();
  log::info("store_recovered", {{"message", "writes are accepted again"}});
}

CommitterStatistics Committer::statistics() const {
  return {
      .commits = commits_, .works = works_, .conflicts = conflicts_, .failures = failures_, .read_only = read_only_};
}

}  // namespace stator::engine
