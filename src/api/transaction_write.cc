#include "stator/api/transaction_write.h"

#include <numeric>
#include <unordered_set>

#include "stator/api/capacity_report.h"
#include "stator/api/table_name.h"
#include "stator/api/transaction.h"
#include "stator/engine/keyspace.h"
#include "stator/value/item_size.h"

namespace stator::api {
namespace {

// What is wrong with one item, which cancels the transaction.
struct BadItem {
  std::size_t place;
  Error error;
};

// Finds the tables.  The service looks no further than the first bad item.
Result<std::optional<BadItem>> check_items(OperationCall& call, std::vector<TransactItem>& items) {
  std::vector<std::size_t> sizes;
  sizes.reserve(items.size());
  for (const auto& item : items) sizes.push_back(value::item_size_bytes(item.action.item));
  if (std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}) > kMaxTransactBytes) {
    return validation_error("Aggregate item size cannot exceed 4194304 bytes in a transaction");
  }
  std::unordered_set<engine::KeyBytes> seen;
  for (std::size_t i = 0; i < items.size(); ++i) {
    auto& action = items[i].action;
    action.table = TRY(find_table(call, items[i].table_name));
    if (action.kind == engine::WriteAction::Kind::Put && sizes[i] > value::kMaxItemSizeBytes) {
      return BadItem{i, validation_error("Item size has exceeded the maximum allowed size")};
    }
    if (auto checked = check_against_table(action); !checked) return BadItem{i, std::move(checked).error()};
    if (!seen.insert(engine::item_key(*action.table, action.item)).second) {
      return validation_error("Transaction request cannot include multiple operations on one item");
    }
  }
  return std::optional<BadItem>();
}

// What the answer needs once the engine has the actions.
struct Answer {
  std::vector<engine::TablePtr> tables;
  std::vector<bool> return_item;
  std::vector<value::AttributeValue> partitions;
  WriteAnswer options;
};

std::string success(const OperationCall& call, const Answer& answer, const engine::WriteOutcome& outcome) {
  std::string body;
  value::JsonWriter json(body);
  json.begin_object();
  if (answer.options.capacity != CapacityDetail::None) {
    CapacityReports reports(outcome.repeated ? CapacityKind::TransactionalRead : CapacityKind::TransactionalWrite);
    for (std::size_t i = 0; i < answer.tables.size(); ++i) reports.of(answer.tables[i]).add(outcome.actions[i].units);
    reports.write(json, answer.options.capacity);
  }
  if (answer.options.collection_metrics)
    write_all_collection_metrics(json, call.engine(), answer.tables, answer.partitions);
  json.end_object();
  return body;
}

}  // namespace

void run_transaction(OperationCall call, std::vector<TransactItem> items, WriteAnswer options,
                     std::optional<engine::RequestToken> token) {
  const auto bad = check_items(call, items);
  if (!bad) return call.fail(bad.error());
  if (*bad) {
    std::vector<CancellationReason> reasons(items.size());
    reasons[(*bad)->place] = {.code = "ValidationError", .message = (*bad)->error.message, .item = {}};
    return call.fail(transaction_canceled(reasons));
  }

  engine::WriteRequest request;
  request.memory = call.write_memory();
  request.token = std::move(token);
  request.actions.reserve(items.size());
  Answer answer{.tables = {}, .return_item = {}, .partitions = {}, .options = options};
  for (auto& item : items) {
    answer.tables.push_back(item.action.table);
    answer.return_item.push_back(item.return_item);
    if (answer.options.collection_metrics) {
      answer.partitions.push_back(*item.action.item.find(item.action.table->keys.partition[0].name));
    }
    request.actions.push_back(std::move(item.action));
  }
  auto& engine = call.engine();
  engine.write(std::move(request),
               [call = std::move(call), answer = std::move(answer)](Result<engine::WriteOutcome> outcome) mutable {
                 if (!outcome) return call.fail(outcome.error());
                 if (!outcome->written) {
                   // Three times: as the item that was found, as a reason, and in the answer.
                   const auto room = call.hold_answer(3 * returned_bytes(*outcome, answer.return_item));
                   if (!room) return call.fail(room.error());
                   return call.fail(transaction_canceled(condition_reasons(*outcome, answer.return_item)));
                 }
                 call.succeed(success(call, answer, *outcome));
               });
}

}  // namespace stator::api
