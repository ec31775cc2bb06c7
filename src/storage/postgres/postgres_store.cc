#include "stator/storage/postgres/postgres_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "stator/base/log.h"
#include "stator/base/random.h"
#include "stator/storage/postgres/key_parts.h"
#include "stator/storage/postgres/postgres_reads.h"
#include "stator/storage/postgres/postgres_store_impl.h"
#include "stator/storage/postgres/schema.h"
#include "stator/storage/postgres/session_check.h"

namespace stator::storage::postgres {
namespace {

constexpr std::chrono::seconds kLockPatience{5};  // a session that ended is noticed by then
constexpr std::chrono::seconds kOpenPatience{2};  // for that of a process that was just killed
constexpr std::chrono::milliseconds kLockPause{10};
constexpr std::chrono::seconds kPingInterval{1};
constexpr std::chrono::seconds kPingLimit{5};
constexpr int kSizeEvery = 10;                   // pings
constexpr std::chrono::minutes kEraseLimit{10};  // a range can be a whole table
constexpr int kMostAttempts = 3;
constexpr int kFirstReadings = 3;  // of the clock; the quickest counts
// How many commits a batch may be behind with what it read, when stores share the database.
constexpr std::int64_t kErasuresKept = 10'000;
constexpr std::int64_t kTrimEvery = 256;

constexpr std::string_view kDiskFull = "53100";
constexpr std::string_view kSerializationFailure = "40001";
constexpr std::string_view kDeadlock = "40P01";
constexpr std::string_view kLockNotAvailable = "55P03";

// A process that is stopped in the middle of a commit must not keep its lane for ever, and one whose machine is gone
// must not keep the lock.  A commit that erases a large table keeps the lane for longer; others tell their clients to
// come again.
const char* const kEndOfLostSessions =
    "SELECT set_config('idle_in_transaction_session_timeout', '10s', false), set_config('lock_timeout', '15s', false), "
    "set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false), "
    "set_config('tcp_keepalives_count', '3', false)";

const char* const kDurable =
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";
const char* const kRelaxed = "SELECT set_config('synchronous_commit', 'off', false)";

// Readers wait on threads that have others to serve.
ConnectOptions reader_options(const PostgresOptions& options, std::shared_ptr<StatementCounters> counters) {
  return {.url = options.url,
          .settings = {kPlanSettings},
          .answers_within = std::chrono::seconds(10),
          .counters = std::move(counters)};
}
ConnectOptions writer_options(const PostgresOptions& options, std::shared_ptr<StatementCounters> counters) {
  return {.url = options.url,
          .settings = {kPlanSettings, kEndOfLostSessions, options.relaxed ? kRelaxed : kDurable},
          .counters = std::move(counters)};
}

std::string this_process() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0) return fmt::format("process {}", ::getpid());
  return fmt::format("process {} on {}", ::getpid(), name);
}

// The columns of keys, as arrays.
struct KeyColumns {
  std::vector<KeyParts> parts;
  std::vector<BytesView> heads, digests, tails;

  explicit KeyColumns(const std::vector<BytesView>& keys) {
    parts.reserve(keys.size());
    for (const auto key : keys) {
      const auto& part = parts.emplace_back(key);
      heads.push_back(part.head);
      digests.push_back(part.digest);
      tails.push_back(part.tail);
    }
  }
};

Parameters range_parameters(const KeyRange& range) {
  const KeyParts begin(range.begin), end(range.end);
  Parameters parameters;
  parameters.int32(kLane).bytes(begin.head).bytes(begin.tail);
  if (!range.end.empty()) parameters.bytes(end.head).bytes(end.tail);
  return parameters;
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

Error conflict() { return {ErrorCode::Conflict, "another process has changed what the commit read"}; }
Error outdated() { return {ErrorCode::Outdated, "another process has begun a new epoch"}; }
Error no_lane() { return {ErrorCode::Corruption, "the store has no lane 0"}; }

}  // namespace

PostgresStore::PostgresStore(std::shared_ptr<const Libpq> libpq, PostgresOptions options)
    : libpq_(std::move(libpq)),
      options_(std::move(options)),
      statements_(options_.schema),
      writer_(Random::from_system().uuid()),
      pool_(libpq_, reader_options(options_, counters_), options_.connections, options_.clock) {}

PostgresStore::~PostgresStore() {
  watcher_ = {};
  MutexLock lock(commit_mutex_);
  if (!is_attached()) return;
  // What is left of it is of use to nobody.
  connection_->add_once(fmt::format("DELETE FROM {}.writers WHERE writer = $1::bytea", options_.schema),
                        Parameters().bytes(writer_));
  ignore_error(connection_->run(), "rows of old writers go at the next start");
}

Result<void> PostgresStore::open() {
  MutexLock lock(commit_mutex_);
  auto connection = TRY(Connection::open(libpq_, writer_options(options_, counters_)));
  TRY(check_session(libpq_, writer_options(options_, counters_), *connection));
  TRY(ensure_schema(*connection, options_.schema, options_.must_exist));
  if (!TRY(take_lock(*connection, kOpenPatience))) {
    connection->add_once(fmt::format("SELECT holder FROM {}.lanes WHERE lane = $1::int4", options_.schema),
                         Parameters().int32(kLane));
    const auto rows = TRY(connection->run());
    const auto holder = rows[0].count() == 1 ? Bytes(rows[0].bytes(0, 0)) : Bytes();
    return usage_error(fmt::format("another Stator uses the store {}{}; stop it first", described_url(options_.url),
                                   holder.empty() ? "" : fmt::format(" ({})", holder)));
  }
  if (is_shared()) {
    connection->add(statements_.lane, Parameters().int32(kLane));
  } else {
    // Whoever had it before cannot commit any more, and finds that out.
    connection->add_once(fmt::format("UPDATE {}.lanes SET fence = fence + 1, holder = $2::text WHERE lane = $1::int4 "
                                     "RETURNING fence, sequence, epoch",
                                     options_.schema),
                         Parameters().int32(kLane).bytes(options_.holder.empty() ? this_process() : options_.holder));
  }
  connection->add_once(fmt::format("DELETE FROM {}.writers WHERE seen < now() - interval '1 day'", options_.schema));
  connection->add(statements_.size);
  const auto rows = TRY(connection->run());
  if (rows[0].count() != 1) return no_lane();
  fence_ = rows[0].integer(0, 0);
  last_commit_ = static_cast<std::uint64_t>(rows[0].integer(0, 1));
  epoch_ = static_cast<std::uint64_t>(rows[0].integer(0, 2));
  note_size(rows[2]);
  for (int reading = 0; reading < kFirstReadings; ++reading) TRY(read_clock(*connection));
  {
    MutexLock health_lock(health_mutex_);
    since_ = options_.clock->now();
    host_ = connection->host();
  }
  connection_ = std::move(connection);
  watcher_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
  return {};
}

// -- Reading

std::optional<Error> PostgresStore::refusal() const {
  if (lost_.load(std::memory_order_acquire)) {
    MutexLock lock(health_mutex_);
    return Error{ErrorCode::Storage, health_.cause};
  }
  if (unreachable_.load(std::memory_order_acquire)) {
    return Error{ErrorCode::Storage, "the database server does not answer"};  // the watcher asks it, or recover()
  }
  if (readers_refused_.load(std::memory_order_acquire)) {
    return Error{ErrorCode::Storage, "whether the last commit happened is not known yet"};
  }
  return std::nullopt;
}

Result<void> PostgresStore::check_fence(std::int64_t fence) const {
  if (fence == fence_) return {};
  return lose("another Stator has taken over the store");
}

Result<CommitSequence> PostgresStore::note_lane(const Rows& rows) const {
  if (rows.count() == 0) return no_lane();
  TRY(check_fence(rows.integer(0, 0)));
  note_sequence(rows.integer(0, 1));
  return CommitSequence{static_cast<std::uint64_t>(rows.integer(0, 2))};
}

Result<void> PostgresStore::check_epoch(CommitSequence epoch) const {
  if (!is_shared() || epoch == this->epoch()) return {};
  return outdated();
}

Result<void> PostgresStore::check_format(const Rows& rows) const {
  auto objection = objection_to(TRY(read_format(rows)));
  if (objection.empty()) return {};
  return lose(std::move(objection), StoreTrouble::Upgraded);
}

Result<void> PostgresStore::read_clock(Connection& connection) const {
  const auto asked = database_clock_.steady_now();
  connection.add_once("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::int8");
  const auto rows = TRY(connection.run_within(kPingLimit));
  database_clock_.note_reading(WallTime{std::chrono::microseconds{rows[0].integer(0, 0)}}, asked,
                               database_clock_.steady_now());
  return {};
}

void PostgresStore::note_sequence(std::int64_t sequence) const {
  // A store of its own knows it without being told, and tells it when its readers may know.
  if (!is_shared()) return;
  auto known = last_commit_.load(std::memory_order_relaxed);
  const auto now = static_cast<std::uint64_t>(sequence);
  while (known < now && !last_commit_.compare_exchange_weak(known, now, std::memory_order_release)) {
  }
}

// Runs a read, and once more on a new connection when the one it got turns out to be broken: the server was restarted
// since, or is another one now.
template <typename Read>
auto PostgresStore::with_connection(ConnectionPool::Use use, Read read) const
    -> decltype(read(std::declval<ConnectionPool::Lease&>())) {
  for (int attempt = 1;; ++attempt) {
    if (auto refused = refusal()) return std::move(*refused);
    auto lease = pool_.acquire(use);
    if (!lease) {
      if (lease.error().code == ErrorCode::Storage) note_unreachable(lease.error());
      return std::move(lease).error();
    }
    auto answer = read(*lease);
    if (answer || !(*lease)->broken()) return answer;
    counters_->note_retry();
    if (attempt == 2) {
      note_unreachable(answer.error());
      return answer;
    }
    pool_.forget_idle();
  }
}

Result<std::optional<Bytes>> PostgresStore::get(BytesView key) const {
  const KeyParts parts(key);
  return with_connection(ConnectionPool::Use::Short, [&](ConnectionPool::Lease& lease) -> Result<std::optional<Bytes>> {
    lease->add(statements_.get, Parameters().int32(kLane).bytes(parts.head).bytes(parts.digest));
    const auto rows = TRY(lease->run(StatementKind::Read));
    TRY(check_epoch(TRY(note_lane(rows[0]))));
    if (rows[0].is_null(0, 3)) return std::optional<Bytes>();
    return std::optional<Bytes>(rows[0].bytes(0, 3));
  });
}

Result<ValuesRead> PostgresStore::get_all(const std::vector<BytesView>& keys) const {
  const KeyColumns columns(keys);
  return with_connection(ConnectionPool::Use::Short, [&](ConnectionPool::Lease& lease) -> Result<ValuesRead> {
    lease->add(statements_.get_all, Parameters().int32(kLane).array(columns.heads).array(columns.digests));
    const auto answer = TRY(lease->run(StatementKind::Read));
    const auto& rows = answer[0];
    TRY(check_epoch(TRY(note_lane(rows))));
    ValuesRead read{.at = {static_cast<std::uint64_t>(rows.integer(0, 1))}, .values = {}};
    read.values.resize(keys.size());
    for (int row = 0; row < rows.count() && !rows.is_null(row, 3); ++row) {
      read.values[static_cast<std::size_t>(rows.integer(row, 3) - 1)] = rows.bytes(row, 4);
    }
    return read;
  });
}

Result<SnapshotOfEpoch> PostgresStore::snapshot_of_epoch() const {
  return with_connection(ConnectionPool::Use::Snapshot, [&](ConnectionPool::Lease& lease) -> Result<SnapshotOfEpoch> {
    lease->add(statements_.begin_snapshot);
    lease->add(statements_.lane, Parameters().int32(kLane));
    const auto rows = lease->run(StatementKind::Snapshot);
    auto epoch = rows ? note_lane((*rows)[1]) : Result<CommitSequence>(rows.error());
    if (epoch && *epoch != this->epoch()) {
      // An upgrade begins an epoch.
      lease->add(statements_.format);
      const auto format = lease->run(StatementKind::Snapshot);
      const auto checked = format ? check_format((*format)[0]) : Result<void>(format.error());
      if (!checked) epoch = checked.error();
    }
    if (epoch) return SnapshotOfEpoch{snapshot_on(std::move(lease), statements_), *epoch};
    lease->add(statements_.rollback);
    lease->send();
    return std::move(epoch).error();
  });
}

std::unique_ptr<Snapshot> PostgresStore::snapshot() const {
  auto taken = snapshot_of_epoch();
  if (!taken) return failed_snapshot(std::move(taken).error());
  if (auto checked = check_epoch(taken->epoch); !checked) return failed_snapshot(std::move(checked).error());
  return std::move(taken->snapshot);
}

// -- The connection that commits

Result<bool> PostgresStore::take_lock(Connection& connection, std::chrono::seconds patience) const {
  const auto deadline = options_.clock->steady_now() + patience;
  // Of all things in the database, the table of lanes is ours alone.
  const auto sql =
      fmt::format("SELECT pg_try_advisory_lock{}((1400136050::int8 << 32) | '{}.lanes'::regclass::oid::int8)",
                  is_shared() ? "_shared" : "", options_.schema);
  for (;;) {
    connection.add_once(sql);
    const auto rows = TRY(connection.run());
    if (rows[0].integer(0, 0) != 0) return true;
    if (options_.clock->steady_now() >= deadline) return false;
    options_.clock->wait(kLockPause);
  }
}

Result<PostgresStore::Attached> PostgresStore::attach() {
  connection_.reset();
  auto connection = TRY(Connection::open(libpq_, writer_options(options_, counters_)));
  auto attached = TRY(attach_with(*connection));
  connection_ = std::move(connection);
  MutexLock lock(health_mutex_);
  host_ = connection_->host();
  return attached;
}

Result<PostgresStore::Attached> PostgresStore::attach_with(Connection& connection) {
  const auto lane = Parameters().int32(kLane);
  connection.add(statements_.lane, lane);
  connection.add(statements_.format);
  const auto now = TRY(connection.run());
  if (now[0].count() != 1) return no_lane();
  TRY(check_format(now[1]));
  TRY(check_fence(now[0].integer(0, 0)));
  TRY(read_clock(connection));
  if (!TRY(take_lock(connection, kLockPatience))) {
    return Error{ErrorCode::Storage, "another session has the store's lock"};
  }
  // Before the row is read: readers may learn of newer commits at any time.
  const auto known = last_commit();
  // A commit whose connection broke can still be under way.  It has its lane's row until it ends.
  connection.add(in_doubt_ ? statements_.lane_locked : statements_.lane, lane);
  connection.add(statements_.writer_number, Parameters().int32(kLane).bytes(writer_));
  const auto rows = TRY(connection.run());
  if (rows[0].count() != 1) return no_lane();
  TRY(check_fence(rows[0].integer(0, 0)));
  const auto sequence = rows[0].integer(0, 1);
  if (static_cast<std::uint64_t>(sequence) < known.value) {
    return lose(fmt::format("the database has lost commits: its last one is {}, and {} was acknowledged", sequence,
                            known.value));
  }
  Attached attached{.sequence = {static_cast<std::uint64_t>(sequence)}};
  if (rows[1].count() == 1) {
    attached.number = rows[1].integer(0, 0);
    // Others may have made as many new commits as were lost.
    if (attached.number < acknowledged_) return lose("the database has lost commits of this process");
    attached.number_sequence = {static_cast<std::uint64_t>(rows[1].integer(0, 1))};
  }
  return attached;
}

void PostgresStore::watch(const std::stop_token& stop) {
  for (int round = 1; options_.clock->wait(kPingInterval, stop); ++round) {
    // Who commits finds out by itself.
    if (commit_mutex_.try_lock()) {
      ping();
      commit_mutex_.unlock();
    }
    look(round % kSizeEvery == 0);
  }
}

void PostgresStore::look(bool at_size) {
  const auto looked = with_connection(ConnectionPool::Use::Short, [&](ConnectionPool::Lease& lease) -> Result<void> {
    const auto asked = options_.clock->steady_now();
    lease->add(statements_.lane, Parameters().int32(kLane));
    lease->add(statements_.format);
    const auto rows = TRY(lease->run_within(kPingLimit));
    TRY(note_lane(rows[0]));
    TRY(check_format(rows[1]));
    round_trip_microseconds_ =
        std::chrono::duration_cast<std::chrono::microseconds>(options_.clock->steady_now() - asked).count();
    if (!at_size) return {};
    lease->add(statements_.size);
    note_size(TRY(lease->run_within(kPingLimit))[0]);
    return {};
  });
  ignore_error(looked, "ping() tells, and all connections may be in use");
}

void PostgresStore::note_size(const Rows& rows) {
  written_at_size_ = bytes_written_.load(std::memory_order_relaxed);
  size_bytes_ = static_cast<std::uint64_t>(rows.integer(0, 0));
}

void PostgresStore::ping() {
  if (failed_ || lost_.load(std::memory_order_relaxed)) return;  // recover() sees to it, or nobody can
  const auto connected = [&]() -> Result<void> {
    if (!is_attached()) {
      note_sequence(static_cast<std::int64_t>(TRY(attach()).sequence.value));
      return {};
    }
    connection_->add(statements_.lane, Parameters().int32(kLane));
    const auto rows = TRY(connection_->run_within(kPingLimit));
    TRY(note_lane(rows[0]));
    return read_clock(*connection_);
  }();
  if (lost_.load(std::memory_order_relaxed)) return;
  if (connected) {
    if (health().trouble != StoreTrouble::None) {
      log::info("store_reached", {{"message", "the database server answers again"}});
      set_health({});
    }
    return;
  }
  note_unreachable(connected.error());
}

// -- Committing

Result<CommitSequence> PostgresStore::commit(Batch batch) {
  MutexLock lock(commit_mutex_);
  if (lost_) return *refusal();
  const bool on_full_disk = failed_ && !in_doubt_ && health().trouble == StoreTrouble::DiskFull;
  if (failed_ && !(on_full_disk && batch.is_freeing_space())) {
    return Error{ErrorCode::Storage, "the store failed and has not recovered yet: " + failure_};
  }
  for (int attempt = 1;; ++attempt) {
    if (!is_attached()) {
      if (auto attached = attach(); !attached) return fail(std::move(attached).error());
    }
    if (attempt > 1) counters_->note_retry();
    ++number_;
    bool commit_sent = false;
    auto committed = try_commit(batch, commit_sent);
    if (committed) {
      note_committed(batch, *committed);
      return committed;
    }
    auto error = std::move(committed).error();
    if (!connection_->broken()) {
      const auto state = connection_->sql_state();
      connection_->add(statements_.rollback);
      ignore_error(connection_->run(), "without a connection there is no transaction either");
      if (!lost_ && (state == kSerializationFailure || state == kDeadlock)) error = conflict();
      if (error.code == ErrorCode::Conflict) counters_->note_conflict();
      if (lost_ || error.code != ErrorCode::Storage) return error;
      if (state == kLockNotAvailable) return Error{ErrorCode::Busy, "a commit of another process takes long"};
      if (state == kDiskFull) set_health({.trouble = StoreTrouble::DiskFull, .cause = error.message});
      return fail(std::move(error));
    }
    if (commit_sent) {
      in_doubt_ = true;
      const auto attached = attach();
      if (!attached) {
        readers_refused_.store(true, std::memory_order_release);
        return fail(attached.error());
      }
      in_doubt_ = false;
      if (attached->number == number_) {
        note_committed(batch, attached->number_sequence);
        return attached->number_sequence;
      }
    }
    // Nothing of it has happened.
    if (attempt == kMostAttempts) return fail(std::move(error));
  }
}

Result<CommitSequence> PostgresStore::try_commit(const Batch& batch, bool& commit_sent) {
  auto& connection = *connection_;
  connection.add(statements_.begin);
  connection.add(statements_.next_number, Parameters().int32(kLane).int64(fence_));
  const auto counter_keys = counters_of(batch);
  if (!counter_keys.empty()) {
    const KeyColumns columns(counter_keys);
    connection.add(statements_.counters, Parameters().int32(kLane).array(columns.heads).array(columns.digests));
  }
  if (is_shared()) add_checks(batch);
  const auto locked = TRY(connection.run(StatementKind::Lock));
  if (locked[1].count() == 0) return lose("another Stator has taken over the store");
  counters_->note_lock_wait(std::chrono::microseconds(locked[1].integer(0, 3)));
  const CommitSequence sequence{static_cast<std::uint64_t>(locked[1].integer(0, 0))};
  if (is_shared() && locked[1].integer(0, 2) != static_cast<std::int64_t>(batch.epoch().value)) return outdated();
  std::size_t next = 2;
  std::map<BytesView, BytesView> counters;
  if (!counter_keys.empty()) {
    const auto& rows = locked[next++];
    for (int row = 0; row < rows.count(); ++row) {
      counters.emplace(counter_keys[static_cast<std::size_t>(rows.integer(row, 0) - 1)], rows.bytes(row, 1));
    }
  }
  if (is_shared()) {
    const auto read_something = !batch.keys_read().empty() || !batch.ranges_read().empty();
    const bool too_old = static_cast<std::int64_t>(batch.read_at().value) < locked[1].integer(0, 1);
    bool changed = read_something && too_old;
    for (; next < locked.size(); ++next) changed = changed || locked[next].integer(0, 0) != 0;
    if (changed) {
      // The next attempt reads what is there now.
      note_sequence(static_cast<std::int64_t>(sequence.value) - 1);
      return conflict();
    }
  }
  const auto changes = TRY(FinalChanges::of(batch, sequence, [&](const Bytes& key) -> std::optional<BytesView> {
    const auto found = counters.find(key);
    return found == counters.end() ? std::nullopt : std::optional(found->second);
  }));
  add_writes(changes, sequence);
  if (batch.is_beginning_epoch()) connection.add(statements_.begin_epoch, Parameters().int32(kLane));
  connection.add(statements_.note_writer, Parameters().int32(kLane).bytes(writer_).int64(number_).int64(
                                              static_cast<std::int64_t>(sequence.value)));
  connection.add(statements_.commit);
  commit_sent = true;
  if (changes.erased_ranges.empty()) {
    TRY(connection.run(StatementKind::Write));
  } else {
    TRY(connection.run_within(kEraseLimit, StatementKind::Write));
  }
  return sequence;
}

void PostgresStore::add_checks(const Batch& batch) {
  const auto read_at = static_cast<std::int64_t>(batch.read_at().value);
  if (!batch.keys_read().empty()) {
    const std::vector<BytesView> keys(batch.keys_read().begin(), batch.keys_read().end());
    const KeyColumns columns(keys);
    connection_->add(statements_.keys_changed,
                     Parameters().int32(kLane).array(columns.heads).array(columns.digests).array(keys).int64(read_at));
  }
  for (const auto& range : batch.ranges_read()) {
    if (!range.end.empty() && range.end <= range.begin) continue;
    auto parameters = range_parameters(range);
    connection_->add(range.end.empty() ? statements_.range_changed_to_end : statements_.range_changed,
                     parameters.int64(read_at));
    connection_->add(statements_.range_erased,
                     Parameters().int32(kLane).bytes(range.begin).bytes(range.end).int64(read_at));
  }
}

void PostgresStore::add_writes(const FinalChanges& changes, CommitSequence sequence) {
  const auto number = static_cast<std::int64_t>(sequence.value);
  for (const auto& range : changes.erased_ranges) {
    connection_->add(range.end.empty() ? statements_.erase_range_to_end : statements_.erase_range,
                     range_parameters(range));
  }
  std::vector<BytesView> erased, put, values;
  for (const auto& [key, value] : changes.keys) {
    if (value) {
      put.push_back(key);
      values.push_back(*value);
    } else {
      erased.push_back(key);
    }
  }
  if (!erased.empty()) {
    const KeyColumns columns(erased);
    connection_->add(statements_.erase_keys, Parameters().int32(kLane).array(columns.heads).array(columns.digests));
  }
  if (!put.empty()) {
    const KeyColumns columns(put);
    connection_->add(statements_.put, Parameters()
                                          .int32(kLane)
                                          .array(columns.heads)
                                          .array(columns.digests)
                                          .array(columns.tails)
                                          .array(values)
                                          .int64(number));
  }
  if (!is_shared()) return;
  // What is gone cannot say when it went, so that is noted, for those who have read it.
  std::vector<Bytes> ends;
  std::vector<BytesView> begins, end_views;
  ends.reserve(erased.size());
  for (const auto key : erased) {
    begins.push_back(key);
    end_views.push_back(ends.emplace_back(Bytes(key) + '\0'));
  }
  for (const auto& range : changes.erased_ranges) {
    begins.push_back(range.begin);
    end_views.push_back(range.end);
  }
  if (!begins.empty()) {
    connection_->add(statements_.note_erasures, Parameters().int32(kLane).int64(number).array(begins).array(end_views));
  }
  if (number % kTrimEvery == 0 && number > kErasuresKept) {
    const auto trimmed = Parameters().int32(kLane).int64(number - kErasuresKept);
    connection_->add(statements_.trim_erasures, trimmed);
    connection_->add(statements_.note_trimmed, trimmed);
  }
}

void PostgresStore::note_committed(const Batch& batch, CommitSequence sequence) {
  std::uint64_t bytes = 0;
  for (const auto& operation : batch.operations()) bytes += size_of(operation);
  if (is_shared()) {
    note_sequence(static_cast<std::int64_t>(sequence.value));
  } else {
    last_commit_.store(sequence.value, std::memory_order_release);
  }
  acknowledged_ = number_;
  commits_.fetch_add(1, std::memory_order_relaxed);
  bytes_written_.fetch_add(bytes, std::memory_order_relaxed);
  if (!options_.relaxed) syncs_.fetch_add(1, std::memory_order_relaxed);
}

Error PostgresStore::fail(Error error) {
  if (lost_) return error;
  failed_ = true;
  failure_ = error.message;
  if (!is_attached()) {
    set_health({.trouble = StoreTrouble::Unreachable, .cause = error.message});
  } else if (health().trouble == StoreTrouble::None) {
    set_health({.trouble = StoreTrouble::DiskFailing, .cause = error.message});
  }
  return error;
}

Result<void> PostgresStore::sync() {
  MutexLock lock(commit_mutex_);
  if (lost_) return *refusal();
  if (failed_) return Error{ErrorCode::Storage, "the store failed and has not recovered yet: " + failure_};
  if (!options_.relaxed) return {};
  if (!is_attached()) TRY(attach());
  // What a commit that waits for the disk leaves behind it there is everything before it, too.
  connection_->add_once("BEGIN");
  connection_->add_once("SET LOCAL synchronous_commit = on");
  connection_->add_once(fmt::format("UPDATE {}.writers SET seen = now() WHERE writer = $1::bytea", options_.schema),
                        Parameters().bytes(writer_));
  connection_->add_once("COMMIT");
  TRY(connection_->run());
  syncs_.fetch_add(1, std::memory_order_relaxed);
  return {};
}

Result<void> PostgresStore::advance_to(CommitSequence least) {
  MutexLock lock(commit_mutex_);
  if (lost_) return *refusal();
  if (failed_) return Error{ErrorCode::Storage, "the store failed and has not recovered yet: " + failure_};
  if (!is_attached()) TRY(attach());
  connection_->add_once(
      fmt::format("UPDATE {}.lanes SET sequence = greatest(sequence, $1::int8) WHERE fence = $2::int8 "
                  "RETURNING sequence",
                  options_.schema),
      Parameters().int64(static_cast<std::int64_t>(least.value)).int64(fence_));
  const auto rows = TRY(connection_->run());
  if (rows[0].count() == 0) return lose("another Stator has taken over the store");
  if (last_commit() < least) last_commit_.store(least.value, std::memory_order_release);
  return {};
}

Result<void> PostgresStore::recover() {
  MutexLock lock(commit_mutex_);
  if (lost_) return *refusal();
  if (!failed_ && is_attached()) return {};
  if (in_doubt_ || !is_attached()) {
    const auto attached = attach();
    if (!attached) return fail(attached.error());
    if (in_doubt_ && attached->number == number_) {
      if (is_shared()) {
        note_sequence(static_cast<std::int64_t>(attached->number_sequence.value));
      } else {
        last_commit_.store(attached->number_sequence.value, std::memory_order_release);
      }
    }
    in_doubt_ = false;
    pool_.forget_idle();
  }
  readers_refused_.store(false, std::memory_order_release);
  failed_ = false;
  failure_.clear();
  set_health({});
  return {};
}

// -- State

Error PostgresStore::lose(std::string why, StoreTrouble trouble) const {
  if (trouble == StoreTrouble::TakenOver) why += "; restart this one to use it again";
  MutexLock lock(health_mutex_);
  if (!lost_.exchange(true, std::memory_order_acq_rel)) {
    log::error("store_lost", {{"cause", why}, {"message", "nothing is read or written here any more"}});
    health_ = {.trouble = trouble, .cause = why};
  }
  return {ErrorCode::Storage, std::move(why)};
}

void PostgresStore::set_health(StoreHealth health) const {
  MutexLock lock(health_mutex_);
  if (lost_.load(std::memory_order_relaxed)) return;
  const bool unreachable = health.trouble == StoreTrouble::Unreachable;
  if (unreachable_.exchange(unreachable, std::memory_order_acq_rel) != unreachable) since_ = options_.clock->now();
  health_ = std::move(health);
}

void PostgresStore::note_unreachable(const Error& error) const {
  // Once for each cause: it is tried each second.
  if (health().cause != error.message) log::warning("store_unreachable", {{"cause", error.message}});
  set_health({.trouble = StoreTrouble::Unreachable, .cause = error.message});
}

StoreHealth PostgresStore::health() const {
  MutexLock lock(health_mutex_);
  return health_;
}

StoreStatistics PostgresStore::statistics() const {
  StoreStatistics statistics{.commits = commits_.load(std::memory_order_relaxed),
                             .syncs = syncs_.load(std::memory_order_relaxed),
                             .bytes_written = bytes_written_.load(std::memory_order_relaxed)};
  // Those who ask must not wait for the server.
  statistics.size_bytes =
      size_bytes_ + statistics.bytes_written - std::min(statistics.bytes_written, written_at_size_.load());
  counters_->tell(statistics);
  return statistics;
}

std::optional<StoreServer> PostgresStore::server() const {
  const auto readers = pool_.usage();
  MutexLock lock(health_mutex_);
  // One more commits, and is used by somebody all the time: it has the lock.
  return StoreServer{.host = host_,
                     .reachable = !unreachable_.load(std::memory_order_relaxed),
                     .since = since_,
                     .connections = readers.open + 1,
                     .connections_used = readers.used + 1,
                     .most_connections = options_.connections + 1,
                     .round_trip = std::chrono::microseconds(round_trip_microseconds_.load()),
                     .epoch = epoch()};
}

}  // namespace stator::storage::postgres

namespace stator::storage {

bool is_postgres_url(std::string_view url) {
  return url.starts_with("postgres://") || url.starts_with("postgresql://");
}

std::string described_postgres_url(std::string_view url) { return postgres::described_url(url); }

Result<std::unique_ptr<Store>> open_postgres_store(PostgresOptions options) {
  auto libpq = TRY(postgres::Libpq::load());
  auto store = std::make_unique<postgres::PostgresStore>(std::move(libpq), std::move(options));
  TRY(store->open());
  return std::unique_ptr<Store>(std::move(store));
}

std::string postgres_schema_script(std::string_view schema) {
  std::string script = "BEGIN;\n";
  for (const auto& statement : postgres::schema_statements(schema)) script += statement + ";\n";
  return script + "COMMIT;\n";
}

Result<void> make_postgres_schema(const PostgresOptions& options) {
  auto libpq = TRY(postgres::Libpq::load());
  const auto connection = TRY(postgres::Connection::open(std::move(libpq), {.url = options.url}));
  return postgres::ensure_schema(*connection, options.schema);
}

Result<PostgresUpgrade> upgrade_postgres_schema(const PostgresOptions& options) {
  auto libpq = TRY(postgres::Libpq::load());
  const auto connection = TRY(postgres::Connection::open(std::move(libpq), {.url = options.url}));
  TRY(postgres::ensure_schema(*connection, options.schema));
  const auto before = TRY(postgres::finish_upgrade(*connection, options.schema));
  return PostgresUpgrade{.format = static_cast<int>(before.format), .was_for = static_cast<int>(before.readable_by)};
}

}  // namespace stator::storage
