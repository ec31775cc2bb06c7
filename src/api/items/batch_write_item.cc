#include <unordered_set>

#include "stator/api/items/item_writes.h"
#include "stator/api/items/several_writes.h"
#include "stator/api/tables/table_name.h"
#include "stator/engine/item_rules.h"
#include "stator/engine/keyspace.h"
#include "stator/value/well_formed.h"

namespace stator::api {
namespace {

using engine::WriteAction;
using BatchWrite = TableWrites::Write;

constexpr std::size_t kMaxBatchWrites = 25;

Result<BatchWrite> decode_write(const JsonMembers& json) {
  const auto put = json.object("PutRequest");
  const auto erase = json.object("DeleteRequest");
  if (put.has_value() == erase.has_value()) {
    return validation_error(
        "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes");
  }
  BatchWrite write;
  write.is_put = put.has_value();
  write.item = TRY(put ? put->item("Item") : erase->item("Key"));
  if (write.is_put) TRY(check_put_size(write.item));
  return write;
}

Result<void> check_batch_count(std::size_t writes) {
  if (writes <= kMaxBatchWrites) return {};
  return validation_error("Too many items requested for the BatchWriteItem call");
}

Result<void> check_write(const WriteAction& action) {
  if (action.kind != WriteAction::Kind::Put) return engine::check_key(*action.table, action.item);
  auto checked = engine::check_item(*action.table, action.item);
  if (checked) return {};
  // A batch tells a missing or mistyped key in the words used for a key.
  const auto& text = checked.error().message;
  const bool about_key =
      text.find("Missing the key") != std::string::npos || text.find("Type mismatch for key") != std::string::npos;
  return about_key ? validation_error("The provided key element does not match the schema") : checked.error();
}

Result<engine::WriteRequest> plan_batch(CallContext& call, BatchWriteItemRequest& request) {
  engine::WriteRequest batch{.actions = {}, .atomic = false, .token = {}, .memory = call.write_memory()};
  std::unordered_set<engine::KeyBytes> seen;
  for (auto& [name, writes] : request.tables) {
    const auto table = TRY(find_table(call, name));
    for (auto& [is_put, item] : writes) {
      auto& action =
          batch.actions.emplace_back(WriteAction{.kind = is_put ? WriteAction::Kind::Put : WriteAction::Kind::Delete,
                                                 .table = table,
                                                 .item = std::move(item),
                                                 .condition = {},
                                                 .update = {}});
      TRY(check_write(action));
      if (!seen.insert(engine::item_key(*table, action.item)).second) {
        return validation_error("Provided list of item keys contains duplicates");
      }
    }
  }
  return batch;
}

}  // namespace

Result<BatchWriteItemRequest> decode(As<BatchWriteItemRequest>, const JsonMembers& json, expr::Cache& /*cache*/) {
  BatchWriteItemRequest request{.tables = {}, .reports = write_reports(json)};
  std::size_t count = 0;
  for (const auto [name, requests] : json.object("RequestItems")->json()) {
    auto& writes = request.tables.emplace_back();
    writes.table = name;
    for (const auto one : requests.array()) writes.writes.push_back(TRY(decode_write(JsonMembers(one.object()))));
    count += writes.writes.size();
  }
  TRY(check_batch_count(count));
  return request;
}

Result<void> check(const BatchWriteItemRequest& request) {
  std::size_t count = 0;
  for (const auto& table : request.tables) {
    for (const auto& write : table.writes) {
      TRY(value::check_well_formed(write.item));
      if (write.is_put) TRY(check_put_size(write.item));
    }
    count += table.writes.size();
  }
  return check_batch_count(count);
}

void run(CallContext call, BatchWriteItemRequest request, Done<BatchWriteItemAnswer> done) {
  auto batch = plan_batch(call, request);
  if (!batch) return done(call, to_fault(batch.error()));
  SeveralWrites written(batch->actions, request.reports);
  auto& engine = call.engine();
  engine.write(std::move(*batch), [call = std::move(call), written = std::move(written),
                                   done = std::move(done)](Result<engine::WriteOutcome> outcome) mutable {
    if (!outcome) return done(call, to_fault(outcome.error()));
    done(call, BatchWriteItemAnswer{written.answer(call.engine(), *outcome, CapacityKind::Plain)});
  });
}

std::string encode(const BatchWriteItemAnswer& answer) {
  std::string body;
  value::JsonWriter json(body);
  json.begin_object().key("UnprocessedItems").begin_object();
  for (const auto& [table, writes] : answer.unprocessed) {
    json.key(table).begin_array();
    for (const auto& [is_put, item] : writes) {
      json.begin_object().key(is_put ? "PutRequest" : "DeleteRequest").begin_object();
      json.key(is_put ? "Item" : "Key").item(item).end_object().end_object();
    }
    json.end_array();
  }
  json.end_object();
  write_reports(json, answer);
  json.end_object();
  return body;
}

}  // namespace stator::api
