#include "stator/api/capacity_report.h"

#include <algorithm>

namespace stator::api {
namespace {

void write_units(value::JsonWriter& json, CapacityKind kind, double units) {
  json.key("CapacityUnits").real(units);
  if (kind == CapacityKind::TransactionalRead) json.key("ReadCapacityUnits").real(units);
  if (kind == CapacityKind::TransactionalWrite) json.key("WriteCapacityUnits").real(units);
}

}  // namespace

void write_consumed(value::JsonWriter& json, const ConsumedCapacity& capacity) {
  json.begin_object().key("TableName").string(capacity.table);
  write_units(json, capacity.kind, capacity.units);
  if (capacity.parts) {
    json.key("Table").begin_object();
    write_units(json, capacity.kind, capacity.parts->table);
    json.end_object();
    const auto write_indexes = [&](std::string_view name, const std::vector<std::pair<std::string, double>>& indexes) {
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

CapacityDetail capacity_detail(const Request& request) {
  const auto text = request.string("ReturnConsumedCapacity").value_or("NONE");
  if (text == "TOTAL") return CapacityDetail::Total;
  if (text == "INDEXES") return CapacityDetail::Indexes;
  return CapacityDetail::None;
}

void CapacityReport::add(const engine::WriteUnits& units) {
  add_table(units.table);
  for (const auto& [index, index_units] : units.indexes) add_index(index, index_units);
}

ConsumedCapacity CapacityReport::consumed(CapacityDetail detail) const {
  const double factor = kind_ == CapacityKind::Plain ? 1 : 2;
  double total = units_;
  for (const auto& [index, units] : indexes_) total += units;
  ConsumedCapacity consumed{.table = table_->name, .kind = kind_, .units = factor * total, .parts = {}};
  if (detail != CapacityDetail::Indexes) return consumed;
  auto& parts = consumed.parts.emplace();
  parts.table = factor * units_;
  for (const auto& index : table_->indexes) {
    const auto found = indexes_.find(index.id);
    if (found == indexes_.end()) continue;
    auto& indexes = index.kind == engine::IndexKind::Local ? parts.local_indexes : parts.global_indexes;
    indexes.emplace_back(index.name, factor * found->second);
  }
  return consumed;
}

CapacityReport& CapacityReports::of(const engine::TablePtr& table) {
  const auto found = std::ranges::find(reports_, table->id, [](const auto& report) { return report.table().id; });
  return found != reports_.end() ? *found : reports_.emplace_back(table, kind_);
}

std::vector<ConsumedCapacity> CapacityReports::consumed(CapacityDetail detail) const {
  std::vector<ConsumedCapacity> all;
  if (detail == CapacityDetail::None) return all;
  for (const auto& report : reports_) all.push_back(report.consumed(detail));
  return all;
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
