#pragma once

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // PostgreSQL does the work, and is not ours
#define STATOR_TEST_POSTGRES

#include <fmt/format.h>

#include <memory>
#include <string>

#include "stator/engine/keyspace.h"
#include "stator/storage/postgres/postgres_store.h"
#include "stator/storage/testing/postgres_server.h"

namespace stator::engine::testing {

// A store of the engine's keys with so many lanes, in a schema of its own.
inline storage::PostgresOptions postgres_options(const std::string& schema, std::uint32_t lanes) {
  return {.url = storage::testing::PostgresServer::shared().url(),
          .sharing = storage::PostgresSharing::Shared,
          .schema = fmt::format("{}_{}", schema, lanes),
          .lanes = lanes,
          .placement = std::make_shared<KeyPlacement>()};
}

}  // namespace stator::engine::testing

#endif
