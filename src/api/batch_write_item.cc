#include <unordered_set>

#include "stator/api/capacity_report.h"
#include "stator/api/item_writes.h"
#include "stator/api/operation.h"
#include "stator/api/table_name.h"
#include "stator/engine/item_rules.h"
#include "stator/engine/keyspace.h"
#include "stator/value/item_size.h"

namespace stator::api {
namespace {

using engine::WriteAction;

constexpr std::size_t kMaxRequests = 25;

Result<WriteAction> read_request(value::JsonElement json) {
  value::JsonObject object;
  WriteAction action;
  if (!json.get(object)) return Error{ErrorCode::Internal, "a write request was checked to be an object"};
  const Request request(object);
  const auto put = request.object("PutRequest");
  const auto erase = request.object("DeleteRequest");
  if (put.has_value() == erase.has_value()) {
    return validation_error(
        "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes");
  }
  action.kind = put ? WriteAction::Kind::Put : WriteAction::Kind::Delete;
  action.item = TRY(value::decode_item(put ? *put->element("Item") : *erase->element("Key")));
  if (put && value::item_size_bytes(action.item) > value::kMaxItemSizeBytes) {
    return validation_error("Item size has exceeded the maximum allowed size");
  }
  return action;
}

Result<engine::WriteRequest> read_writes(OperationCall& call) {
  engine::WriteRequest batch{.actions = {}, .atomic = false, .token = {}, .memory = call.write_memory()};
  std::vector<std::pair<std::string_view, std::size_t>> tables;  // name and how many actions are its
  for (const auto [name, requests] : call.request().object("RequestItems")->json()) {
    value::JsonArray list;
    if (!requests.get(list)) continue;
    for (const auto json : list) batch.actions.push_back(TRY(read_request(json)));
    tables.emplace_back(name, list.size());
  }
  if (batch.actions.size() > kMaxRequests) {
    return validation_error("Too many items requested for the BatchWriteItem call");
  }

  std::unordered_set<engine::KeyBytes> seen;
  std::size_t next = 0;
  for (const auto& [name, count] : tables) {
    const auto table = TRY(find_table(call, name));
    for (std::size_t i = 0; i < count; ++i) {
      auto& action = batch.actions[next++];
      action.table = table;
      if (action.kind == WriteAction::Kind::Put) {
        auto checked = engine::check_item(*table, action.item);
        if (!checked) {
          // A batch tells a missing or mistyped key in the words used for a key.
          const auto& text = checked.error().message;
          const bool about_key = text.find("Missing the key") != std::string::npos ||
                                 text.find("Type mismatch for key") != std::string::npos;
          return about_key ? validation_error("The provided key element does not match the schema") : checked.error();
        }
      } else {
        TRY(engine::check_key(*table, action.item));
      }
      if (!seen.insert(engine::item_key(*table, action.item)).second) {
        return validation_error("Provided list of item keys contains duplicates");
      }
    }
  }
  return batch;
}

// What the answer needs to know of an action after the engine took it.
struct Written {
  std::vector<engine::TablePtr> tables;           // one per action
  std::vector<value::AttributeValue> partitions;  // likewise, where collection metrics were asked for
};

std::string answer(const OperationCall& call, const Written& written, const engine::WriteOutcome& outcome,
                   const WriteAnswer& options) {
  std::string body;
  value::JsonWriter json(body);
  json.begin_object();
  json.key("UnprocessedItems").begin_object().end_object();
  CapacityReports reports;
  for (std::size_t i = 0; i < written.tables.size(); ++i) reports.of(written.tables[i]).add(outcome.actions[i].units);
  reports.write(json, options.capacity);
  if (options.collection_metrics) write_all_collection_metrics(json, call.engine(), written.tables, written.partitions);
  json.end_object();
  return body;
}

}  // namespace

void batch_write_item(OperationCall call) {
  auto batch = read_writes(call);
  if (!batch) return call.fail(batch.error());
  const auto options = WriteAnswer::from(call.request());
  Written written;
  for (const auto& action : batch->actions) {
    written.tables.push_back(action.table);
    if (options.collection_metrics) {
      written.partitions.push_back(*action.item.find(action.table->keys.partition[0].name));
    }
  }
  auto& engine = call.engine();
  engine.write(std::move(*batch), [call = std::move(call), written = std::move(written),
                                   options](Result<engine::WriteOutcome> outcome) mutable {
    if (!outcome) return call.fail(outcome.error());
    call.succeed(answer(call, written, *outcome, options));
  });
}

}  // namespace stator::api
