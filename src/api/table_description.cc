#include "stator/api/table_description.h"

#include <fmt/format.h>

#include <algorithm>

#include "stator/api/table_name.h"

namespace stator::api {
namespace {

using engine::Index;
using engine::IndexKind;
using engine::Table;
using value::JsonWriter;

void write_projection(JsonWriter& json, const engine::IndexProjection& projection) {
  static constexpr std::string_view kNames[] = {"ALL", "KEYS_ONLY", "INCLUDE"};
  json.key("Projection").begin_object();
  json.key("ProjectionType").string(kNames[static_cast<std::size_t>(projection.kind)]);
  if (projection.kind == engine::ProjectionKind::Include) {
    json.key("NonKeyAttributes").begin_array();
    for (const auto& attribute : projection.non_key_attributes) json.string(attribute);
    json.end_array();
  }
  json.end_object();
}

void write_on_demand(JsonWriter& json, const std::optional<engine::OnDemandThroughput>& on_demand) {
  if (!on_demand) return;
  json.key("OnDemandThroughput").begin_object();
  json.key("MaxReadRequestUnits").integer(on_demand->max_read_units.value_or(-1));
  json.key("MaxWriteRequestUnits").integer(on_demand->max_write_units.value_or(-1));
  json.end_object();
}

void write_warm(JsonWriter& json, const std::optional<engine::Throughput>& warm) {
  if (!warm) return;
  json.key("WarmThroughput").begin_object();
  json.key("ReadUnitsPerSecond").integer(warm->read_units).key("WriteUnitsPerSecond").integer(warm->write_units);
  json.key("Status").string("ACTIVE").end_object();
}

void write_throughput(JsonWriter& json, const Table& table, const engine::Throughput& throughput) {
  json.key("ProvisionedThroughput").begin_object();
  if (table.last_increase) json.key("LastIncreaseDateTime").real(epoch_seconds(*table.last_increase));
  if (table.last_decrease) json.key("LastDecreaseDateTime").real(epoch_seconds(*table.last_decrease));
  json.key("NumberOfDecreasesToday").integer(table.decreases_today);
  json.key("ReadCapacityUnits").integer(throughput.read_units);
  json.key("WriteCapacityUnits").integer(throughput.write_units);
  json.end_object();
}

Result<void> write_index(JsonWriter& json, const Environment& environment, const Table& table, const Index& index,
                         std::string_view status) {
  const auto statistics = TRY(environment.engine.statistics(table.id, index.id));
  json.begin_object().key("IndexName").string(index.name);
  write_key_schema(json, index.keys);
  write_projection(json, index.projection);
  if (index.kind == IndexKind::Global) {
    const bool follows_table = status == "CREATING" || status == "DELETING";
    json.key("IndexStatus").string(follows_table ? status : index.building ? "CREATING" : "ACTIVE");
    if (index.building) json.key("Backfilling").boolean(true);
    write_throughput(json, table, index.throughput);
    write_on_demand(json, index.on_demand);
    write_warm(json, index.warm);
  }
  json.key("IndexSizeBytes").integer(statistics.bytes).key("ItemCount").integer(statistics.items);
  json.key("IndexArn").string(fmt::format("{}/index/{}", table_arn(environment, table.name), index.name));
  json.end_object();
  return {};
}

Result<void> write_indexes(JsonWriter& json, const Environment& environment, const Table& table, IndexKind kind,
                           std::string_view status) {
  const auto is_kind = [&](const Index& index) { return index.kind == kind; };
  if (std::none_of(table.indexes.begin(), table.indexes.end(), is_kind)) return {};
  json.key(kind == IndexKind::Local ? "LocalSecondaryIndexes" : "GlobalSecondaryIndexes").begin_array();
  for (const auto& index : table.indexes) {
    if (is_kind(index)) TRY(write_index(json, environment, table, index, status));
  }
  json.end_array();
  return {};
}

}  // namespace

void write_key_schema(JsonWriter& json, const engine::KeySchema& keys) {
  json.key("KeySchema").begin_array();
  const auto write = [&](const std::vector<engine::KeyAttribute>& attributes, std::string_view type) {
    for (const auto& attribute : attributes) {
      json.begin_object().key("AttributeName").string(attribute.name).key("KeyType").string(type).end_object();
    }
  };
  write(keys.partition, "HASH");
  write(keys.sort, "RANGE");
  json.end_array();
}

Result<void> write_table_description(JsonWriter& json, const Environment& environment, const Table& table,
                                     std::string_view status) {
  const auto arn = table_arn(environment, table.name);
  const auto statistics = TRY(environment.engine.statistics(table.id, engine::kBaseIndex));
  json.begin_object();
  json.key("AttributeDefinitions").begin_array();
  for (const auto& attribute : table.attribute_definitions) {
    json.begin_object().key("AttributeName").string(attribute.name);
    json.key("AttributeType").string(value::type_name(attribute.type)).end_object();
  }
  json.end_array();
  json.key("TableName").string(table.name);
  write_key_schema(json, table.keys);
  json.key("TableStatus").string(status);
  json.key("CreationDateTime").real(epoch_seconds(table.created));
  write_throughput(json, table, table.throughput);
  json.key("TableSizeBytes").integer(statistics.bytes).key("ItemCount").integer(statistics.items);
  json.key("TableArn").string(arn).key("TableId").string(table.uuid);
  if (table.billing_mode_given) {
    const bool on_demand = table.billing_mode == engine::BillingMode::PayPerRequest;
    json.key("BillingModeSummary").begin_object();
    json.key("BillingMode").string(on_demand ? "PAY_PER_REQUEST" : "PROVISIONED");
    if (table.pay_per_request_since) {
      json.key("LastUpdateToPayPerRequestDateTime").real(epoch_seconds(*table.pay_per_request_since));
    }
    json.end_object();
  }
  TRY(write_indexes(json, environment, table, IndexKind::Local, status));
  TRY(write_indexes(json, environment, table, IndexKind::Global, status));
  if (table.stream.enabled) {
    json.key("StreamSpecification").begin_object().key("StreamEnabled").boolean(true);
    json.key("StreamViewType").string(engine::stream_view_name(table.stream.view)).end_object();
  }
  if (!table.stream.label.empty()) {
    json.key("LatestStreamLabel").string(table.stream.label);
    json.key("LatestStreamArn").string(fmt::format("{}/stream/{}", arn, table.stream.label));
  }
  if (table.table_class) {
    json.key("TableClassSummary").begin_object().key("TableClass").string(*table.table_class);
    if (table.table_class_changed) json.key("LastUpdateDateTime").real(epoch_seconds(*table.table_class_changed));
    json.end_object();
  }
  json.key("DeletionProtectionEnabled").boolean(table.deletion_protection);
  write_on_demand(json, table.on_demand);
  write_warm(json, table.warm);
  json.end_object();
  return {};
}

Result<std::string> table_description_body(const Environment& environment, const Table& table,
                                           std::string_view status) {
  std::string body;
  JsonWriter json(body);
  json.begin_object().key("TableDescription");
  TRY(write_table_description(json, environment, table, status));
  json.end_object();
  return body;
}

}  // namespace stator::api
