#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/bytes.h"
#include "stator/base/result.h"
#include "stator/storage/postgres/libpq.h"
#include "stator/storage/postgres/statement_counters.h"

namespace stator::storage::postgres {

// The parameters of a statement, in PostgreSQL's binary form.  The statement says their types, by casts.
class Parameters {
 public:
  Parameters& int32(std::int32_t value);
  Parameters& int64(std::int64_t value);
  Parameters& bytes(BytesView value);                          // a bytea or a text
  Parameters& array(const std::vector<BytesView>& values);     // a bytea[]
  Parameters& array(const std::vector<std::int32_t>& values);  // an int4[]
  Parameters& array(const std::vector<std::int64_t>& values);  // an int8[]

  const std::vector<Bytes>& values() const { return values_; }

 private:
  Parameters& array(std::uint32_t type, const std::vector<BytesView>& values);

  std::vector<Bytes> values_;
};

// A statement that connections prepare when they first use it.  The name is its identity.
struct Statement {
  std::string name;
  std::string sql;
};

// What a statement answered, in binary form.  Views are valid as long as this is.
class Rows {
 public:
  Rows(std::shared_ptr<const Libpq> libpq, PGresult* result) : libpq_(std::move(libpq)), result_(result) {}
  ~Rows() { libpq_->PQclear(result_); }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  Rows(Rows&& other) noexcept : libpq_(other.libpq_), result_(std::exchange(other.result_, nullptr)) {}
  Rows& operator=(Rows&& other) noexcept {
    std::swap(libpq_, other.libpq_);
    std::swap(result_, other.result_);
    return *this;
  }

  int count() const { return libpq_->PQntuples(result_); }
  bool is_null(int row, int column) const { return libpq_->PQgetisnull(result_, row, column) != 0; }
  BytesView bytes(int row, int column) const;
  std::int64_t integer(int row, int column) const;  // of an int4, an int8 or a boolean

 private:
  std::shared_ptr<const Libpq> libpq_;
  PGresult* result_;
};

struct ConnectOptions {
  std::string url;                          // postgres://...; the rest comes from PostgreSQL's variables and files
  std::vector<std::string> settings = {};   // SET statements for the session
  std::chrono::seconds answers_within{30};  // a statement that takes longer counts as a broken connection
  std::shared_ptr<StatementCounters> counters = {};  // null: nobody counts
};

// One connection.  Statements are queued with add() and travel together with run(): one round trip.
// Used by one thread at a time.
class Connection {
 public:
  // Errors: Usage: the URL is wrong.  Storage: no server answers, or it refuses us.
  static Result<std::unique_ptr<Connection>> open(std::shared_ptr<const Libpq> libpq, const ConnectOptions& options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void add(const Statement& statement, const Parameters& parameters = {});
  void add_once(const std::string& sql, const Parameters& parameters = {});  // without preparing it

  // Sends what was added, and answers the rows of each.  When one fails, those after it do not run; outside of a
  // transaction, none of them has an effect.  Errors: Storage.
  Result<std::vector<Rows>> run(StatementKind kind = StatementKind::Other);
  Result<std::vector<Rows>> run_within(std::chrono::seconds limit, StatementKind kind = StatementKind::Other);
  // Sends what was added and does not wait for the answer, which the next run() drops.
  void send();

  bool broken() const { return broken_; }
  // Five characters; empty after a success, or when the connection broke.
  const std::string& sql_state() const { return sql_state_; }
  int server_version() const { return libpq_->PQserverVersion(connection_); }
  std::string user() const { return libpq_->PQuser(connection_); }
  std::string database() const { return libpq_->PQdb(connection_); }
  int process() const { return libpq_->PQbackendPID(connection_); }  // of the session, as the other side told it
  std::string host() const;                                          // db1:5432, or the folder of a socket

 private:
  struct Expected {
    std::string prepares;  // the statement whose preparation this is; empty: an execution
    bool wanted = true;
  };

  Connection(std::shared_ptr<const Libpq> libpq, PGconn* connection, const ConnectOptions& options);
  void queued(int sent, Expected expected);
  void end_group();
  bool wait(short events, std::chrono::steady_clock::time_point deadline);
  bool flush(std::chrono::steady_clock::time_point deadline);
  // The next result; null at the end of a statement's results, and when the connection broke.
  PGresult* next(std::chrono::steady_clock::time_point deadline);
  void receive(std::vector<Rows>& rows, std::chrono::steady_clock::time_point deadline);
  void note_break(std::string cause);
  void count_sent(StatementKind kind) const;

  std::shared_ptr<const Libpq> libpq_;
  PGconn* connection_;
  const std::chrono::seconds answers_within_;
  const std::shared_ptr<StatementCounters> counters_;
  std::set<std::string, std::less<>> prepared_;
  std::vector<Expected> expected_;
  std::uint64_t rows_ = 0;  // of the answers to the last group
  bool broken_ = false;
  std::string sql_state_;
  std::string message_;  // of the first error
};

// Where a URL leads, for people: never with a password.
std::string described_url(std::string_view url);

}  // namespace stator::storage::postgres
