#include "stator/api/json/capacity_json.h"

#include "stator/api/json/item_names.h"

namespace stator::api {
namespace {

using Indexes = std::vector<std::pair<std::string, double>>;

void write_units(value::JsonWriter& json, CapacityKind kind, double units) {
  json.key("CapacityUnits").real(units);
  if (kind == CapacityKind::TransactionalRead) json.key("ReadCapacityUnits").real(units);
  if (kind == CapacityKind::TransactionalWrite) json.key("WriteCapacityUnits").real(units);
}

double units_in(const JsonMembers& json) { return json.number("CapacityUnits").value_or(0); }

void read_indexes(const JsonMembers& json, std::string_view name, Indexes& indexes) {
  const auto all = json.object(name);
  if (!all) return;
  for (const auto [index, units] : all->json()) indexes.emplace_back(index, units_in(JsonMembers(units.object())));
}

}  // namespace

void write_consumed(value::JsonWriter& json, const ConsumedCapacity& capacity) {
  json.begin_object().key("TableName").string(capacity.table);
  write_units(json, capacity.kind, capacity.units);
  if (capacity.parts) {
    json.key("Table").begin_object();
    write_units(json, capacity.kind, capacity.parts->table);
    json.end_object();
    const auto write_indexes = [&](std::string_view name, const Indexes& indexes) {
      if (indexes.empty()) return;
      json.key(name).begin_object();
      for (const auto& [index, units] : indexes) {
        json.key(index).begin_object();
        write_units(json, capacity.kind, units);
        json.end_object();
      }
      json.end_object();
    };
    write_indexes("LocalSecondaryIndexes", capacity.parts->local_indexes);
    write_indexes("GlobalSecondaryIndexes", capacity.parts->global_indexes);
  }
  json.end_object();
}

ConsumedCapacity read_consumed(const JsonMembers& json) {
  ConsumedCapacity capacity{.table = std::string(json.string("TableName").value_or("")),
                            .kind = json.has("ReadCapacityUnits")    ? CapacityKind::TransactionalRead
                                    : json.has("WriteCapacityUnits") ? CapacityKind::TransactionalWrite
                                                                     : CapacityKind::Plain,
                            .units = units_in(json),
                            .parts = {}};
  if (const auto table = json.object("Table")) {
    auto& parts = capacity.parts.emplace();
    parts.table = units_in(*table);
    read_indexes(json, "LocalSecondaryIndexes", parts.local_indexes);
    read_indexes(json, "GlobalSecondaryIndexes", parts.global_indexes);
  }
  return capacity;
}

CapacityDetail capacity_detail(const JsonMembers& request) {
  const auto text = request.string("ReturnConsumedCapacity").value_or("");
  return from_wire_name<CapacityDetail>(text).value_or(CapacityDetail::None);
}

void write_capacity(value::JsonWriter& json, const ConsumedCapacity& capacity) {
  json.key("ConsumedCapacity");
  write_consumed(json, capacity);
}

void write_capacity(value::JsonWriter& json, const std::optional<ConsumedCapacity>& capacity) {
  if (capacity) write_capacity(json, *capacity);
}

void write_capacity(value::JsonWriter& json, const std::vector<ConsumedCapacity>& capacity) {
  if (capacity.empty()) return;
  json.key("ConsumedCapacity").begin_array();
  for (const auto& one : capacity) write_consumed(json, one);
  json.end_array();
}

}  // namespace stator::api
