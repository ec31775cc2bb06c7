#include "stator/server/health.h"

#include <algorithm>

#include "stator/value/json.h"

namespace stator::server {
namespace {

constexpr std::size_t kMostTables = 20;

std::string_view reason_of(storage::StoreTrouble trouble) {
  using storage::StoreTrouble;
  switch (trouble) {
    case StoreTrouble::DiskFull: return "disk-full";
    case StoreTrouble::MemoryFull: return "memory-full";
    case StoreTrouble::NoDescriptors: return "no-descriptors";
    case StoreTrouble::Damaged: return "damaged";
    case StoreTrouble::Unreachable: return "unreachable";
    case StoreTrouble::TakenOver: return "taken-over";
    case StoreTrouble::None:
    case StoreTrouble::DiskFailing: break;
  }
  return "disk-failing";
}

}  // namespace

http::Response health_answer(const engine::EngineHealth& health, HealthDetail detail) {
  std::string body;
  value::JsonWriter json(body);
  json.begin_object().key("status").string(health.read_only ? "read-only" : "ok");
  if (health.read_only) {
    json.key("reason").string(reason_of(health.trouble));
    if (!health.file.empty()) json.key("file").string(health.file);
    if (detail == HealthDetail::AndTables && !health.tables.empty()) {
      json.key("tables").begin_array();
      for (std::size_t i = 0; i < std::min(health.tables.size(), kMostTables); ++i) json.string(health.tables[i]);
      json.end_array();
    }
  }
  json.end_object();
  body += '\n';
  return {.status = health.read_only ? 503 : 200,
          .content_type = "application/json",
          .headers = {},
          .body = std::move(body)};
}

}  // namespace stator::server
