#include "stator/storage/postgres/postgres_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "stator/base/log.h"
#include "stator/storage/postgres/key_parts.h"
#include "stator/storage/postgres/loop_reads.h"
#include "stator/storage/postgres/postgres_reads.h"
#include "stator/storage/postgres/postgres_store_impl.h"
#include "stator/storage/postgres/schema.h"
#include "stator/storage/postgres/server_address.h"
#include "stator/storage/postgres/session_check.h"

namespace stator::storage::postgres {
namespace {

constexpr std::chrono::seconds kOpenPatience{2};  // for the session of a process that was just killed
constexpr std::chrono::seconds kPingInterval{1};
constexpr std::chrono::seconds kLookLimit{5};
// If the watcher was away for so long, this process or the server stood still, and another one may have been promoted.
constexpr std::chrono::seconds kStoodStill{4};
constexpr std::chrono::seconds kFirstSessionPatience{2};
constexpr int kSizeEvery = 10;     // looks
constexpr int kNewestEvery = 2;    // rounds of the watcher: all hosts are asked which of them counts
constexpr int kFirstReadings = 3;  // of the clock; the quickest counts
constexpr std::uint32_t kMostSessions = 16;

// Readers wait on threads that have others to serve.
ConnectOptions reader_options(StoreParts& parts) {
  return {.url = parts.options.url,
          .settings = {kSessionSettings, kPlanSettings, kEndOfLostSessions, kEndOfIdleSnapshots},
          .answers_within = std::chrono::seconds(10),
          .counters = parts.counters,
          .haste = parts.haste,
          .choice = &parts.servers};
}

// For commands that look at the tables and make them.
ConnectOptions command_options(StoreParts& parts) {
  return {.url = parts.options.url, .settings = {kSessionSettings}, .choice = &parts.servers};
}

ConnectOptions loop_options(StoreParts& parts) {
  auto options = reader_options(parts);
  options.settings.emplace_back(kShortStatements);
  return options;
}

Result<std::unique_ptr<Connection>> first_connection(const StoreParts& parts, const ConnectOptions& options) {
  auto opened = Connection::open(parts.libpq, options);
  if (!opened) return as_storage(std::move(opened).error());
  return opened;
}

std::string this_process() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0) return fmt::format("process {}", ::getpid());
  return fmt::format("process {} on {}", ::getpid(), name);
}

Result<void> check_lanes(std::uint32_t lanes) {
  if (Lanes::is_valid(lanes)) return {};
  return usage_error(fmt::format("a store has 1, 2, 4, 8, 16, 32 or 64 lanes, and not {}", lanes));
}

}  // namespace

PostgresStore::PostgresStore(std::shared_ptr<const Libpq> libpq, PostgresOptions options)
    : parts_(std::move(libpq), std::move(options)),
      pool_(parts_.libpq, reader_options(parts_), parts_.options.connections, parts_.options.clock),
      connector_(parts_.libpq, loop_options(parts_)) {}

PostgresStore::~PostgresStore() {
  parts_.haste->begin();
  watcher_ = {};
  for (const auto& session : sessions_) session->leave();
}

Result<void> PostgresStore::open() {
  const auto& options = parts_.options;
  TRY(check_lanes(options.lanes));
  auto connection = TRY(first_connection(parts_, parts_.writer_options()));
  TRY(check_session(parts_.libpq, parts_.writer_options(), *connection));
  const auto stored = TRY(ensure_tables(*connection, options.schema, options.lanes, options.must_exist));
  const auto lanes = static_cast<std::uint32_t>(stored.lanes);
  if (lanes > 1 && options.placement == nullptr) {
    return Error{ErrorCode::Internal, "a store with several lanes needs the placement of its keys"};
  }
  parts_.lanes = Lanes(lanes, options.placement);
  parts_.known.start(parts_.lanes.rows());
  parts_.seen.start(parts_.lanes.rows());
  if (!TRY(take_lock(*connection, options, kOpenPatience))) {
    connection->add_once(fmt::format("SELECT holder FROM {}.lanes WHERE lane = 0", options.schema));
    const auto rows = TRY(connection->run());
    const auto holder = rows[0].count() == 1 ? Bytes(rows[0].bytes(0, 0)) : Bytes();
    return usage_error(fmt::format("another Stator uses the store {}{}; stop it first", described_url(options.url),
                                   holder.empty() ? "" : fmt::format(" ({})", holder)));
  }
  // Only now: an older program that has the store open needs the tables as they are.
  TRY(update_tables(*connection, options.schema, stored));
  connection->add_once(fmt::format("DELETE FROM {}.writers WHERE seen < now() - interval '1 day'", options.schema));
  if (!parts_.is_shared()) {
    // The process that had it before cannot commit any more, and finds that out.
    connection->add(parts_.statements.lock, Parameters().array(each_lane(parts_.lanes.all())));
    connection->add_once(fmt::format("UPDATE {}.lanes SET fence = fence + 1, holder = $1::text", options.schema),
                         Parameters().bytes(options.holder.empty() ? this_process() : options.holder));
  }
  connection->add(parts_.statements.size);
  connection->add(parts_.statements.lanes);
  const auto answer = TRY(connection->run());
  note_size(answer[answer.size() - 2]);
  const auto& rows = answer.back();
  if (rows.count() != static_cast<int>(parts_.lanes.rows())) return no_lane();
  parts_.condition.hold_fence(rows.integer(0, 1));
  for (int row = 0; row < rows.count(); ++row) {
    parts_.known.note(row, {static_cast<std::uint64_t>(rows.integer(row, 2))});
  }
  parts_.epoch = static_cast<std::uint64_t>(rows.integer(0, 3));
  for (int reading = 0; reading < kFirstReadings; ++reading) TRY(parts_.read_clock(*connection));

  parts_.condition.note_host(connection->host());

  // The lock of an exclusive store is for one session.
  const auto sessions = parts_.is_shared() ? std::min(lanes, kMostSessions) : 1;
  for (std::uint32_t i = 0; i < sessions; ++i) sessions_.push_back(std::make_unique<CommitSession>(parts_));
  sessions_.front()->attach_to(std::move(connection));
  TRY(sessions_.front()->connect());
  // While there is one, reads go on, however many connections others take.
  ignore_error(pool_.acquire(ConnectionPool::Use::Short), "the first reader tries it again");
  {
    MutexLock lock(sessions_mutex_);
    taken_.resize(sessions_.size());
    used_sessions_ = sessions_.size();
  }
  watcher_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
  return {};
}

// -- Reading

void PostgresStore::forget_connections() const {
  parts_.generation.fetch_add(1, std::memory_order_acq_rel);
  parts_.servers.forget_preferred();
  pool_.forget_idle();
}

std::unique_ptr<LoopReader> PostgresStore::reader_on(EventLoop& loop) {
  return std::make_unique<LoopReads>(parts_, connector_, loop);
}

CommitSequence PostgresStore::last_commit_of(BytesView key) const {
  const auto lane = parts_.lanes.of(key);
  return lane ? std::max(parts_.known.of(*lane), parts_.seen.of(*lane)) : last_commit();
}

// Runs a read, and once more on a new connection when the one it got turns out to be broken: the server was restarted
// since, or is another one now.
template <typename Read>
auto PostgresStore::with_connection(ConnectionPool::Use use, Read read) const
    -> decltype(read(std::declval<ConnectionPool::Lease&>())) {
  for (int attempt = 1;; ++attempt) {
    if (auto refused = parts_.condition.refusal()) return std::move(*refused);
    auto lease = pool_.acquire(use);
    if (!lease) {
      if (lease.error().code == ErrorCode::Storage) parts_.condition.note_unreachable(lease.error());
      return std::move(lease).error();
    }
    auto answer = read(*lease);
    // The answer of a server that is the primary no longer may be old.
    if (lease->has_connection()) {
      if (auto checked = parts_.servers.check(**lease); answer && !checked) answer = std::move(checked).error();
    }
    if (answer || !lease->has_connection() || !(*lease)->broken()) return answer;
    parts_.counters->note_retry();
    if (attempt == 2) {
      parts_.condition.note_unreachable(answer.error());
      return answer;
    }
    forget_connections();
  }
}

Result<std::optional<Bytes>> PostgresStore::get(BytesView key) const {
  const auto lane = parts_.lanes.of(key);
  if (!lane) return std::move(TRY(get_all({key})).values.front());
  const KeyParts parts(key);
  return with_connection(ConnectionPool::Use::Short, [&](ConnectionPool::Lease& lease) -> Result<std::optional<Bytes>> {
    const auto known = parts_.known.of(*lane);
    lease->add(parts_.statements.get, Parameters().int32(*lane).bytes(parts.head).bytes(parts.digest));
    const auto answer = TRY(lease->run(StatementKind::Read));
    const auto& rows = answer[0];
    if (rows.count() == 0) return no_lane();
    TRY(parts_.note_lane(&*lease, *lane, rows.integer(0, 0), rows.integer(0, 1), known));
    TRY(parts_.check_epoch(rows.integer(0, 2)));
    if (rows.is_null(0, 3)) return std::optional<Bytes>();
    return std::optional<Bytes>(rows.bytes(0, 3));
  });
}

Result<ValuesRead> PostgresStore::get_all(const std::vector<BytesView>& keys) const {
  std::vector<KeyParts> parts;
  std::vector<std::size_t> wanted;  // the key of each row that is asked for
  std::vector<std::int32_t> lanes;
  std::vector<BytesView> heads, digests;
  parts.reserve(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto& part = parts.emplace_back(keys[i]);
    const auto lane = parts_.lanes.of(keys[i]);
    for (const auto each : lane ? std::vector<std::int32_t>{*lane} : each_lane(parts_.lanes.all())) {
      wanted.push_back(i);
      lanes.push_back(each);
      heads.push_back(part.head);
      digests.push_back(part.digest);
    }
  }
  const std::set<std::int32_t> read_from(lanes.begin(), lanes.end());
  const auto parameters = Parameters()
                              .array(std::vector<std::int32_t>(read_from.begin(), read_from.end()))
                              .array(lanes)
                              .array(heads)
                              .array(digests);
  return with_connection(ConnectionPool::Use::Short, [&](ConnectionPool::Lease& lease) -> Result<ValuesRead> {
    // Before: of lanes that are not read, it is what later reads see at least.
    auto at = parts_.known.all();
    lease->add(parts_.statements.get_all, parameters);
    const auto answer = TRY(lease->run(StatementKind::Read));
    const auto& rows = answer[0];
    std::vector<std::vector<BytesView>> found(keys.size());
    std::size_t lanes_seen = 0;
    for (int row = 0; row < rows.count(); ++row) {
      if (const auto ordinal = rows.integer(row, 4); ordinal > 0) {
        found[wanted[static_cast<std::size_t>(ordinal - 1)]].push_back(rows.bytes(row, 5));
        continue;
      }
      ++lanes_seen;
      const auto lane = static_cast<std::int32_t>(rows.integer(row, 0));
      TRY(parts_.note_lane(&*lease, lane, rows.integer(row, 1), rows.integer(row, 2),
                           at[static_cast<std::size_t>(lane)]));
      TRY(parts_.check_epoch(rows.integer(row, 3)));
      at[static_cast<std::size_t>(lane)] = {static_cast<std::uint64_t>(rows.integer(row, 2))};
    }
    if (lanes_seen != read_from.size()) return no_lane();
    ValuesRead read{.at = ReadPoint(std::move(at)), .values = {}};
    read.values.reserve(keys.size());
    for (const auto& values : found) read.values.push_back(TRY(sum_of_parts(values)));
    return read;
  });
}

Result<SnapshotOfEpoch> PostgresStore::snapshot_of_epoch() const {
  return with_connection(ConnectionPool::Use::Snapshot, [&](ConnectionPool::Lease& lease) -> Result<SnapshotOfEpoch> {
    const auto known = parts_.known.all();
    lease->add(parts_.statements.begin_snapshot);
    lease->add(parts_.statements.lanes);
    const auto rows = lease->run(StatementKind::Snapshot);
    auto epoch = rows ? parts_.note_lanes(*lease, (*rows)[1], known) : Result<CommitSequence>(rows.error());
    // Afterwards the connection belongs to the snapshot.
    if (auto checked = parts_.servers.check(*lease); epoch && !checked) epoch = std::move(checked).error();
    if (epoch && *epoch != this->epoch()) {
      // An upgrade begins an epoch.
      lease->add(parts_.statements.format);
      const auto format = lease->run(StatementKind::Snapshot);
      const auto checked = format ? parts_.check_format((*format)[0]) : Result<void>(format.error());
      if (!checked) epoch = checked.error();
    }
    if (epoch) return SnapshotOfEpoch{snapshot_on(std::move(lease), parts_.statements, parts_.lanes), *epoch};
    lease->add(parts_.statements.rollback);
    lease->send();
    return std::move(epoch).error();
  });
}

std::unique_ptr<Snapshot> PostgresStore::snapshot() const {
  auto taken = snapshot_of_epoch();
  if (!taken) return failed_snapshot(std::move(taken).error());
  if (auto checked = parts_.check_epoch(static_cast<std::int64_t>(taken->epoch.value)); !checked) {
    return failed_snapshot(std::move(checked).error());
  }
  return std::move(taken->snapshot);
}

// -- The sessions that commit

PostgresStore::SessionLease PostgresStore::take_session() {
  MutexLock lock(sessions_mutex_);
  for (;;) {
    // The first ones, so that a quiet store has few connections.
    for (std::size_t i = first_wanted_ ? 1 : 0; i < used_sessions_; ++i) {
      if (taken_[i]) continue;
      taken_[i] = true;
      return SessionLease(*this, {i});
    }
    session_returned_.wait(sessions_mutex_);
  }
}

std::unique_ptr<PostgresStore::SessionLease> PostgresStore::take_connected_session() {
  for (;;) {
    auto session = std::unique_ptr<SessionLease>(new SessionLease(take_session()));
    // Without the first one there are none; why, its commit tells.
    if (session->number() == 0 || parts_.condition.failure()) return session;
    const auto connected = (*session)->connect();
    if (connected || !is_refused_as_too_many(connected.error())) return session;
    use_sessions(session->number());
  }
}

void PostgresStore::use_sessions(std::size_t count) {
  MutexLock lock(sessions_mutex_);
  used_sessions_ = count;
}

PostgresStore::SessionLease PostgresStore::take_all_sessions() {
  MutexLock lock(sessions_mutex_);
  std::vector<std::size_t> all;
  while (all.size() < sessions_.size()) {
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      if (taken_[i]) continue;
      taken_[i] = true;
      all.push_back(i);
    }
    if (all.size() < sessions_.size()) session_returned_.wait(sessions_mutex_);
  }
  std::ranges::sort(all);
  return SessionLease(*this, std::move(all));
}

std::optional<std::size_t> PostgresStore::take_first_session() {
  MutexLock lock(sessions_mutex_);
  // The session is in use, and its commit will notice whether the server answers.
  if (taken_.front() && used_sessions_ == 1) return std::nullopt;
  first_wanted_ = true;
  const auto& clock = *parts_.options.clock;
  const auto deadline = clock.steady_now() + kFirstSessionPatience;
  while (taken_.front() && clock.steady_now() < deadline) {
    session_returned_.wait_for(sessions_mutex_, kFirstSessionPatience);
  }
  first_wanted_ = false;
  if (taken_.front()) return std::nullopt;  // a long commit, such as the deletion of a table
  taken_.front() = true;
  return 0;
}

void PostgresStore::give_back(const std::vector<std::size_t>& sessions) {
  {
    MutexLock lock(sessions_mutex_);
    for (const auto session : sessions) taken_[session] = false;
  }
  session_returned_.notify_all();
}

void PostgresStore::watch(const std::stop_token& stop) {
  auto last_round = parts_.options.clock->steady_now();
  for (int round = 1; parts_.options.clock->wait(kPingInterval, stop); ++round) {
    const auto now = parts_.options.clock->steady_now();
    const bool stood_still = now - std::exchange(last_round, now) > kStoodStill;
    if (stood_still) parts_.servers.forget_preferred();
    // One that was promoted while the old one goes on breaks no connection.
    if (stood_still || (round % kNewestEvery == 0 && parts_.servers.has_others())) look_for_newest();
    if (const auto first = take_first_session()) {
      const SessionLease session(*this, {*first});
      ping(*sessions_[*first]);
    }
    look(round % kSizeEvery == 0);
  }
}

void PostgresStore::look_for_newest() {
  if (parts_.condition.is_lost()) return;
  auto options = reader_options(parts_);
  options.asks_all = true;
  ignore_error(Connection::open(parts_.libpq, options), "ping() tells");
}

void PostgresStore::look(bool at_size) {
  const auto looked = with_connection(ConnectionPool::Use::Short, [&](ConnectionPool::Lease& lease) -> Result<void> {
    const auto asked = parts_.clock.steady_now();
    const auto known = parts_.known.all();
    lease->add(parts_.statements.lanes);
    lease->add(parts_.statements.format);
    lease->add(parts_.statements.clock);
    const auto rows = TRY(lease->run_within(kLookLimit));
    const auto answered = parts_.clock.steady_now();
    // Also while commits keep the session that ping() uses.
    parts_.clock.note_reading(time_of(rows[2].integer(0, 0)), asked, answered);
    TRY(parts_.note_lanes(*lease, rows[0], known));
    TRY(parts_.check_format(rows[1]));
    round_trip_microseconds_ = std::chrono::duration_cast<std::chrono::microseconds>(answered - asked).count();
    if (!at_size) return {};
    lease->add(parts_.statements.size);
    note_size(TRY(lease->run_within(kLookLimit))[0]);
    return {};
  });
  ignore_error(looked, "ping() tells, and all connections may be in use");
}

void PostgresStore::note_size(const Rows& rows) {
  written_at_size_ = parts_.bytes_written.load(std::memory_order_relaxed);
  size_bytes_ = static_cast<std::uint64_t>(rows.integer(0, 0));
}

void PostgresStore::ping(CommitSession& session) {
  auto& condition = parts_.condition;
  use_sessions(sessions_.size());                          // there may be more connections by now
  if (condition.failure() || condition.is_lost()) return;  // recover() sees to it, or nobody can
  const auto generation = parts_.generation.load(std::memory_order_acquire);
  const auto reached = session.ping();
  if (generation != parts_.generation.load(std::memory_order_acquire)) pool_.forget_idle();
  if (condition.is_lost()) return;
  if (reached || is_refused_as_too_many(reached.error())) return condition.note_reached();
  condition.note_unreachable(reached.error());
}

Result<CommitSequence> PostgresStore::commit(Batch batch) {
  const auto lease = take_connected_session();
  const auto& session = *lease;
  const auto& condition = parts_.condition;
  if (condition.is_lost()) return *condition.refusal();
  if (const auto failure = condition.failure()) {
    const bool on_full_disk = health().trouble == StoreTrouble::DiskFull && !session->is_in_doubt();
    if (!on_full_disk || !batch.is_freeing_space()) {
      return Error{ErrorCode::Storage, "the store failed and has not recovered yet: " + *failure};
    }
  }
  return session->commit(batch);
}

Result<void> PostgresStore::sync() {
  const auto session = take_session();
  const auto& condition = parts_.condition;
  if (condition.is_lost()) return *condition.refusal();
  if (const auto failure = condition.failure()) {
    return Error{ErrorCode::Storage, "the store failed and has not recovered yet: " + *failure};
  }
  if (!parts_.options.relaxed) return {};
  TRY(session->sync());
  parts_.syncs.fetch_add(1, std::memory_order_relaxed);
  return {};
}

Result<void> PostgresStore::advance_to(CommitSequence least) {
  const auto session = take_session();
  const auto& condition = parts_.condition;
  if (condition.is_lost()) return *condition.refusal();
  if (const auto failure = condition.failure()) {
    return Error{ErrorCode::Storage, "the store failed and has not recovered yet: " + *failure};
  }
  return session->advance_to(least);
}

Result<void> PostgresStore::recover() {
  MutexLock lock(recovering_);
  const auto all = take_all_sessions();
  auto& condition = parts_.condition;
  if (condition.is_lost()) return *condition.refusal();
  if (!condition.failure() && sessions_.front()->is_attached()) return {};
  for (const auto& session : sessions_) {
    // The others connect when they are needed.
    const bool first = session == sessions_.front();
    if (!session->is_in_doubt() && (!first || session->is_attached())) continue;
    auto recovered = session->recover();
    if (!recovered) return condition.fail(std::move(recovered).error(), session->is_attached());
    forget_connections();
  }
  condition.recovered();
  return {};
}

StoreStatistics PostgresStore::statistics() const {
  StoreStatistics statistics{.commits = parts_.commits.load(std::memory_order_relaxed),
                             .syncs = parts_.syncs.load(std::memory_order_relaxed),
                             .bytes_written = parts_.bytes_written.load(std::memory_order_relaxed)};
  // Those who ask must not wait for the server.
  statistics.size_bytes =
      size_bytes_ + statistics.bytes_written - std::min(statistics.bytes_written, written_at_size_.load());
  parts_.counters->tell(statistics);
  return statistics;
}

std::optional<StoreServer> PostgresStore::server() const {
  const auto readers = pool_.usage();
  auto server = parts_.condition.server();
  // The sessions that commit have the lock all the time.  Event loops keep their connections, too.
  const auto sessions = sessions_.size();
  const auto of_loops = parts_.loop_connections.load(std::memory_order_relaxed);
  return StoreServer{.host = std::move(server.host),
                     .reachable = server.reachable,
                     .since = server.since,
                     .connections = readers.open + of_loops + sessions,
                     .connections_used = readers.used + of_loops + sessions,
                     .most_connections = parts_.options.connections + parts_.loops.load() + sessions,
                     .round_trip = std::chrono::microseconds(round_trip_microseconds_.load()),
                     .epoch = epoch()};
}

}  // namespace stator::storage::postgres

namespace stator::storage {

bool is_postgres_url(std::string_view url) {
  return url.starts_with("postgres://") || url.starts_with("postgresql://");
}

std::string described_postgres_url(std::string_view url) { return postgres::described_url(url); }
std::string postgres_url_without_passwords(std::string_view url) { return postgres::url_without_passwords(url); }

Result<std::unique_ptr<Store>> open_postgres_store(PostgresOptions options) {
  auto libpq = TRY(postgres::Libpq::load());
  auto store = std::make_unique<postgres::PostgresStore>(std::move(libpq), std::move(options));
  TRY(store->open());
  return std::unique_ptr<Store>(std::move(store));
}

std::string postgres_schema_script(std::string_view schema, std::uint32_t lanes) {
  std::string script = "BEGIN;\n";
  for (const auto& statement : postgres::schema_statements(schema, lanes)) script += statement + ";\n";
  return script + "COMMIT;\n";
}

Result<std::uint32_t> make_postgres_schema(const PostgresOptions& options) {
  TRY(postgres::check_lanes(options.lanes));
  auto libpq = TRY(postgres::Libpq::load());
  postgres::StoreParts parts(std::move(libpq), options);
  const auto connection = TRY(postgres::first_connection(parts, postgres::command_options(parts)));
  return postgres::ensure_schema(*connection, options.schema, options.lanes);
}

Result<PostgresUpgrade> upgrade_postgres_schema(const PostgresOptions& options) {
  auto libpq = TRY(postgres::Libpq::load());
  postgres::StoreParts parts(std::move(libpq), options);
  const auto connection = TRY(postgres::first_connection(parts, postgres::command_options(parts)));
  TRY(postgres::ensure_schema(*connection, options.schema, options.lanes));
  const auto before = TRY(postgres::finish_upgrade(*connection, options.schema));
  return PostgresUpgrade{.format = static_cast<int>(before.format), .was_for = static_cast<int>(before.readable_by)};
}

}  // namespace stator::storage
