#include "stator/storage/postgres/commit_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "stator/base/random.h"
#include "stator/storage/postgres/key_parts.h"
#include "stator/storage/postgres/schema.h"

namespace stator::storage::postgres {
namespace {

constexpr std::chrono::seconds kLockPatience{5};  // a session that ended is noticed by then
constexpr std::chrono::milliseconds kLockPause{10};
constexpr std::chrono::seconds kPingLimit{3};
// Beside the patience for locks: until the first half of a commit is answered.
constexpr std::chrono::seconds kLockMargin{5};
constexpr std::chrono::minutes kEraseLimit{10};  // a range can be a whole table
constexpr int kMostAttempts = 3;
// Between the time at which a batch was made and that at which it has its lanes.  Waits for a session and for lanes are
// shorter.
constexpr std::chrono::seconds kMostDelay{30};
constexpr std::chrono::hours kRowInterval{1};  // rows are removed after a day
// How many commits a batch may be behind with what it read, when stores share the database.
constexpr std::int64_t kErasuresKept = 10'000;
constexpr std::int64_t kTrimEvery = 256;

constexpr std::string_view kDiskFull = "53100";
constexpr std::string_view kSerializationFailure = "40001";
constexpr std::string_view kDeadlock = "40P01";
constexpr std::string_view kLockNotAvailable = "55P03";
constexpr std::string_view kStatementTimedOut = "57014";

// A process that is stopped in the middle of a commit must not keep its lane for ever.  A commit that erases a large
// table keeps the lane for longer; others are Busy meanwhile.
const char* const kEndOfIdleCommits = "SELECT set_config('idle_in_transaction_session_timeout', '10s', false)";

const char* const kDurable =
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";
const char* const kRelaxed = "SELECT set_config('synchronous_commit', 'off', false)";

Error conflict() { return {ErrorCode::Conflict, "another process has changed what the commit read"}; }
Error outdated() { return {ErrorCode::Outdated, "another process has begun a new epoch"}; }

CommitSequence sequence_of(std::int64_t number) { return {static_cast<std::uint64_t>(number)}; }
std::int64_t number_of(CommitSequence sequence) { return static_cast<std::int64_t>(sequence.value); }

// Keys with their lanes, as arrays.
struct KeyColumns {
  std::vector<KeyParts> parts;
  std::vector<std::int32_t> lanes;
  std::vector<BytesView> heads, digests, tails;

  void add(std::int32_t lane, BytesView key) {
    const auto& part = parts.emplace_back(key);
    lanes.push_back(lane);
    heads.push_back(part.head);
    tails.push_back(part.tail);
  }
  // The parts stay where they are from now on.
  Parameters identities() {
    digests.clear();
    for (const auto& part : parts) digests.push_back(part.digest);
    return Parameters().array(lanes).array(heads).array(digests);
  }
  bool empty() const { return lanes.empty(); }
};

void add_range(Parameters& parameters, const KeyRange& range) {
  const KeyParts begin(range.begin), end(range.end);
  parameters.bytes(begin.head).bytes(begin.tail);
  if (!range.end.empty()) parameters.bytes(end.head).bytes(end.tail);
}

std::vector<BytesView> counters_of(const Batch& batch) {
  std::vector<BytesView> keys;
  for (const auto& operation : batch.operations()) {
    if (operation.kind == Batch::Kind::Add) keys.push_back(operation.key);
  }
  std::ranges::sort(keys);
  const auto [first, last] = std::ranges::unique(keys);
  keys.erase(first, last);
  return keys;
}

// The lanes of a key: one, or all where each has a part of it.
std::vector<std::int32_t> lanes_of_key(BytesView key, const Lanes& lanes) {
  if (const auto lane = lanes.of(key)) return {*lane};
  return each_lane(lanes.all());
}

}  // namespace

Error no_lane() { return {ErrorCode::Corruption, "the store has not all of its lanes"}; }

ConnectOptions StoreParts::writer_options() {
  const auto patience = fmt::format("SELECT set_config('lock_timeout', '{}ms', false)", options.lock_patience.count());
  return {.url = options.url,
          .settings = {kSessionSettings, kPlanSettings, kEndOfLostSessions, kEndOfIdleCommits, patience,
                       options.relaxed ? kRelaxed : kDurable},
          .counters = counters,
          .haste = haste,
          .choice = &servers};
}

Result<bool> take_lock(Connection& connection, const PostgresOptions& options, std::chrono::seconds patience) {
  const auto deadline = options.clock->steady_now() + patience;
  // Of all things in the database, the table of lanes is ours alone.
  const auto sql =
      fmt::format("SELECT pg_try_advisory_lock{}((1400136050::int8 << 32) | '{}.lanes'::regclass::oid::int8)",
                  options.sharing == PostgresSharing::Shared ? "_shared" : "", options.schema);
  for (;;) {
    connection.add_once(sql);
    const auto rows = TRY(connection.run());
    if (rows[0].integer(0, 0) != 0) return true;
    if (options.clock->steady_now() >= deadline) return false;
    options.clock->wait(kLockPause);
  }
}

WallTime time_of(std::int64_t microseconds) { return WallTime{std::chrono::microseconds{microseconds}}; }

Result<void> StoreParts::read_clock(Connection& connection) {
  const auto asked = clock.steady_now();
  connection.add(statements.clock);
  const auto rows = TRY(connection.run_within(kPingLimit));
  clock.note_reading(time_of(rows[0].integer(0, 0)), asked, clock.steady_now());
  return {};
}

Result<void> StoreParts::note_lane(Connection* from, std::int32_t lane, std::int64_t fence, std::int64_t sequence,
                                   CommitSequence known_before) {
  if (sequence_of(sequence) < known_before) {
    if (from != nullptr) from->give_up("the database server is behind what was read before");
    generation.fetch_add(1, std::memory_order_acq_rel);
    servers.forget_preferred();
    return Error{ErrorCode::Storage, "the database server is behind what was read before"};
  }
  TRY(condition.check_fence(fence));
  // An exclusive store knows its commits without being told, and tells of them when they are answered.
  (is_shared() ? known : seen).note(lane, sequence_of(sequence));
  return {};
}

Result<void> StoreParts::check_epoch(std::int64_t epoch_read) const {
  if (!is_shared() || static_cast<std::uint64_t>(epoch_read) == epoch_entered().value) return {};
  return outdated();
}

Result<CommitSequence> StoreParts::note_lanes(Connection& from, const Rows& rows,
                                              const std::vector<CommitSequence>& known_before) {
  if (rows.count() != static_cast<int>(lanes.rows())) return no_lane();
  for (int row = 0; row < rows.count(); ++row) {
    TRY(note_lane(&from, static_cast<std::int32_t>(rows.integer(row, 0)), rows.integer(row, 1), rows.integer(row, 2),
                  known_before[static_cast<std::size_t>(row)]));
  }
  return sequence_of(rows.integer(0, 3));
}

Result<void> StoreParts::check_format(const Rows& rows) {
  auto objection = objection_to(TRY(read_format(rows)));
  if (objection.empty()) return {};
  return condition.lose(std::move(objection), StoreTrouble::Upgraded);
}

// -- CommitSession

CommitSession::CommitSession(StoreParts& parts) : parts_(parts), writer_(Random::from_system().uuid()) {}

CommitSession::~CommitSession() = default;

void CommitSession::leave() {
  if (!is_attached() || parts_.condition.failure() || parts_.condition.refusal()) return;
  connection_->add_once(fmt::format("DELETE FROM {}.writers WHERE writer = $1::bytea", parts_.options.schema),
                        Parameters().bytes(writer_));
  ignore_error(connection_->run(), "rows of old writers go at the next start");
}

Result<CommitSession::Attached> CommitSession::attach() {
  // The session may have ended because another server is the primary now.
  if (std::exchange(connection_, nullptr) != nullptr) parts_.servers.forget_preferred();
  auto connection = TRY(Connection::open(parts_.libpq, parts_.writer_options()));
  auto attached = TRY(attach_with(*connection));
  connection_ = std::move(connection);
  parts_.condition.note_host(connection_->host());
  return attached;
}

Result<CommitSession::Attached> CommitSession::attach_with(Connection& connection) {
  connection.add(parts_.statements.lanes);
  connection.add(parts_.statements.format);
  const auto now = TRY(connection.run());
  if (now[0].count() == 0) return no_lane();
  TRY(parts_.check_format(now[1]));
  TRY(parts_.condition.check_fence(now[0].integer(0, 1)));
  TRY(parts_.read_clock(connection));
  if (!TRY(take_lock(connection, parts_.options, kLockPatience))) {
    return Error{ErrorCode::Storage, "another session has the store's lock"};
  }
  // A commit whose connection broke can still be under way.  It has its lanes' rows until it ends.
  if (in_doubt_) {
    connection.add(parts_.statements.begin);
    add_wait_limit(connection);
    connection.add(parts_.statements.lock, Parameters().array(doubtful_lanes_.written));
    connection.add(parts_.statements.rollback);
    TRY(connection.run());
  }
  // Before the rows are read: readers may learn of newer commits at any time.
  const auto known = parts_.known.all();
  connection.add(parts_.statements.lanes);
  connection.add(parts_.statements.writer_number, Parameters().array(each_lane(parts_.lanes.all())).bytes(writer_));
  const auto answer = TRY(connection.run());
  const auto& rows = answer[0];
  if (rows.count() != static_cast<int>(known.size())) return no_lane();
  for (int row = 0; row < rows.count(); ++row) {
    TRY(parts_.condition.check_fence(rows.integer(row, 1)));
    const auto acknowledged = known[static_cast<std::size_t>(row)];
    // The next attempt looks for a better one.
    if (sequence_of(rows.integer(row, 2)) < acknowledged) {
      return Error{ErrorCode::Storage, "the database server is behind what was read before"};
    }
  }
  Attached attached;
  if (answer[1].count() == 1) {
    attached.number = answer[1].integer(0, 0);
    // Others may have made as many new commits as were lost.
    if (attached.number < acknowledged_) {
      return parts_.condition.lose("the database has lost commits of this process");
    }
    attached.sequence = sequence_of(answer[1].integer(0, 1));
  } else if (in_doubt_ && (row_kept_at_ || acknowledged_ > 0)) {
    // The row was there before the commit.
    return parts_.condition.lose("nobody knows any more whether the last commit of this process happened");
  } else {
    row_kept_at_.reset();
  }
  return attached;
}

Result<void> CommitSession::connect() {
  if (is_attached()) ignore_error(parts_.servers.check(*connection_), "it connects again");
  if (!is_attached()) TRY(attach());
  if (keep_row()) return {};
  // The connection was lost, and nobody had noticed.
  TRY(attach());
  return keep_row();
}

Result<void> CommitSession::keep_row() {
  const auto now = parts_.options.clock->steady_now();
  if (row_kept_at_ && now - *row_kept_at_ < kRowInterval) return {};
  connection_->add(parts_.statements.keep_writer, Parameters().bytes(writer_).int64(acknowledged_));
  const auto kept = connection_->run();
  if (!kept && connection_->broken()) return kept.error();
  // A full disk can refuse it, and still take commits that free space.
  if (kept) row_kept_at_ = now;
  return {};
}

Result<void> CommitSession::recover() {
  if (!in_doubt_ && is_attached()) return {};
  auto attached_again = attach();
  if (!attached_again) return as_storage(std::move(attached_again).error());
  const auto& attached = *attached_again;
  if (in_doubt_ && attached.number == number_) {
    for (const auto lane : doubtful_lanes_.written) parts_.known.note(lane, attached.sequence);
    acknowledged_ = number_;
  }
  in_doubt_ = false;
  return {};
}

Result<void> CommitSession::ping() {
  const bool was_attached = is_attached();
  TRY(connect());
  auto asked = ask_the_state();
  // A session that is lost says nothing about the server.
  if (asked || is_attached() || !was_attached || parts_.condition.is_lost()) return asked;
  // Others that were opened then may be lost, too.
  parts_.generation.fetch_add(1, std::memory_order_acq_rel);
  TRY(connect());
  return ask_the_state();
}

Result<void> CommitSession::ask_the_state() {
  const auto known = parts_.known.all();
  connection_->add(parts_.statements.lanes);
  const auto rows = TRY(connection_->run_within(kPingLimit));
  TRY(parts_.note_lanes(*connection_, rows[0], known));
  return parts_.read_clock(*connection_);
}

Result<void> CommitSession::sync() {
  TRY(connect());
  // A synchronous commit also makes all earlier commits durable.
  connection_->add_once("BEGIN");
  connection_->add_once("SET LOCAL synchronous_commit = on");
  connection_->add(parts_.statements.keep_writer, Parameters().bytes(writer_).int64(acknowledged_));
  connection_->add_once("COMMIT");
  TRY(connection_->run());
  return {};
}

Result<void> CommitSession::advance_to(CommitSequence least) {
  TRY(connect());
  connection_->add_once(
      fmt::format("UPDATE {}.lanes SET sequence = greatest(sequence, $1::int8) WHERE fence = $2::int8 "
                  "RETURNING lane, sequence",
                  parts_.options.schema),
      Parameters().int64(number_of(least)).int64(parts_.condition.fence()));
  const auto answer = TRY(connection_->run());
  const auto& rows = answer[0];
  if (rows.count() == 0) return parts_.condition.lose("another Stator has taken over the store");
  for (int row = 0; row < rows.count(); ++row) {
    parts_.known.note(static_cast<std::int32_t>(rows.integer(row, 0)), sequence_of(rows.integer(row, 1)));
  }
  return {};
}

Result<CommitSequence> CommitSession::commit(const Batch& batch) {
  auto& condition = parts_.condition;
  const auto lanes = CommitLanes::of(batch, parts_.lanes, parts_.is_shared());
  for (int attempt = 1;; ++attempt) {
    if (auto connected = connect(); !connected) {
      if (is_refused_as_too_many(connected.error())) return no_more_connections();
      return condition.fail(as_storage(std::move(connected).error()), is_attached());
    }
    if (attempt > 1) parts_.counters->note_retry();
    ++number_;
    bool commit_sent = false;
    auto committed = try_commit(batch, lanes, commit_sent);
    if (committed) {
      note_committed(batch, lanes, *committed);
      return committed;
    }
    auto error = std::move(committed).error();
    if (!connection_->broken()) {
      const auto state = connection_->sql_state();
      connection_->add(parts_.statements.rollback);
      ignore_error(connection_->run(), "without a connection there is no transaction either");
      if (!condition.is_lost() && (state == kSerializationFailure || state == kDeadlock)) error = conflict();
      if (error.code == ErrorCode::Conflict) parts_.counters->note_conflict();
      if (condition.is_lost() || error.code != ErrorCode::Storage) return error;
      if (state == kLockNotAvailable || (state == kStatementTimedOut && !commit_sent)) {
        end_stuck_sessions();
        return Error{ErrorCode::Busy, "a commit of another process takes long"};
      }
      if (state == kDiskFull) condition.set_health({.trouble = StoreTrouble::DiskFull, .cause = error.message});
      return condition.fail(std::move(error), is_attached());
    }
    if (commit_sent) {
      in_doubt_ = true;
      doubtful_lanes_ = lanes;
      doubtful_lanes_.rewritten.clear();  // views of the batch
      const auto attached = attach();
      if (!attached) {
        condition.refuse_readers();
        return condition.fail(as_storage(attached.error()), is_attached());
      }
      in_doubt_ = false;
      if (attached->number == number_) {
        note_committed(batch, lanes, attached->sequence);
        return attached->sequence;
      }
    }
    // Nothing of it has happened.
    if (attempt == kMostAttempts) return condition.fail(std::move(error), is_attached());
  }
}

void CommitSession::add_wait_limit(Connection& connection) {
  connection.add(parts_.statements.limit_wait, Parameters().int64(parts_.options.lock_patience.count()));
}

// PostgreSQL ends sessions that are idle in a transaction, but not one that has received only a part of a message.
void CommitSession::end_stuck_sessions() {
  connection_->add(parts_.statements.end_stuck, Parameters().int64(parts_.options.lock_patience.count()));
  ignore_error(connection_->run_within(kPingLimit), "the next one that waits in vain tries it again");
}

Result<CommitSequence> CommitSession::try_commit(const Batch& batch, const CommitLanes& lanes, bool& commit_sent) {
  auto& connection = *connection_;
  auto& condition = parts_.condition;
  const auto& statements = parts_.statements;
  const bool shared = parts_.is_shared();
  const bool one_lane = lanes.written.size() == 1 && lanes.read.empty();
  connection.add(statements.begin);
  if (one_lane) {
    connection.add(statements.next_number,
                   Parameters().int32(lanes.first()).int64(condition.fence()).int64(parts_.lanes.rows()));
  } else {
    // PostgreSQL's lock_timeout holds for each row, and this for all of them together.
    add_wait_limit(connection);
    connection.add(statements.lock, Parameters().array(lanes.all()));
    connection.add(statements.lift_limit);
  }
  const std::size_t lock_answer = one_lane ? 1 : 2;
  std::size_t next = one_lane ? 2 : 4;
  const auto counter_keys = counters_of(batch);
  if (!counter_keys.empty()) {
    KeyColumns columns;
    for (const auto key : counter_keys) columns.add(lanes.of(key, parts_.lanes), key);
    connection.add(statements.counters, columns.identities());
  }
  if (shared) add_checks(batch);
  const auto known = parts_.known.all();
  const auto patience = std::chrono::ceil<std::chrono::seconds>(parts_.options.lock_patience);
  const auto asked = parts_.clock.steady_now();
  const auto answer = TRY(connection.run_within(patience + kLockMargin, StatementKind::Lock));
  const auto answered = parts_.clock.steady_now();
  TRY(parts_.servers.check(connection));

  std::vector<LockedLane> locked;
  const auto& lane_rows = answer[lock_answer];
  std::int64_t waited = 0;  // microseconds
  for (int row = 0; row < lane_rows.count(); ++row) {
    waited = std::max(waited, lane_rows.integer(row, 4));
    if (!one_lane) TRY(condition.check_fence(lane_rows.integer(row, 6)));
    locked.push_back({.lane = static_cast<std::int32_t>(lane_rows.integer(row, 0)),
                      .sequence = sequence_of(lane_rows.integer(row, 1)),
                      .erasures_from = lane_rows.integer(row, 2),
                      .epoch = sequence_of(lane_rows.integer(row, 3)),
                      .time = time_of(lane_rows.integer(row, 5))});
  }
  parts_.counters->note_lock_wait(std::chrono::microseconds(waited));
  if (one_lane && locked.empty()) return condition.lose("another Stator has taken over the store");
  if (locked.size() != lanes.written.size() + lanes.read.size()) return no_lane();
  for (const auto& lane : locked) {
    // A lane that has got its next number tells that one.
    const auto known_of_lane = known[static_cast<std::size_t>(lane.lane)];
    if (lane.sequence > known_of_lane || (!one_lane && lane.sequence == known_of_lane)) continue;
    connection.give_up("the database server is behind what was read before");
    return Error{ErrorCode::Storage, "the database server is behind what was read before"};
  }
  CommitSequence sequence = locked.front().sequence;
  if (!one_lane) {
    for (const auto& lane : locked) sequence = std::max(sequence, lane.sequence);
    sequence = parts_.lanes.next(sequence, lanes.first());
  }
  if (shared && locked.front().epoch != batch.epoch()) return outdated();
  std::map<BytesView, BytesView> counters;
  if (!counter_keys.empty()) {
    const auto& rows = answer[next++];
    for (int row = 0; row < rows.count(); ++row) {
      counters.emplace(counter_keys[static_cast<std::size_t>(rows.integer(row, 0) - 1)], rows.bytes(row, 1));
    }
  }
  if (shared) {
    // The next attempt is made by the time that this answer tells.
    parts_.clock.note_reading(locked.back().time, asked, answered);
    bool changed = is_too_old(batch, locked) || is_of_another_time(batch, locked.back().time);
    for (; next < answer.size(); ++next) changed = changed || answer[next].integer(0, 0) != 0;
    if (changed) {
      // The next attempt reads the new state.  If the lane has its next number already, its row does not tell the
      // former one.
      if (!one_lane) {
        for (const auto& lane : locked) parts_.known.note(lane.lane, lane.sequence);
      } else if (parts_.lanes.rows() == 1) {
        parts_.known.note(0, {sequence.value - 1});
      }
      return conflict();
    }
  }
  const auto changes = TRY(FinalChanges::of(batch, sequence, [&](const Bytes& key) -> std::optional<BytesView> {
    const auto found = counters.find(key);
    return found == counters.end() ? std::nullopt : std::optional(found->second);
  }));
  if (!one_lane) {
    connection.add(statements.set_number, Parameters().array(lanes.written).int64(number_of(sequence)));
  }
  add_writes(changes, lanes, sequence);
  if (shared) add_erasure_notes(changes, lanes, sequence);
  if (batch.is_beginning_epoch()) connection.add(statements.begin_epoch, Parameters().array(lanes.written));
  connection.add(statements.note_writer,
                 Parameters().int32(lanes.first()).bytes(writer_).int64(number_).int64(number_of(sequence)));
  connection.add(statements.commit);
  commit_sent = true;
  if (changes.erased_ranges.empty()) {
    TRY(connection.run(StatementKind::Write));
  } else {
    TRY(connection.run_within(kEraseLimit, StatementKind::Write));
  }
  TRY(parts_.servers.check(connection));  // otherwise it may not be in what the new one has
  return sequence;
}

bool CommitSession::is_too_old(const Batch& batch, const std::vector<LockedLane>& locked) const {
  const auto is_too_old_in = [&](std::int32_t lane) {
    const auto found = std::ranges::find(locked, lane, &LockedLane::lane);
    return found != locked.end() &&
           number_of(batch.read_at().of(static_cast<std::size_t>(lane))) < found->erasures_from;
  };
  return std::ranges::any_of(
             batch.keys_read(),
             [&](const Bytes& key) { return std::ranges::any_of(lanes_of_key(key, parts_.lanes), is_too_old_in); }) ||
         std::ranges::any_of(batch.ranges_read(), [&](const KeyRange& range) {
           return std::ranges::any_of(each_lane(parts_.lanes.of(range)), is_too_old_in);
         });
}

// The process was paused after it made the batch, or it made it by a clock that was wrong.  Times in the batch would be
// wrong, too, and so may be what it took for expired.
bool CommitSession::is_of_another_time(const Batch& batch, WallTime now) {
  const auto made_at = batch.made_at();
  return made_at && (now - *made_at > kMostDelay || *made_at - now > kMostDelay);
}

void CommitSession::add_checks(const Batch& batch) {
  const auto read_at = [&](std::int32_t lane) { return number_of(batch.read_at().of(static_cast<std::size_t>(lane))); };
  if (!batch.keys_read().empty()) {
    KeyColumns columns;
    std::vector<BytesView> keys;
    std::vector<std::int64_t> moments;
    for (const auto& key : batch.keys_read()) {
      for (const auto lane : lanes_of_key(key, parts_.lanes)) {
        columns.add(lane, key);
        keys.push_back(key);
        moments.push_back(read_at(lane));
      }
    }
    connection_->add(parts_.statements.keys_changed, columns.identities().array(keys).array(moments));
  }
  for (const auto& range : batch.ranges_read()) {
    if (!range.end.empty() && range.end <= range.begin) continue;
    for (const auto lane : each_lane(parts_.lanes.of(range))) {
      auto parameters = Parameters().int32(lane);
      add_range(parameters, range);
      connection_->add(range.end.empty() ? parts_.statements.range_changed_to_end : parts_.statements.range_changed,
                       parameters.int64(read_at(lane)));
      connection_->add(parts_.statements.range_erased,
                       Parameters().int32(lane).bytes(range.begin).bytes(range.end).int64(read_at(lane)));
    }
  }
}

void CommitSession::add_writes(const FinalChanges& changes, const CommitLanes& lanes, CommitSequence sequence) {
  const auto& statements = parts_.statements;
  for (const auto& range : changes.erased_ranges) {
    auto parameters = Parameters().array(each_lane(parts_.lanes.of(range)));
    add_range(parameters, range);
    connection_->add(range.end.empty() ? statements.erase_range_to_end : statements.erase_range, parameters);
  }
  KeyColumns erased, put;
  std::vector<BytesView> values;
  // The parts of a counter are replaced by the value that is put.
  for (const auto key : lanes.rewritten) {
    for (const auto lane : each_lane(parts_.lanes.all())) erased.add(lane, key);
  }
  for (const auto& [key, value] : changes.keys) {
    if (value) {
      put.add(lanes.of(key, parts_.lanes), key);
      values.push_back(*value);
    } else if (const auto lane = parts_.lanes.of(key)) {
      erased.add(*lane, key);
    }
  }
  if (!erased.empty()) connection_->add(statements.erase_keys, erased.identities());
  if (!put.empty()) {
    connection_->add(statements.put, put.identities().array(put.tails).array(values).int64(number_of(sequence)));
  }
}

// An erased key has no row, so the number of the erasing commit is stored for conflict checks.
void CommitSession::add_erasure_notes(const FinalChanges& changes, const CommitLanes& lanes, CommitSequence sequence) {
  const auto& statements = parts_.statements;
  const auto number = number_of(sequence);
  std::vector<std::int32_t> erased_in;
  std::vector<BytesView> begins;
  std::vector<Bytes> ends;
  for (const auto& [key, value] : changes.keys) {
    if (value) continue;
    for (const auto lane : lanes_of_key(key, parts_.lanes)) {
      erased_in.push_back(lane);
      begins.push_back(key);
      ends.push_back(key + '\0');
    }
  }
  for (const auto& range : changes.erased_ranges) {
    for (const auto lane : each_lane(parts_.lanes.of(range))) {
      erased_in.push_back(lane);
      begins.push_back(range.begin);
      ends.push_back(range.end);
    }
  }
  if (!begins.empty()) {
    connection_->add(statements.note_erasures, Parameters().array(erased_in).int64(number).array(begins).array(
                                                   std::vector<BytesView>(ends.begin(), ends.end())));
  }
  // Numbers have gaps where there are several lanes: one of so many is enough.
  const auto step = static_cast<std::int64_t>(parts_.lanes.rows());
  if (number % (kTrimEvery * step) >= step || number <= kErasuresKept * step) return;
  for (const auto lane : lanes.written) {
    const auto trimmed = Parameters().int32(lane).int64(number - kErasuresKept * step);
    connection_->add(statements.trim_erasures, trimmed);
    connection_->add(statements.note_trimmed, trimmed);
  }
}

void CommitSession::note_committed(const Batch& batch, const CommitLanes& lanes, CommitSequence sequence) {
  std::uint64_t bytes = 0;
  for (const auto& operation : batch.operations()) bytes += size_of(operation);
  for (const auto lane : lanes.written) parts_.known.note(lane, sequence);
  acknowledged_ = number_;
  parts_.commits.fetch_add(1, std::memory_order_relaxed);
  parts_.bytes_written.fetch_add(bytes, std::memory_order_relaxed);
  if (!parts_.options.relaxed) parts_.syncs.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace stator::storage::postgres
