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
constexpr std::chrono::seconds kPingLimit{5};
constexpr std::chrono::minutes kEraseLimit{10};  // a range can be a whole table
constexpr int kMostAttempts = 3;
// How many commits a batch may be behind with what it read, when stores share the database.
constexpr std::int64_t kErasuresKept = 10'000;
constexpr std::int64_t kTrimEvery = 256;

constexpr std::string_view kDiskFull = "53100";
constexpr std::string_view kSerializationFailure = "40001";
constexpr std::string_view kDeadlock = "40P01";
constexpr std::string_view kLockNotAvailable = "55P03";

// A process that is stopped in the middle of a commit must not keep its lane for ever, and one whose machine is gone
// must not keep the lock.  A commit that erases a large table keeps the lane for longer; others are
// Busy meanwhile.
const char* const kEndOfLostSessions =
    "SELECT set_config('idle_in_transaction_session_timeout', '10s', false), set_config('lock_timeout', '15s', false), "
    "set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false), "
    "set_config('tcp_keepalives_count', '3', false)";

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

ConnectOptions StoreParts::writer_options() const {
  return {.url = options.url,
          .settings = {kPlanSettings, kEndOfLostSessions, options.relaxed ? kRelaxed : kDurable},
          .counters = counters};
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

Result<void> read_clock(Connection& connection, DatabaseClock& clock) {
  const auto asked = clock.steady_now();
  connection.add_once("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::int8");
  const auto rows = TRY(connection.run_within(kPingLimit));
  clock.note_reading(WallTime{std::chrono::microseconds{rows[0].integer(0, 0)}}, asked, clock.steady_now());
  return {};
}

Result<void> StoreParts::note_lane(std::int32_t lane, std::int64_t fence, std::int64_t sequence) {
  TRY(condition.check_fence(fence));
  // A store of its own knows it without being told, and tells it when its readers may know.
  if (is_shared()) known.note(lane, sequence_of(sequence));
  return {};
}

Result<CommitSequence> StoreParts::note_lanes(const Rows& rows) {
  if (rows.count() != static_cast<int>(lanes.rows())) return no_lane();
  for (int row = 0; row < rows.count(); ++row) {
    TRY(note_lane(static_cast<std::int32_t>(rows.integer(row, 0)), rows.integer(row, 1), rows.integer(row, 2)));
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

CommitSession::~CommitSession() {
  if (!is_attached()) return;
  // What is left of it is of use to nobody.
  connection_->add_once(fmt::format("DELETE FROM {}.writers WHERE writer = $1::bytea", parts_.options.schema),
                        Parameters().bytes(writer_));
  ignore_error(connection_->run(), "rows of old writers go at the next start");
}

Result<CommitSession::Attached> CommitSession::attach() {
  connection_.reset();
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
  TRY(read_clock(connection, parts_.clock));
  if (!TRY(take_lock(connection, parts_.options, kLockPatience))) {
    return Error{ErrorCode::Storage, "another session has the store's lock"};
  }
  // A commit whose connection broke can still be under way.  It has its lanes' rows until it ends.
  if (in_doubt_) {
    connection.add(parts_.statements.lock_to_write, Parameters().array(doubtful_lanes_.written));
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
    if (sequence_of(rows.integer(row, 2)) < acknowledged) {
      return parts_.condition.lose(
          fmt::format("the database has lost commits: its last one is {}, and {} was "
                      "acknowledged",
                      rows.integer(row, 2), acknowledged.value));
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
  }
  return attached;
}

Result<void> CommitSession::connect() {
  if (!is_attached()) TRY(attach());
  return {};
}

Result<void> CommitSession::recover() {
  if (!in_doubt_ && is_attached()) return {};
  const auto attached = TRY(attach());
  if (in_doubt_ && attached.number == number_) {
    for (const auto lane : doubtful_lanes_.written) parts_.known.note(lane, attached.sequence);
    acknowledged_ = number_;
  }
  in_doubt_ = false;
  return {};
}

Result<void> CommitSession::ping() {
  TRY(connect());
  connection_->add(parts_.statements.lanes);
  const auto rows = TRY(connection_->run_within(kPingLimit));
  TRY(parts_.note_lanes(rows[0]));
  return read_clock(*connection_, parts_.clock);
}

Result<void> CommitSession::sync() {
  TRY(connect());
  // What a commit that waits for the disk leaves behind it there is everything before it, too.
  connection_->add_once("BEGIN");
  connection_->add_once("SET LOCAL synchronous_commit = on");
  connection_->add_once(fmt::format("INSERT INTO {}.writers (lane, writer, number, sequence, seen) "
                                    "VALUES (0, $1::bytea, 0, 0, now()) "
                                    "ON CONFLICT (lane, writer) DO UPDATE SET seen = EXCLUDED.seen",
                                    parts_.options.schema),
                        Parameters().bytes(writer_));
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
    if (auto connected = connect(); !connected) return condition.fail(std::move(connected).error(), is_attached());
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
      if (state == kLockNotAvailable) return Error{ErrorCode::Busy, "a commit of another process takes long"};
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
        return condition.fail(attached.error(), is_attached());
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

std::size_t CommitSession::add_locks(const CommitLanes& lanes) {
  const auto& statements = parts_.statements;
  std::size_t added = 0;
  auto written = lanes.written.begin();
  auto read = lanes.read.begin();
  while (written != lanes.written.end() || read != lanes.read.end()) {
    const bool writes = read == lanes.read.end() || (written != lanes.written.end() && *written < *read);
    auto& next = writes ? written : read;
    const auto end = writes ? lanes.written.end() : lanes.read.end();
    const auto other_end = writes ? lanes.read.end() : lanes.written.end();
    const auto other = writes ? read : written;
    std::vector<std::int32_t> run;
    while (next != end && (other == other_end || *next < *other)) run.push_back(*next++);
    connection_->add(writes ? statements.lock_to_write : statements.lock_to_read, Parameters().array(run));
    ++added;
  }
  return added;
}

Result<CommitSequence> CommitSession::try_commit(const Batch& batch, const CommitLanes& lanes, bool& commit_sent) {
  auto& connection = *connection_;
  auto& condition = parts_.condition;
  const auto& statements = parts_.statements;
  const bool shared = parts_.is_shared();
  const bool one_lane = lanes.written.size() == 1 && lanes.read.empty();
  connection.add(statements.begin);
  std::size_t next = 1;
  if (one_lane) {
    connection.add(statements.next_number,
                   Parameters().int32(lanes.first()).int64(condition.fence()).int64(parts_.lanes.rows()));
    ++next;
  } else {
    next += add_locks(lanes);
  }
  const auto counter_keys = counters_of(batch);
  if (!counter_keys.empty()) {
    KeyColumns columns;
    for (const auto key : counter_keys) columns.add(lanes.of(key, parts_.lanes), key);
    connection.add(statements.counters, columns.identities());
  }
  if (shared) add_checks(batch);
  const auto answer = TRY(connection.run(StatementKind::Lock));

  std::vector<LockedLane> locked;
  for (std::size_t i = 1; i < next; ++i) {
    std::int64_t waited = 0;  // microseconds
    for (int row = 0; row < answer[i].count(); ++row) {
      waited = std::max(waited, answer[i].integer(row, 4));
      if (!one_lane) TRY(condition.check_fence(answer[i].integer(row, 5)));
      locked.push_back({.lane = static_cast<std::int32_t>(answer[i].integer(row, 0)),
                        .sequence = sequence_of(answer[i].integer(row, 1)),
                        .erasures_from = answer[i].integer(row, 2),
                        .epoch = sequence_of(answer[i].integer(row, 3))});
    }
    parts_.counters->note_lock_wait(std::chrono::microseconds(waited));
  }
  if (one_lane && locked.empty()) return condition.lose("another Stator has taken over the store");
  if (locked.size() != lanes.written.size() + lanes.read.size()) return no_lane();
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
    bool changed = is_too_old(batch, locked);
    for (; next < answer.size(); ++next) changed = changed || answer[next].integer(0, 0) != 0;
    if (changed) {
      // The next attempt reads what is there now.  A lane that has got its next number does not tell the one before.
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
  // The parts of a counter give way to what is put in their place.
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

// What is gone cannot say when it went, so that is noted, for those who have read it.
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
