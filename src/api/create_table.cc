#include <fmt/format.h>

#include "stator/api/invalid.h"
#include "stator/api/schema_reader.h"
#include "stator/api/table_description.h"
#include "stator/api/table_name.h"
#include "stator/api/table_settings.h"
#include "stator/api/tags.h"

namespace stator::api {
namespace {

using engine::Index;
using engine::IndexKind;
using engine::Table;

constexpr std::size_t kMaxLocalIndexes = 5;
constexpr std::size_t kMostIndexesRead = 200;  // what is wrong with one is told before their number is, within reason
constexpr std::string_view kTooManyLocal = "Number of LocalSecondaryIndexes exceeds per-table limit of 5";
constexpr std::string_view kTooManyGlobal = "GlobalSecondaryIndex count exceeds the per-table limit of 20";

Result<void> read_local_indexes(const Request& request, SchemaReader& schemas, Table& table) {
  if (!request.has("LocalSecondaryIndexes")) return {};
  const auto list = request.objects("LocalSecondaryIndexes");
  if (list.empty()) return invalid("List of LocalSecondaryIndexes is empty");
  if (table.keys.sort.empty()) {
    return invalid(
        "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex");
  }
  if (list.size() > kMostIndexesRead) return invalid(kTooManyLocal);
  for (const auto& request_index : list) {
    Index index;
    index.kind = IndexKind::Local;
    index.name = request_index.string("IndexName").value_or("");
    index.keys = TRY(schemas.read_keys(request_index, 1));
    if (index.keys.sort.empty()) {
      return invalid(fmt::format("Index KeySchema does not have a range key for index: {}", index.name));
    }
    if (index.keys.partition[0].name != table.keys.partition[0].name) {
      return invalid(
          fmt::format("Index KeySchema does not have the same leading hash key as table KeySchema for index: {}. index "
                      "hash key: {}, "
                      "table hash key: {}",
                      index.name, index.keys.partition[0].name, table.keys.partition[0].name));
    }
    index.projection = TRY(schemas.read_projection(request_index));
    TRY(add_index(table, std::move(index)));
  }
  if (list.size() > kMaxLocalIndexes) {
    return invalid(kTooManyLocal);
  }
  return {};
}

Result<void> read_global_indexes(const Request& request, SchemaReader& schemas, Table& table) {
  if (!request.has("GlobalSecondaryIndexes")) return {};
  const auto list = request.objects("GlobalSecondaryIndexes");
  if (list.empty()) return invalid("List of GlobalSecondaryIndexes is empty");
  if (list.size() > kMostIndexesRead) return invalid(kTooManyGlobal);
  for (const auto& index : list) TRY(add_index(table, TRY(schemas.read_global_index(index, table.billing_mode))));
  if (list.size() > kMaxGlobalIndexes) {
    return invalid(kTooManyGlobal);
  }
  return {};
}

Result<void> read_billing(const Request& request, Table& table) {
  const auto mode = request.string("BillingMode");
  table.billing_mode_given = mode.has_value();
  const auto throughput = TRY(read_throughput(request));
  if (mode == "PAY_PER_REQUEST") {
    if (throughput) {
      return invalid(
          "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST");
    }
    table.billing_mode = engine::BillingMode::PayPerRequest;
    table.pay_per_request_since = table.created;
    return {};
  }
  if (!throughput || throughput->read_units == 0 || throughput->write_units == 0) {
    return invalid("ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED");
  }
  table.throughput = *throughput;
  return {};
}

Result<Table> read_table(OperationCall& call) {
  const auto& request = call.request();
  Table table;
  table.name = TRY(table_name(request.string("TableName").value_or("")));
  TRY(refuse_unsupported(
      request, {"ResourcePolicy", "GlobalTableSourceArn", "GlobalTableSettingsReplicationMode", "VectorIndexes"}));
  table.created = call.engine().clock().now();
  table.uuid = call.engine().random().uuid();
  TRY(read_billing(request, table));

  SchemaReader schemas;
  TRY(schemas.read_definitions(request));
  table.keys = TRY(schemas.read_keys(request, 1));
  if (!request.has("LocalSecondaryIndexes") && !request.has("GlobalSecondaryIndexes")) TRY(schemas.check_all_used());
  TRY(read_local_indexes(request, schemas, table));
  TRY(read_global_indexes(request, schemas, table));
  TRY(schemas.check_all_used_by_indexes());
  table.attribute_definitions = schemas.take_definitions();

  TRY(apply_stream(request, table.stream));
  table.deletion_protection = request.boolean("DeletionProtectionEnabled").value_or(false);
  if (const auto table_class = request.string("TableClass")) table.table_class = std::string(*table_class);
  table.on_demand = TRY(read_on_demand(request, {}));
  TRY(check_on_demand(table.on_demand, table.billing_mode));
  table.warm = TRY(read_warm(request, {}, table.billing_mode, table.throughput));
  if (const auto sse = request.object("SSESpecification")) {
    table.encryption = TRY(read_encryption(*sse, call.environment()));
  }
  table.tags = TRY(read_tags(request));
  return table;
}

}  // namespace

void create_table(OperationCall call) {
  auto table = read_table(call);
  if (!table) return call.fail(table.error());
  call.about_table(table->name);
  auto& engine = call.engine();
  engine.create_table(std::move(*table), [call = std::move(call)](Result<engine::TablePtr> created) mutable {
    if (!created) return call.fail(created.error());
    auto body = table_description_body(call.environment(), **created, "CREATING");
    if (!body) return call.fail(body.error());
    call.succeed(std::move(*body));
  });
}

}  // namespace stator::api
