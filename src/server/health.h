#pragma once

#include <cstdint>

#include "stator/engine/engine.h"
#include "stator/http/server.h"

namespace stator::server {

enum class HealthDetail : std::uint8_t {
  Cause,      // for anybody: tells nothing about the data
  AndTables,  // names the tables that a damaged file belongs to
};

// What GET /health answers: 200 {"status":"ok"}, or 503 {"status":"read-only","reason":...}, where the reason is
// disk-full, memory-full, disk-failing, no-descriptors, damaged, unreachable or taken-over, and a damaged file has its
// name beside it.
http::Response health_answer(const engine::EngineHealth& health, HealthDetail detail);

}  // namespace stator::server
