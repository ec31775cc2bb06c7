#pragma once

#include <memory>

#include "stator/base/result.h"
#include "stator/storage/postgres/connection.h"

namespace stator::storage::postgres {

// Looks whether a connection is a session of the server.  Behind a pool that works by transaction, as pgbouncer can,
// the next statement may run in the session of somebody else, and locks, settings and prepared statements are lost.  A
// pool that keeps a session for each connection is fine.  `options` opens a second connection, if there is a pool.
// Errors: Usage: the pool works by transaction or by statement.  Storage.
Result<void> check_session(const std::shared_ptr<const Libpq>& libpq, const ConnectOptions& options,
                           Connection& connection);

}  // namespace stator::storage::postgres
