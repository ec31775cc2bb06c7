#pragma once

#include <memory>

#include "stator/storage/postgres/connection_pool.h"
#include "stator/storage/postgres/lanes.h"
#include "stator/storage/postgres/postgres_statements.h"
#include "stator/storage/store.h"

namespace stator::storage::postgres {

// A snapshot on a connection that has begun its transaction.
std::unique_ptr<Snapshot> snapshot_on(ConnectionPool::Lease lease, const Statements& statements, const Lanes& lanes);
// One that answers an error to every read.
std::unique_ptr<Snapshot> failed_snapshot(Error error);

}  // namespace stator::storage::postgres
