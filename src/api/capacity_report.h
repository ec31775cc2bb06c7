#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/api/request.h"
#include "stator/engine/item_write.h"
#include "stator/engine/schema.h"

namespace stator::api {

enum class CapacityDetail : std::uint8_t { None, Total, Indexes };
CapacityDetail capacity_detail(const Request& request);  // ReturnConsumedCapacity

// A transaction costs twice as much, and says which kind of unit it was.
enum class CapacityKind : std::uint8_t { Plain, TransactionalRead, TransactionalWrite };

// What a request consumed of one table and its indexes.
class CapacityReport {
 public:
  explicit CapacityReport(engine::TablePtr table, CapacityKind kind = CapacityKind::Plain)
      : table_(std::move(table)), kind_(kind) {}

  void add_table(double units) { units_ += units; }
  void add_index(engine::IndexId index, double units) { indexes_[index] += units; }
  void add(const engine::WriteUnits& units);
  const engine::Table& table() const { return *table_; }

  // {"TableName":...,"CapacityUnits":...} with the arms when asked for.
  void write(value::JsonWriter& json, CapacityDetail detail) const;

 private:
  void write_units(value::JsonWriter& json, double units) const;

  engine::TablePtr table_;
  CapacityKind kind_;
  double units_ = 0;
  std::map<engine::IndexId, double> indexes_;
};

// Adds ,"ConsumedCapacity":{...} when asked for.
void write_capacity(value::JsonWriter& json, const CapacityReport& report, CapacityDetail detail);

// What a request consumed that may be about several tables: one report for each of them, in order of appearance.
class CapacityReports {
 public:
  explicit CapacityReports(CapacityKind kind = CapacityKind::Plain) : kind_(kind) {}

  // Valid until the next call.
  CapacityReport& of(const engine::TablePtr& table);
  // Adds ,"ConsumedCapacity":[...] when asked for.
  void write(value::JsonWriter& json, CapacityDetail detail) const;

 private:
  CapacityKind kind_;
  std::vector<CapacityReport> reports_;
};

}  // namespace stator::api
