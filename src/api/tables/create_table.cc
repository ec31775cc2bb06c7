#include <fmt/format.h>

#include "stator/api/functions.h"
#include "stator/api/invalid.h"
#include "stator/api/json/table_fields.h"
#include "stator/api/tables/schema_reader.h"
#include "stator/api/tables/table_description.h"
#include "stator/api/tables/table_name.h"
#include "stator/api/tables/table_settings.h"
#include "stator/api/tables/tags.h"

namespace stator::api {
namespace {

using engine::Index;
using engine::IndexKind;
using engine::Table;

constexpr std::size_t kMaxLocalIndexes = 5;
constexpr std::size_t kMostIndexesRead = 200;  // their errors are reported before their number, within reason
constexpr std::string_view kTooManyLocal = "Number of LocalSecondaryIndexes exceeds per-table limit of 5";
constexpr std::string_view kTooManyGlobal = "GlobalSecondaryIndex count exceeds the per-table limit of 20";

Result<void> read_local_indexes(const CreateTableRequest& request, SchemaReader& schemas, Table& table) {
  if (!request.local_indexes) return {};
  const auto& list = *request.local_indexes;
  if (list.empty()) return invalid("List of LocalSecondaryIndexes is empty");
  if (table.keys.sort.empty()) {
    return invalid(
        "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex");
  }
  if (list.size() > kMostIndexesRead) return invalid(kTooManyLocal);
  for (const auto& asked : list) {
    Index index;
    index.kind = IndexKind::Local;
    index.name = asked.name;
    index.keys = TRY(schemas.read_keys(asked.keys, 1));
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
    index.projection = TRY(schemas.read_projection(asked.projection));
    TRY(add_index(table, std::move(index)));
  }
  if (list.size() > kMaxLocalIndexes) {
    return invalid(kTooManyLocal);
  }
  return {};
}

Result<void> read_global_indexes(const CreateTableRequest& request, SchemaReader& schemas, Table& table) {
  if (!request.global_indexes) return {};
  const auto& list = *request.global_indexes;
  if (list.empty()) return invalid("List of GlobalSecondaryIndexes is empty");
  if (list.size() > kMostIndexesRead) return invalid(kTooManyGlobal);
  for (const auto& index : list) TRY(add_index(table, TRY(schemas.read_global_index(index, table.billing_mode))));
  if (list.size() > kMaxGlobalIndexes) {
    return invalid(kTooManyGlobal);
  }
  return {};
}

Result<void> read_billing(const CreateTableRequest& request, Table& table) {
  table.billing_mode_given = request.billing_mode.has_value();
  const auto throughput = TRY(read_throughput(request.throughput));
  if (request.billing_mode == BillingMode::PayPerRequest) {
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

Result<Table> read_table(const CallContext& call, const CreateTableRequest& request) {
  Table table;
  table.name = TRY(table_name(request.table));
  table.created = call.engine().clock().now();
  table.uuid = call.engine().random().uuid();
  TRY(read_billing(request, table));

  SchemaReader schemas;
  TRY(schemas.read_definitions(request.definitions));
  table.keys = TRY(schemas.read_keys(request.keys, 1));
  if (!request.local_indexes && !request.global_indexes) TRY(schemas.check_all_used());
  TRY(read_local_indexes(request, schemas, table));
  TRY(read_global_indexes(request, schemas, table));
  TRY(schemas.check_all_used_by_indexes());
  table.attribute_definitions = schemas.take_definitions();

  TRY(apply_stream(request.stream, table.stream));
  table.deletion_protection = request.deletion_protection.value_or(false);
  table.table_class = request.table_class;
  table.on_demand = TRY(read_on_demand(request.on_demand, {}));
  TRY(check_on_demand(table.on_demand, table.billing_mode));
  table.warm = TRY(read_warm(request.warm, {}, table.billing_mode, table.throughput));
  if (request.encryption) table.encryption = TRY(read_encryption(*request.encryption, call.environment()));
  table.tags = TRY(read_tags(request.tags));
  return table;
}

}  // namespace

Result<CreateTableRequest> decode(As<CreateTableRequest>, const JsonMembers& json, expr::Cache& /*cache*/) {
  CreateTableRequest request;
  TRY(read_fields(json, request));
  TRY(table_name(request.table));
  TRY(refuse_unsupported(
      json, {"ResourcePolicy", "GlobalTableSourceArn", "GlobalTableSettingsReplicationMode", "VectorIndexes"}));
  return request;
}

void run(CallContext call, CreateTableRequest request, Done<ChangedTableAnswer> done) {
  auto table = read_table(call, request);
  if (!table) return done(call, to_fault(table.error()));
  call.about_table(table->name);
  auto& engine = call.engine();
  engine.create_table(std::move(*table),
                      [call = std::move(call), done = std::move(done)](Result<engine::TablePtr> created) mutable {
                        if (!created) return done(call, to_fault(created.error()));
                        answer_with_table(call, **created, "CREATING", done);
                      });
}

}  // namespace stator::api
