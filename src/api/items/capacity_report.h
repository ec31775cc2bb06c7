#pragma once

#include <map>
#include <optional>
#include <vector>

#include "stator/api/json/capacity_json.h"
#include "stator/engine/schema.h"
#include "stator/engine/write/item_write.h"

namespace stator::api {

// Adds up what a request consumes of one table and its indexes.
class CapacityReport {
 public:
  explicit CapacityReport(engine::TablePtr table, CapacityKind kind = CapacityKind::Plain)
      : table_(std::move(table)), kind_(kind) {}

  void add_table(double units) { units_ += units; }
  void add_index(engine::IndexId index, double units) { indexes_[index] += units; }
  void add(const engine::WriteUnits& units);
  const engine::Table& table() const { return *table_; }

  ConsumedCapacity consumed(CapacityDetail detail) const;

 private:
  engine::TablePtr table_;
  CapacityKind kind_;
  double units_ = 0;
  std::map<engine::IndexId, double> indexes_;
};

// The same for a request that may be about several tables, in order of appearance.
class CapacityReports {
 public:
  explicit CapacityReports(CapacityKind kind = CapacityKind::Plain) : kind_(kind) {}

  // Valid until the next call.
  CapacityReport& of(const engine::TablePtr& table);
  // None when it was not asked for.
  std::vector<ConsumedCapacity> consumed(CapacityDetail detail) const;

 private:
  CapacityKind kind_;
  std::vector<CapacityReport> reports_;
};

}  // namespace stator::api
