#include "stator/storage/postgres/session_check.h"

namespace stator::storage::postgres {
namespace {

// Other users of the pool can take the session in between; a few looks in a row are not all disturbed.
constexpr int kLooks = 8;

Result<int> process_of(Connection& connection) {
  connection.add_once("SELECT pg_backend_pid()");
  return static_cast<int>(TRY(connection.run())[0].integer(0, 0));
}

Error by_transaction() {
  return usage_error(
      "the connection pool before PostgreSQL (pgbouncer) gives a connection another session after each transaction, "
      "and "
      "a store needs sessions: set pool_mode = session in pgbouncer, or connect to PostgreSQL directly");
}

}  // namespace

Result<void> check_session(const std::shared_ptr<const Libpq>& libpq, const ConnectOptions& options,
                           Connection& connection) {
  // A server tells the process of the session when a connection begins; a pool tells a number of its own.
  const auto process = TRY(process_of(connection));
  if (process == connection.process()) return {};
  const auto other = TRY(Connection::open(libpq, options));
  for (int look = 0; look < kLooks; ++look) {
    // In a session of its own, nobody else can be.
    if (TRY(process_of(*other)) == process || TRY(process_of(connection)) != process) return by_transaction();
  }
  return {};
}

}  // namespace stator::storage::postgres
