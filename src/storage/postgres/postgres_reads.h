#pragma once

#include <memory>

#include "stator/storage/postgres/connection_pool.h"
#include "stator/storage/postgres/postgres_statements.h"
#include "stator/storage/store.h"

namespace stator::storage::postgres {

constexpr std::int32_t kLane = 0;  // of every key, as long as there is one lane

// A snapshot on a connection whose transaction has begun.
std::unique_ptr<Snapshot> snapshot_on(ConnectionPool::Lease lease, const Statements& statements);
// One that answers an error to every read.
std::unique_ptr<Snapshot> failed_snapshot(Error error);

}  // namespace stator::storage::postgres
