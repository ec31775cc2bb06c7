#include "stator/api/items/several_writes.h"

#include "stator/api/items/capacity_report.h"
#include "stator/api/items/item_writes.h"

namespace stator::api {

SeveralWrites::SeveralWrites(const std::vector<engine::WriteAction>& actions, const WriteReports& reports)
    : reports_(reports) {
  for (const auto& action : actions) {
    tables_.push_back(action.table);
    if (reports.collection_metrics) {
      partitions_.push_back(*action.item.find(action.table->keys.partition[0].name));
    }
  }
}

SeveralWritesAnswer SeveralWrites::answer(engine::Engine& engine, const engine::WriteOutcome& outcome,
                                          CapacityKind kind) const {
  SeveralWritesAnswer answer;
  if (reports_.capacity != CapacityDetail::None) {
    CapacityReports capacity(kind);
    for (std::size_t i = 0; i < tables_.size(); ++i) capacity.of(tables_[i]).add(outcome.actions[i].units);
    answer.capacity = capacity.consumed(reports_.capacity);
  }
  if (reports_.collection_metrics) answer.collections = collection_metrics(engine, tables_, partitions_);
  return answer;
}

void write_reports(value::JsonWriter& json, const SeveralWritesAnswer& answer) {
  write_capacity(json, answer.capacity);
  write_collections(json, answer.collections);
}

}  // namespace stator::api
