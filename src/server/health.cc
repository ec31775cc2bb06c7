#include "stator/server/health.h"

#include <algorithm>

#include "stator/console/time_text.h"
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
    case StoreTrouble::Upgraded: return "upgraded";
    case StoreTrouble::None:
    case StoreTrouble::DiskFailing: break;
  }
  return "disk-failing";
}

void append_store(value::JsonWriter& json, const storage::StoreServer& server, HealthDetail detail) {
  const auto number = [](std::size_t value) { return static_cast<std::int64_t>(value); };
  json.key("store").begin_object().key("reachable").boolean(server.reachable);
  json.key("since").string(console::time_text(server.since));
  if (detail == HealthDetail::AndTables) {
    json.key("host").string(server.host).key("connections").integer(number(server.connections));
    json.key("connections_used").integer(number(server.connections_used));
    json.key("round_trip_microseconds").integer(server.round_trip.count());
    json.key("epoch").integer(static_cast<std::int64_t>(server.epoch.value));
  }
  json.end_object();
}

}  // namespace

http::Response health_answer(const engine::Engine& engine, HealthDetail detail) {
  const auto health = engine.health();
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
  if (const auto server = engine.store_server()) append_store(json, *server, detail);
  json.end_object();
  body += '\n';
  return {.status = health.read_only ? 503 : 200,
          .content_type = "application/json",
          .headers = {},
          .body = std::move(body)};
}

}  // namespace stator::server
