#include "stator/api/items/capacity_report.h"

#include <algorithm>

namespace stator::api {

void CapacityReport::add(const engine::WriteUnits& units) {
  add_table(units.table);
  for (const auto& [index, index_units] : units.indexes) add_index(index, index_units);
}

ConsumedCapacity CapacityReport::consumed(CapacityDetail detail) const {
  const double of_table = kind_ == CapacityKind::Plain ? units_ : 2 * units_;
  double total = of_table;
  for (const auto& [index, units] : indexes_) total += units;
  ConsumedCapacity consumed{.table = table_->name, .kind = kind_, .units = total, .parts = {}};
  if (detail != CapacityDetail::Indexes) return consumed;
  auto& parts = consumed.parts.emplace();
  parts.table = of_table;
  for (const auto& index : table_->indexes) {
    const auto found = indexes_.find(index.id);
    if (found == indexes_.end()) continue;
    auto& indexes = index.kind == engine::IndexKind::Local ? parts.local_indexes : parts.global_indexes;
    indexes.emplace_back(index.name, found->second);
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

}  // namespace stator::api
