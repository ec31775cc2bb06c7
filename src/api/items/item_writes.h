#pragma once

#include <optional>
#include <vector>

#include "stator/api/functions.h"
#include "stator/engine/write/item_write.h"

// Functions shared by the operations that write items.
namespace stator::api {

ReturnValues return_values(const JsonMembers& request);
WriteReports write_reports(const JsonMembers& request);
bool returns_item_on_failure(const JsonMembers& request);

// The ConditionExpression of a request, and the UpdateExpression of an update, bound, where there is one.  Errors:
// Validation.
struct WriteExpressions {
  std::optional<expr::Condition> condition;
  std::optional<expr::Update> update;
  bool legacy = false;  // the update came as AttributeUpdates
};
Result<WriteExpressions> bind_write_expressions(const JsonMembers& request, bool is_update, expr::Cache& cache);
// The same with the older parameters (Expected, AttributeUpdates), which one write alone may have instead.
Result<WriteExpressions> decode_write_expressions(const JsonMembers& request, bool is_update, expr::Cache& cache);

// Checks values that were made in this process: see value::check_well_formed().  Errors: Validation.
Result<void> check_expression_values(const std::optional<expr::Condition>& condition,
                                     const std::optional<expr::Update>& update = {});

// PutItem and DeleteItem return the old item or nothing.  Errors: Validation.
Result<void> check_returns_old(ReturnValues values);
// Errors: Validation, for an item that is larger than an item may be.
Result<void> check_put_size(const value::Item& item);
// Refuses an update of a key attribute.  Errors: Validation.
Result<void> check_keys_untouched(const engine::Table& table, const expr::Update& update);
// All that an action's table demands of it, in the order of a transaction.  Errors: Validation.
Result<void> check_against_table(const engine::WriteAction& action);

// The parts that the answer to one write contains.
struct WriteReturns {
  ReturnValues values = ReturnValues::None;
  bool item_on_failure = false;
  WriteReports reports;
};
template <typename Request>
WriteReturns returns_of(const Request& request) {
  return {
      .values = request.return_values, .item_on_failure = request.return_item_on_failure, .reports = request.reports};
}
template <typename Decoded>
void decode_returns(const JsonMembers& json, Decoded& request) {
  request.return_values = return_values(json);
  request.return_item_on_failure = returns_item_on_failure(json);
  request.reports = write_reports(json);
}

// Carries out an action on the table of that name, and answers with the outcome.
void run_write(CallContext call, const std::string& table, engine::WriteAction action, const WriteReturns& returns,
               Done<WriteItemAnswer> done);

// Of the collections of these partitions, which go with `tables`; only of tables that have local indexes.
using CollectionsByTable = std::vector<std::pair<std::string, std::vector<ItemCollectionMetrics>>>;
CollectionsByTable collection_metrics(engine::Engine& engine, const std::vector<engine::TablePtr>& tables,
                                      const std::vector<value::AttributeValue>& partitions);
// ,"ItemCollectionMetrics":{"Table":[...]}, unless there are none.
void write_collections(value::JsonWriter& json, const CollectionsByTable& collections);

}  // namespace stator::api
