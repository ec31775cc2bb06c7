#include "stator/storage/postgres/connection.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

namespace stator::storage::postgres {
namespace {

constexpr std::uint32_t kInt8Oid = 20;
constexpr std::uint32_t kInt4Oid = 23;
constexpr std::uint32_t kByteaOid = 17;

// libpq's messages end with a line break, and can have several lines.
std::string one_line(std::string_view text) {
  std::string line(text);
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
  std::ranges::replace(line, '\n', ' ');
  return line;
}

// How long the other servers are waited for when one of them has let us in.
constexpr std::chrono::seconds kOthersPatience{1};

constexpr std::chrono::seconds kSettingsLimit{5};
// How often somebody who waits for an answer looks whether another server was promoted.
constexpr std::chrono::milliseconds kEraInterval{500};

constexpr std::string_view kTooManyConnections = "53300";

// The message of a refused connection has no field for its code.  It is asked for with its code in it, which looks the
// same in all languages: "FATAL:  53300: sorry, too many clients already".
struct RefusalText {
  std::string sql_state;  // empty: it is no server that refuses
  std::string message;    // without the code, and without the place in PostgreSQL's source
};

RefusalText read_refusal(std::string message) {
  RefusalText text;
  static constexpr std::size_t kCode = 5;
  for (std::size_t at = 0; (at = message.find(":  ", at)) != std::string::npos; ++at) {
    const auto code = message.substr(at + 3, kCode);
    const bool is_code =
        code.size() == kCode && message.compare(at + 3 + kCode, 2, ": ") == 0 &&
        std::ranges::all_of(code, [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'); });
    if (!is_code) continue;
    if (text.sql_state.empty()) text.sql_state = code;
    message.erase(at + 3, kCode + 2);
  }
  for (std::size_t at = 0; (at = message.find("\nLOCATION:", at)) != std::string::npos;) {
    message.erase(at, std::min(message.find('\n', at + 1), message.size()) - at);
  }
  text.message = one_line(message);
  return text;
}

// A connection to one server on its way.
struct Attempt {
  PGconn* connection = nullptr;
  PostgresPollingStatusType wants = PGRES_POLLING_WRITING;

  bool is_under_way() const { return wants == PGRES_POLLING_WRITING || wants == PGRES_POLLING_READING; }
};

// Connects to all servers at the same time, until each has answered, or until there is no more time.
void connect_all(const Libpq& libpq, std::vector<Attempt>& attempts, std::chrono::seconds within, Haste* haste) {
  using std::chrono::steady_clock;
  const auto began = steady_clock::now();
  auto deadline = began + within;
  for (;;) {
    std::vector<pollfd> sockets;
    std::vector<Attempt*> polled;
    for (auto& attempt : attempts) {
      if (!attempt.is_under_way()) continue;
      const short events = attempt.wants == PGRES_POLLING_READING ? POLLIN : POLLOUT;
      sockets.push_back({.fd = libpq.PQsocket(attempt.connection), .events = events, .revents = 0});
      polled.push_back(&attempt);
    }
    if (polled.empty()) return;
    const auto end = haste == nullptr ? deadline : haste->end_of_wait(began, deadline);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - steady_clock::now());
    if (left.count() <= 0) {
      if (haste != nullptr) haste->note_wait_in_vain();
      return;
    }
    if (haste != nullptr && !haste->has_begun()) {
      sockets.push_back({.fd = haste->event(), .events = POLLIN, .revents = 0});
    }
    if (::poll(sockets.data(), sockets.size(), static_cast<int>(left.count())) < 0 && errno != EINTR) return;
    for (std::size_t i = 0; i < polled.size(); ++i) {
      if (sockets[i].revents == 0) continue;
      polled[i]->wants = libpq.PQconnectPoll(polled[i]->connection);
      if (polled[i]->wants == PGRES_POLLING_OK) deadline = std::min(deadline, steady_clock::now() + kOthersPatience);
    }
  }
}

}  // namespace

// -- Parameters

Parameters& Parameters::int32(std::int32_t value) {
  Bytes bytes;
  append_u32be(bytes, static_cast<std::uint32_t>(value));
  values_.push_back(std::move(bytes));
  return *this;
}

Parameters& Parameters::int64(std::int64_t value) {
  Bytes bytes;
  append_u64be(bytes, static_cast<std::uint64_t>(value));
  values_.push_back(std::move(bytes));
  return *this;
}

Parameters& Parameters::bytes(BytesView value) {
  values_.emplace_back(value);
  return *this;
}

// An array on the wire: dimensions, whether there are nulls, type; of the dimension, its size and its first index; then
// each element behind its length.
Parameters& Parameters::array(const std::vector<BytesView>& values) { return array(kByteaOid, values); }

Parameters& Parameters::array(const std::vector<std::int32_t>& values) {
  std::vector<Bytes> elements(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) append_u32be(elements[i], static_cast<std::uint32_t>(values[i]));
  return array(kInt4Oid, std::vector<BytesView>(elements.begin(), elements.end()));
}

Parameters& Parameters::array(const std::vector<std::int64_t>& values) {
  std::vector<Bytes> elements(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) append_u64be(elements[i], static_cast<std::uint64_t>(values[i]));
  return array(kInt8Oid, std::vector<BytesView>(elements.begin(), elements.end()));
}

Parameters& Parameters::array(std::uint32_t type, const std::vector<BytesView>& values) {
  std::size_t size = 20;
  for (const auto value : values) size += 4 + value.size();
  Bytes bytes;
  bytes.reserve(size);
  append_u32be(bytes, values.empty() ? 0 : 1);
  append_u32be(bytes, 0);
  append_u32be(bytes, type);
  if (!values.empty()) {
    append_u32be(bytes, static_cast<std::uint32_t>(values.size()));
    append_u32be(bytes, 1);
  }
  for (const auto value : values) {
    append_u32be(bytes, static_cast<std::uint32_t>(value.size()));
    bytes += value;
  }
  values_.push_back(std::move(bytes));
  return *this;
}

// -- Rows

BytesView Rows::bytes(int row, int column) const {
  return {libpq_->PQgetvalue(result_, row, column),
          static_cast<std::size_t>(libpq_->PQgetlength(result_, row, column))};
}

std::int64_t Rows::integer(int row, int column) const {
  const auto text = bytes(row, column);
  // Negative numbers are filled with ones.
  std::uint64_t value = !text.empty() && (static_cast<unsigned char>(text.front()) & 0x80U) != 0 ? ~0ULL : 0;
  for (const char byte : text) value = (value << 8) | static_cast<unsigned char>(byte);
  return static_cast<std::int64_t>(value);
}

// -- Connection

Connection::Connection(std::shared_ptr<const Libpq> libpq, PGconn* connection, const ConnectOptions& options)
    : libpq_(std::move(libpq)),
      connection_(connection),
      answers_within_(options.answers_within),
      counters_(options.counters),
      haste_(options.haste) {}

Connection::~Connection() { libpq_->PQfinish(connection_); }

Result<std::unique_ptr<Connection>> Connection::open(std::shared_ptr<const Libpq> libpq,
                                                     const ConnectOptions& options) {
  const auto address = TRY(read_address(*libpq, options.url));
  const bool only_one = address.servers.size() == 1;
  if (options.choice != nullptr && !only_one && !options.asks_all) {
    const auto preferred = options.choice->preferred();
    const auto found = std::ranges::find(address.servers, preferred, &ServerParameters::place);
    if (found != address.servers.end()) {
      auto opened = open_one_of(libpq, options, {*found}, address.connect_within, false);
      if (opened || is_refused_as_too_many(opened.error())) return opened;
    }
  }
  return open_one_of(libpq, options, address.servers, address.connect_within, only_one);
}

Result<std::unique_ptr<Connection>> Connection::open_one_of(const std::shared_ptr<const Libpq>& libpq,
                                                            const ConnectOptions& options,
                                                            const std::vector<ServerParameters>& servers,
                                                            std::chrono::seconds within, bool only_one) {
  std::vector<std::unique_ptr<Connection>> connections;  // of all attempts
  std::vector<Attempt> attempts;
  for (const auto& server : servers) {
    std::vector<const char*> keywords, values;
    for (const auto& [keyword, value] : server.values) {
      keywords.push_back(keyword.c_str());
      values.push_back(value.c_str());
    }
    keywords.push_back(nullptr);
    values.push_back(nullptr);
    auto* raw = libpq->PQconnectStartParams(keywords.data(), values.data(), 0);
    if (raw == nullptr) return Error{ErrorCode::Storage, "cannot connect to PostgreSQL: no memory"};
    connections.push_back(std::unique_ptr<Connection>(new Connection(libpq, raw, options)));
    libpq->PQsetErrorVerbosity(raw, PQERRORS_VERBOSE);
    libpq->PQsetNoticeProcessor(raw, [](void*, const char*) {}, nullptr);
    const bool failed = libpq->PQstatus(raw) == CONNECTION_BAD;
    attempts.push_back({.connection = raw, .wants = failed ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING});
  }
  connect_all(*libpq, attempts, within, options.haste.get());
  std::string refusals;
  bool too_many = false;
  std::vector<ReachedServer> choices;
  std::vector<std::size_t> chosen_from;
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    auto* const raw = attempts[i].connection;
    if (attempts[i].wants == PGRES_POLLING_OK) {
      libpq->PQsetErrorVerbosity(raw, PQERRORS_DEFAULT);
      auto begun = connections[i]->begin_session(options);
      if (begun && options.choice == nullptr) return std::move(connections[i]);
      auto server = begun ? options.choice->look_at(*connections[i]) : Result<ReachedServer>(begun.error());
      if (server) {
        server->place = servers[i].place;
        choices.push_back(std::move(*server));
        chosen_from.push_back(i);
        continue;
      }
      refusals += fmt::format("{}{}", refusals.empty() ? "" : "; ", server.error().message);
      continue;
    }
    auto refusal = read_refusal(libpq->PQerrorMessage(raw));
    if (attempts[i].is_under_way()) refusal.message = fmt::format("{} does not answer", connections[i]->host());
    too_many = too_many || refusal.sql_state == kTooManyConnections;
    refusals += fmt::format("{}{}", refusals.empty() ? "" : "; ", refusal.message);
  }
  if (!choices.empty()) {
    auto chosen = options.choice->choose(choices, only_one);
    if (!chosen) return std::move(chosen).error();
    auto& connection = connections[chosen_from[chosen->index]];
    connection->era_ = chosen->era;
    connection->choice_ = options.choice;
    return std::move(connection);
  }
  return Error{too_many ? ErrorCode::Busy : ErrorCode::Storage,
               fmt::format("cannot connect to PostgreSQL: {}", refusals)};
}

Result<void> Connection::begin_session(const ConnectOptions& options) {
  if (libpq_->PQsetnonblocking(connection_, 1) != 0 || libpq_->PQenterPipelineMode(connection_) != 1) {
    return Error{ErrorCode::Storage,
                 fmt::format("cannot use PostgreSQL's connection: {}", one_line(libpq_->PQerrorMessage(connection_)))};
  }
  for (const auto& setting : options.settings) add_once(setting);
  if (!options.settings.empty()) TRY(run_within(std::min(kSettingsLimit, options.answers_within)));
  return {};
}

void Connection::queued(int sent, Expected expected) {
  if (sent != 1) return note_break(libpq_->PQerrorMessage(connection_));
  expected_.push_back(std::move(expected));
}

void Connection::add(const Statement& statement, const Parameters& parameters) {
  if (broken_) return;
  if (!prepared_.contains(statement.name)) {
    // Once in a group, however often the group uses it.
    const bool coming = std::ranges::any_of(expected_, [&](const auto& e) { return e.prepares == statement.name; });
    if (!coming) {
      queued(libpq_->PQsendPrepare(connection_, statement.name.c_str(), statement.sql.c_str(), 0, nullptr),
             {.prepares = statement.name});
    }
  }
  std::vector<const char*> values;
  std::vector<int> lengths;
  for (const auto& value : parameters.values()) {
    values.push_back(value.data());
    lengths.push_back(static_cast<int>(value.size()));
  }
  const std::vector<int> formats(values.size(), 1);
  queued(libpq_->PQsendQueryPrepared(connection_, statement.name.c_str(), static_cast<int>(values.size()),
                                     values.data(), lengths.data(), formats.data(), 1),
         {});
}

void Connection::add_once(const std::string& sql, const Parameters& parameters) {
  if (broken_) return;
  std::vector<const char*> values;
  std::vector<int> lengths;
  for (const auto& value : parameters.values()) {
    values.push_back(value.data());
    lengths.push_back(static_cast<int>(value.size()));
  }
  const std::vector<int> formats(values.size(), 1);
  queued(libpq_->PQsendQueryParams(connection_, sql.c_str(), static_cast<int>(values.size()), nullptr, values.data(),
                                   lengths.data(), formats.data(), 1),
         {});
}

std::string Connection::host() const {
  const std::string_view host = libpq_->PQhost(connection_);
  return host.starts_with('/') ? std::string(host) : fmt::format("{}:{}", host, libpq_->PQport(connection_));
}

Result<std::vector<Rows>> Connection::run(StatementKind kind) { return run_within(answers_within_, kind); }

Result<std::vector<Rows>> Connection::run_within(std::chrono::seconds limit, StatementKind kind) {
  begin_run(kind);
  const auto deadline = asked_ + limit;
  if (!broken_ && flush(deadline)) receive(deadline);
  return take();
}

void Connection::begin_run(StatementKind kind) {
  asked_ = std::chrono::steady_clock::now();
  kind_ = kind;
  sql_state_.clear();
  message_.clear();
  answers_.clear();
  rows_ = 0;
  answered_ = 0;
  at_end_ = false;
  count_sent(kind);
  end_group();
}

Result<std::vector<Rows>> Connection::take() {
  expected_.clear();
  if (counters_) counters_->note_answered(kind_, rows_, std::chrono::steady_clock::now() - asked_);
  if (broken_ && message_.empty()) message_ = "the connection to PostgreSQL is broken";  // before it was used
  if (!message_.empty()) return Error{ErrorCode::Storage, message_};
  return std::move(answers_);
}

Connection::Step Connection::start(StatementKind kind) {
  begin_run(kind);
  if (broken_) return Step::Done;
  const int left = libpq_->PQflush(connection_);
  if (left < 0) note_break(libpq_->PQerrorMessage(connection_));
  return broken_ ? Step::Done : left > 0 ? Step::Write : Step::Read;
}

Connection::Step Connection::advance() {
  if (broken_) return Step::Done;
  if (!consume()) return Step::Done;
  const int left = libpq_->PQflush(connection_);
  if (left < 0) note_break(libpq_->PQerrorMessage(connection_));
  do {
    while (!is_answered() && libpq_->PQisBusy(connection_) == 0) take_result(libpq_->PQgetResult(connection_));
  } while (!is_answered() && has_decrypted_bytes() && consume());
  return is_answered() ? Step::Done : left > 0 ? Step::Write : Step::Read;
}

void Connection::listen() {
  if (broken_) return;
  while (consume() && has_decrypted_bytes()) {
  }
}

bool Connection::has_decrypted_bytes() const {
  if (libpq_->ssl_pending == nullptr || libpq_->PQsslInUse(connection_) == 0) return false;
  const void* const session = libpq_->PQsslStruct(connection_, "OpenSSL");
  return session != nullptr && libpq_->ssl_pending(session) > 0;
}

bool Connection::consume() {
  if (libpq_->PQconsumeInput(connection_) == 1) return true;
  note_break(libpq_->PQerrorMessage(connection_));
  return false;
}

void Connection::send() {
  count_sent(StatementKind::Other);
  end_group();
  // These answers are dropped, except that a statement that they report as prepared is prepared.
  for (auto& expected : expected_) expected.wanted = false;
  if (!broken_ && libpq_->PQflush(connection_) < 0) note_break(libpq_->PQerrorMessage(connection_));
}

void Connection::end_group() {
  if (broken_) return;
  if (libpq_->PQpipelineSync(connection_) != 1) return note_break(libpq_->PQerrorMessage(connection_));
  expected_.push_back({.prepares = {}, .wanted = false});  // the answer to the synchronisation
}

void Connection::count_sent(StatementKind kind) const {
  if (!counters_) return;
  // Statements of an earlier send() were counted then; their answers are not wanted.
  counters_->note_sent(kind, static_cast<std::uint64_t>(std::ranges::count_if(expected_, [](const auto& expected) {
                         return expected.wanted && expected.prepares.empty();
                       })));
}

bool Connection::wait(short events, std::chrono::steady_clock::time_point deadline) {
  for (;;) {
    if ((events & POLLIN) != 0 && has_decrypted_bytes()) return consume();
    const auto end = haste_ ? haste_->end_of_wait(asked_, deadline) : deadline;
    auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      if (haste_) haste_->note_wait_in_vain();
      note_break("the server has not answered in time");
      return false;
    }
    if (choice_ != nullptr) {
      if (!choice_->is_current_era(era_)) {
        note_break("another server has been promoted since");
        return false;
      }
      left = std::min(left, kEraInterval);
    }
    pollfd sockets[2] = {{.fd = libpq_->PQsocket(connection_), .events = events, .revents = 0},
                         {.fd = haste_ ? haste_->event() : -1, .events = POLLIN, .revents = 0}};
    const bool may_be_hastened = haste_ && !haste_->has_begun();
    const int ready = ::poll(sockets, may_be_hastened ? 2 : 1, static_cast<int>(left.count()));
    if (ready > 0 && sockets[0].revents != 0) {
      return (sockets[0].revents & ~POLLOUT) == 0 || consume();
    }
    if (ready < 0 && errno != EINTR) {
      note_break("poll failed");
      return false;
    }
  }
}

// Reads while it writes: a server stops reading if its answers are not taken.
bool Connection::flush(std::chrono::steady_clock::time_point deadline) {
  for (;;) {
    const int left = libpq_->PQflush(connection_);
    if (left == 0) return true;
    if (left < 0) {
      note_break(libpq_->PQerrorMessage(connection_));
      return false;
    }
    if (!wait(POLLIN | POLLOUT, deadline)) return false;
  }
}

void Connection::receive(std::chrono::steady_clock::time_point deadline) {
  while (!is_answered()) {
    while (libpq_->PQisBusy(connection_) != 0) {
      if (!wait(POLLIN, deadline)) return;
    }
    take_result(libpq_->PQgetResult(connection_));
  }
}

void Connection::take_result(PGresult* result) {
  const auto& expected = expected_[answered_];
  if (at_end_) {
    at_end_ = false;
    ++answered_;
    if (result == nullptr) return;
    libpq_->PQclear(result);
    return note_break("the server answers more than it was asked");
  }
  if (result == nullptr) return note_break(libpq_->PQerrorMessage(connection_));
  const auto status = libpq_->PQresultStatus(result);
  Rows answer(libpq_, result);
  if (status == PGRES_PIPELINE_SYNC) {
    ++answered_;  // no null follows
    return;
  }
  if (status == PGRES_FATAL_ERROR && expected.wanted && message_.empty()) {
    const char* state = libpq_->PQresultErrorField(result, PG_DIAG_SQLSTATE);
    sql_state_ = state == nullptr ? "" : state;
    message_ = fmt::format("PostgreSQL: {}", one_line(libpq_->PQresultErrorMessage(result)));
    if (libpq_->PQstatus(connection_) != CONNECTION_OK || sql_state_.empty()) {
      return note_break(libpq_->PQerrorMessage(connection_));
    }
    // The server tells so when it ends a session.  One that takes no writes is a primary no longer.
    if (sql_state_.starts_with("57P") || sql_state_ == "25P03" || sql_state_ == "25006") broken_ = true;
  }
  if (status == PGRES_COMMAND_OK && !expected.prepares.empty()) prepared_.insert(expected.prepares);
  at_end_ = true;
  if (!expected.wanted || !expected.prepares.empty()) return;
  const std::string_view count = libpq_->PQcmdTuples(result);
  std::uint64_t touched = 0;
  std::from_chars(count.data(), count.data() + count.size(), touched);
  rows_ += touched;
  answers_.push_back(std::move(answer));
}

void Connection::note_break(std::string cause) {
  broken_ = true;
  sql_state_.clear();
  if (message_.empty()) {
    message_ =
        fmt::format("the connection to PostgreSQL broke: {}", cause.empty() ? "the server closed it" : one_line(cause));
  }
}

}  // namespace stator::storage::postgres
