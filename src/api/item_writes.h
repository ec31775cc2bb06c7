#pragma once

#include <optional>
#include <string_view>

#include "stator/api/capacity_report.h"
#include "stator/api/operation.h"
#include "stator/engine/item_write.h"

// What PutItem, UpdateItem and DeleteItem have in common: one item, maybe a condition, and what the answer shall hold.
namespace stator::api {

enum class ReturnValues : std::uint8_t { None, AllOld, UpdatedOld, AllNew, UpdatedNew };
ReturnValues return_values(const Request& request);

struct WriteAnswer {
  ReturnValues values = ReturnValues::None;
  bool old_item_on_failure = false;  // ReturnValuesOnConditionCheckFailure
  CapacityDetail capacity = CapacityDetail::None;
  bool collection_metrics = false;  // ReturnItemCollectionMetrics

  static WriteAnswer from(const Request& request);
};

// Hands the action to the engine and answers the call from what comes back.
void run_write(OperationCall call, engine::WriteAction action, WriteAnswer answer);

// {"ItemCollectionKey":{...},"SizeEstimateRangeGB":[0.0,1.0]}
void write_collection_metrics(value::JsonWriter& json, engine::Engine& engine, const engine::Table& table,
                              const value::AttributeValue& partition);

// ,"ItemCollectionMetrics":{"Table":[...]} for those tables that have local indexes; `partitions` goes with `tables`.
void write_all_collection_metrics(value::JsonWriter& json, engine::Engine& engine,
                                  const std::vector<engine::TablePtr>& tables,
                                  const std::vector<value::AttributeValue>& partitions);

// Binds the ConditionExpression of a request, and the UpdateExpression of an update, where there is one.  Errors: Validation.
Result<void> bind_expressions(const OperationCall& call, const Request& request, engine::WriteAction& action);

// Refuses an update of a key attribute.  Errors: Validation.
Result<void> check_keys_untouched(const engine::Table& table, const expr::Update& update);
// All that an action's table demands of it, in the order of a transaction.  Errors: Validation.
Result<void> check_against_table(const engine::WriteAction& action);

}  // namespace stator::api
