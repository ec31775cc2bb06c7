#include "stator/api/capacity_report.h"

#include <algorithm>

namespace stator::api {

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

void CapacityReport::write_units(value::JsonWriter& json, double units) const {
  if (kind_ != CapacityKind::Plain) units *= 2;
  json.key("CapacityUnits").real(units);
  if (kind_ == CapacityKind::TransactionalRead) json.key("ReadCapacityUnits").real(units);
  if (kind_ == CapacityKind::TransactionalWrite) json.key("WriteCapacityUnits").real(units);
}

void CapacityReport::write(value::JsonWriter& json, CapacityDetail detail) const {
  double total = units_;
  for (const auto& [index, units] : indexes_) total += units;
  json.begin_object();
  json.key("TableName").string(table_->name);
  write_units(json, total);
  if (detail == CapacityDetail::Indexes) {
    json.key("Table").begin_object();
    write_units(json, units_);
    json.end_object();
    const auto write_arm = [&](std::string_view name, engine::IndexKind kind) {
      bool any = false;
      for (const auto& index : table_->indexes) {
        const auto found = indexes_.find(index.id);
        if (index.kind != kind || found == indexes_.end()) continue;
        if (!any) json.key(name).begin_object();
        any = true;
        json.key(index.name).begin_object();
        write_units(json, found->second);
        json.end_object();
      }
      if (any) json.end_object();
    };
    write_arm("LocalSecondaryIndexes", engine::IndexKind::Local);
    write_arm("GlobalSecondaryIndexes", engine::IndexKind::Global);
  }
  json.end_object();
}

void write_capacity(value::JsonWriter& json, const CapacityReport& report, CapacityDetail detail) {
  if (detail == CapacityDetail::None) return;
  json.key("ConsumedCapacity");
  report.write(json, detail);
}

CapacityReport& CapacityReports::of(const engine::TablePtr& table) {
  const auto found = std::ranges::find(reports_, table->id, [](const auto& report) { return report.table().id; });
  return found != reports_.end() ? *found : reports_.emplace_back(table, kind_);
}

void CapacityReports::write(value::JsonWriter& json, CapacityDetail detail) const {
  if (detail == CapacityDetail::None) return;
  json.key("ConsumedCapacity").begin_array();
  for (const auto& report : reports_) report.write(json, detail);
  json.end_array();
}

}  // namespace stator::api
