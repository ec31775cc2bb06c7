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

// libpq repeats the parts of an address that it does not understand, and those can be a password.
std::string without_quotations(std::string_view text) {
  std::string kept;
  bool quoted = false;
  for (const char each : text) {
    if (each == '"') quoted = !quoted;
    if (!quoted && each != '"') kept += each;
    if (quoted && each == '"') kept += "...";
  }
  return kept;
}

struct Option {
  std::string keyword, value;
};

Result<std::vector<Option>> parsed_url(const Libpq& libpq, const std::string& url) {
  char* error = nullptr;
  PQconninfoOption* parsed = libpq.PQconninfoParse(url.c_str(), &error);
  if (parsed == nullptr) {
    const auto why = without_quotations(one_line(error == nullptr ? "no memory" : error));
    if (error != nullptr) libpq.PQfreemem(error);
    return usage_error(fmt::format("the address of the store cannot be read: {}", why));
  }
  std::vector<Option> options;
  for (const auto* option = parsed; option->keyword != nullptr; ++option) {
    if (option->val != nullptr) options.push_back({option->keyword, option->val});
  }
  libpq.PQconninfoFree(parsed);
  return options;
}

void add_default(std::vector<Option>& options, std::string keyword, std::string value) {
  if (std::ranges::any_of(options, [&](const auto& option) { return option.keyword == keyword; })) return;
  options.push_back({std::move(keyword), std::move(value)});
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
      counters_(options.counters) {}

Connection::~Connection() { libpq_->PQfinish(connection_); }

Result<std::unique_ptr<Connection>> Connection::open(std::shared_ptr<const Libpq> libpq,
                                                     const ConnectOptions& options) {
  auto given = TRY(parsed_url(*libpq, options.url));
  add_default(given, "connect_timeout", "5");
  add_default(given, "fallback_application_name", "stator");
  add_default(given, "target_session_attrs", "read-write");  // of several hosts, the one that is the primary now
  add_default(given, "keepalives_idle", "10");
  add_default(given, "tcp_user_timeout", "15000");
  std::vector<const char*> keywords, values;
  for (const auto& option : given) {
    keywords.push_back(option.keyword.c_str());
    values.push_back(option.value.c_str());
  }
  keywords.push_back(nullptr);
  values.push_back(nullptr);
  auto* raw = libpq->PQconnectdbParams(keywords.data(), values.data(), 0);
  std::unique_ptr<Connection> connection(new Connection(libpq, raw, options));
  if (raw == nullptr || libpq->PQstatus(raw) != CONNECTION_OK) {
    return Error{ErrorCode::Storage, fmt::format("cannot connect to PostgreSQL: {}",
                                                 raw == nullptr ? "no memory" : one_line(libpq->PQerrorMessage(raw)))};
  }
  libpq->PQsetNoticeProcessor(raw, [](void*, const char*) {}, nullptr);
  if (libpq->PQsetnonblocking(raw, 1) != 0 || libpq->PQenterPipelineMode(raw) != 1) {
    return Error{ErrorCode::Storage,
                 fmt::format("cannot use PostgreSQL's connection: {}", one_line(libpq->PQerrorMessage(raw)))};
  }
  for (const auto& setting : options.settings) connection->add_once(setting);
  if (!options.settings.empty()) TRY(connection->run());
  return connection;
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
  const auto asked = std::chrono::steady_clock::now();
  const auto deadline = asked + limit;
  sql_state_.clear();
  message_.clear();
  rows_ = 0;
  std::vector<Rows> rows;
  count_sent(kind);
  end_group();
  if (!broken_ && flush(deadline)) receive(rows, deadline);
  expected_.clear();
  if (counters_) counters_->note_answered(kind, rows_, std::chrono::steady_clock::now() - asked);
  if (!message_.empty()) return Error{ErrorCode::Storage, message_};
  return rows;
}

void Connection::send() {
  count_sent(StatementKind::Other);
  end_group();
  // Nobody looks at these answers.  One that says that a statement is prepared counts all the same.
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
  // What an earlier send() left has been counted, and is not wanted.
  counters_->note_sent(kind, static_cast<std::uint64_t>(std::ranges::count_if(expected_, [](const auto& expected) {
                         return expected.wanted && expected.prepares.empty();
                       })));
}

bool Connection::wait(short events, std::chrono::steady_clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      note_break("the server has not answered in time");
      return false;
    }
    pollfd socket{.fd = libpq_->PQsocket(connection_), .events = events, .revents = 0};
    const int ready = ::poll(&socket, 1, static_cast<int>(left.count()));
    if (ready > 0) {
      if ((socket.revents & ~POLLOUT) != 0 && libpq_->PQconsumeInput(connection_) != 1) {
        note_break(libpq_->PQerrorMessage(connection_));
        return false;
      }
      return true;
    }
    if (ready < 0 && errno != EINTR) {
      note_break("poll failed");
      return false;
    }
  }
}

// Reads while it writes: a server whose answers nobody takes stops reading.
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

PGresult* Connection::next(std::chrono::steady_clock::time_point deadline) {
  while (libpq_->PQisBusy(connection_) != 0) {
    if (!wait(POLLIN, deadline)) return nullptr;
  }
  return libpq_->PQgetResult(connection_);
}

void Connection::receive(std::vector<Rows>& rows, std::chrono::steady_clock::time_point deadline) {
  for (const auto& expected : expected_) {
    PGresult* result = next(deadline);
    if (broken_) return;
    if (result == nullptr) return note_break(libpq_->PQerrorMessage(connection_));
    const auto status = libpq_->PQresultStatus(result);
    Rows answer(libpq_, result);
    if (status == PGRES_PIPELINE_SYNC) continue;  // no null follows
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
    if (PGresult* end = next(deadline); end != nullptr) {
      libpq_->PQclear(end);
      return note_break("the server answers more than it was asked");
    }
    if (broken_) return;
    if (!expected.wanted || !expected.prepares.empty()) continue;
    const std::string_view count = libpq_->PQcmdTuples(result);
    std::uint64_t touched = 0;
    std::from_chars(count.data(), count.data() + count.size(), touched);
    rows_ += touched;
    rows.push_back(std::move(answer));
  }
}

void Connection::note_break(std::string cause) {
  broken_ = true;
  sql_state_.clear();
  if (message_.empty()) {
    message_ =
        fmt::format("the connection to PostgreSQL broke: {}", cause.empty() ? "the server closed it" : one_line(cause));
  }
}

std::string described_url(std::string_view url) {
  const auto scheme = url.find("://");
  const auto start = scheme == std::string_view::npos ? 0 : scheme + 3;
  const auto end = std::min(url.find('?'), url.size());
  const auto authority = url.substr(0, std::min(url.find('/', start), end));
  // A password stands before the last @ of the authority, or among the parameters.
  const auto at = authority.rfind('@');
  std::string text(url.substr(0, start));
  text +=
      url.substr(at == std::string_view::npos ? start : at + 1, end - (at == std::string_view::npos ? start : at + 1));
  return text;
}

}  // namespace stator::storage::postgres
