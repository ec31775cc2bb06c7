#pragma once

#include <cstdint>

#include "stator/engine/engine.h"
#include "stator/http/server.h"

namespace stator::server {

enum class HealthDetail : std::uint8_t {
  Cause,      // for anybody: tells nothing about the data, and not where it is
  AndTables,  // names the tables that a damaged file belongs to, and the database server
};

// The answer to GET /health: 200 {"status":"ok"}, or 503 {"status":"read-only","reason":...}, where the reason is
// disk-full, memory-full, disk-failing, no-descriptors, damaged, unreachable, taken-over or upgraded, and a damaged
// file has its name beside it.  If a database server keeps the store, `store` says whether it is reachable, and since
// when.
http::Response health_answer(const engine::Engine& engine, HealthDetail detail);

}  // namespace stator::server
