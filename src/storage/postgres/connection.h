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
#include "stator/storage/postgres/haste.h"
#include "stator/storage/postgres/libpq.h"
#include "stator/storage/postgres/server_address.h"
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

// The answer to a statement, in binary form.  Views are valid as long as this is.
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

class Connection;

// A server that has let us in.
struct ReachedServer {
  std::string place = {};     // its name, address and port
  std::int64_t cluster = 0;   // tells PostgreSQL's clusters from each other; 0: unknown
  std::int64_t timeline = 0;  // grows when a standby is promoted; 0: unknown
  std::string lost = {};      // which commits it has lost; empty: none that we know of
};

struct ChosenServer {
  std::size_t index = 0;
  std::uint64_t era = 0;  // another number for each server that was chosen after another one
};

// Chooses between the servers of an address.  Thread-safe.
class ServerChoice {
 public:
  virtual ~ServerChoice() = default;
  // The place of the server that is to be asked alone at first; empty: all are asked.
  virtual std::string preferred() const = 0;
  // Asks a server for its state.  Errors: it cannot be used.
  virtual Result<ReachedServer> look_at(Connection& connection) = 0;
  // `only_one`: the address leads to no others.  Errors: none of them can be used.
  virtual Result<ChosenServer> choose(const std::vector<ReachedServer>& servers, bool only_one) = 0;
  // Whether no other server was chosen since.
  virtual bool is_current_era(std::uint64_t era) const = 0;
};

struct ConnectOptions {
  std::string url;                          // postgres://...; the rest comes from PostgreSQL's variables and files
  std::vector<std::string> settings = {};   // SET statements for the session
  std::chrono::seconds answers_within{30};  // a statement that takes longer counts as a broken connection
  std::shared_ptr<StatementCounters> counters = {};  // null: nothing is counted
  std::shared_ptr<Haste> haste = {};                 // null: there is never any
  bool asks_all = false;                             // also when the choice prefers a server
  ServerChoice* choice = nullptr;                    // outlives the connection; null: the first that lets us in
};

// Whether a server answers, and takes no more connections: an error of Connection::open().
inline bool is_refused_as_too_many(const Error& error) { return error.code == ErrorCode::Busy; }
// The same for clients, who need not know the address.
inline Error no_more_connections() { return {ErrorCode::Busy, "PostgreSQL takes no more connections"}; }
// The same as a failure of the store.
inline Error as_storage(Error error) {
  if (is_refused_as_too_many(error)) error.code = ErrorCode::Storage;
  return error;
}

// One connection.  Statements are queued with add() and travel together with run(): one round trip.
// Used by one thread at a time.
class Connection {
 public:
  // Asks all servers of the URL at once, and chooses one that accepts the connection.  Errors: Usage: the URL is wrong.
  // Busy: a server takes no more connections.  Storage: no server answers, or it refuses us.
  static Result<std::unique_ptr<Connection>> open(std::shared_ptr<const Libpq> libpq, const ConnectOptions& options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void add(const Statement& statement, const Parameters& parameters = {});
  void add_once(const std::string& sql, const Parameters& parameters = {});  // without preparing it

  // Sends the statements that were added, and answers the rows of each.  When one fails, the later ones do not run;
  // outside of a transaction, none of them has an effect.  Errors: Storage.
  Result<std::vector<Rows>> run(StatementKind kind = StatementKind::Other);
  Result<std::vector<Rows>> run_within(std::chrono::seconds limit, StatementKind kind = StatementKind::Other);
  // Sends the statements that were added and does not wait for the answer, which the next run() drops.
  void send();

  // run() in steps that do not wait: start(), advance() whenever the socket is ready, and take() in the end.
  enum class Step : std::uint8_t {
    Write,  // advance() when the socket can be read or written
    Read,   // advance() when it can be read
    Done,   // also when the connection broke
  };
  Step start(StatementKind kind);
  Step advance();
  Result<std::vector<Rows>> take();
  // While nothing is under way: reads messages that the server sends by itself, for example before it ends the session.
  void listen();
  int socket() const { return libpq_->PQsocket(connection_); }

  bool broken() const { return broken_; }
  // It is not to be used any more.
  void give_up(std::string cause) { note_break(std::move(cause)); }
  // Of its server, when it was chosen.
  std::uint64_t era() const { return era_; }
  // Five characters; empty after a success, or when the connection broke.
  const std::string& sql_state() const { return sql_state_; }
  int server_version() const { return libpq_->PQserverVersion(connection_); }
  std::string user() const { return libpq_->PQuser(connection_); }
  std::string database() const { return libpq_->PQdb(connection_); }
  int process() const { return libpq_->PQbackendPID(connection_); }  // of the session, as the other side told it
  std::string host() const;                                          // db1:5432, or the folder of a socket

 private:
  struct Expected {
    std::string prepares;  // the statement that this prepares; empty: an execution
    bool wanted = true;
  };

  Connection(std::shared_ptr<const Libpq> libpq, PGconn* connection, const ConnectOptions& options);
  static Result<std::unique_ptr<Connection>> open_one_of(const std::shared_ptr<const Libpq>& libpq,
                                                         const ConnectOptions& options,
                                                         const std::vector<ServerParameters>& servers,
                                                         std::chrono::seconds within, bool only_one);
  Result<void> begin_session(const ConnectOptions& options);
  void queued(int sent, Expected expected);
  void end_group();
  // Whether OpenSSL has bytes that were received and not given to libpq.  The socket says nothing about these.
  bool has_decrypted_bytes() const;
  // Takes what has been received.
  bool consume();
  // Waits for the socket.
  bool wait(short events, std::chrono::steady_clock::time_point deadline);
  bool flush(std::chrono::steady_clock::time_point deadline);
  void begin_run(StatementKind kind);
  bool is_answered() const { return broken_ || answered_ == expected_.size(); }
  void receive(std::chrono::steady_clock::time_point deadline);
  // The next result, which is there; null at the end of a statement's results.
  void take_result(PGresult* result);
  void note_break(std::string cause);
  void count_sent(StatementKind kind) const;

  std::shared_ptr<const Libpq> libpq_;
  PGconn* connection_;
  const std::chrono::seconds answers_within_;
  const std::shared_ptr<StatementCounters> counters_;
  const std::shared_ptr<Haste> haste_;
  const ServerChoice* choice_ = nullptr;  // once it has chosen
  std::set<std::string, std::less<>> prepared_;
  std::vector<Expected> expected_;
  // Of the last group.
  std::size_t answered_ = 0;  // of the expected answers
  bool at_end_ = false;       // of a statement's results: a null follows
  std::vector<Rows> answers_;
  std::uint64_t rows_ = 0;
  StatementKind kind_ = StatementKind::Other;
  std::chrono::steady_clock::time_point asked_;
  bool broken_ = false;
  std::uint64_t era_ = 0;
  std::string sql_state_;
  std::string message_;  // of the first error
};

}  // namespace stator::storage::postgres
