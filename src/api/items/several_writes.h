#pragma once

#include <vector>

#include "stator/api/functions.h"
#include "stator/engine/write/item_write.h"

namespace stator::api {

// The parts of several writes that the answer needs after the engine has taken the writes.
class SeveralWrites {
 public:
  SeveralWrites(const std::vector<engine::WriteAction>& actions, const WriteReports& reports);

  SeveralWritesAnswer answer(engine::Engine& engine, const engine::WriteOutcome& outcome, CapacityKind kind) const;

 private:
  WriteReports reports_;
  std::vector<engine::TablePtr> tables_;           // one per action
  std::vector<value::AttributeValue> partitions_;  // likewise, where collection metrics were asked for
};

// ,"ConsumedCapacity":[...],"ItemCollectionMetrics":{...}, as far as they are there.
void write_reports(value::JsonWriter& json, const SeveralWritesAnswer& answer);

}  // namespace stator::api
