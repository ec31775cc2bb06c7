#include "stator/api/tables/table_description.h"

#include <fmt/format.h>

#include "stator/api/tables/table_name.h"
#include "stator/api/tables/table_settings.h"

namespace stator::api {
namespace {

using engine::Index;
using engine::IndexKind;
using engine::Table;

IndexProjection describe_projection(const engine::IndexProjection& projection) {
  IndexProjection description{.kind = from_engine(projection.kind)};
  if (projection.kind == engine::ProjectionKind::Include) description.attributes = projection.non_key_attributes;
  return description;
}

std::optional<OnDemandThroughput> describe_on_demand(const std::optional<engine::OnDemandThroughput>& on_demand) {
  if (!on_demand) return std::nullopt;
  return OnDemandThroughput{on_demand->max_read_units, on_demand->max_write_units};
}

WarmThroughputDescription describe_warm(const engine::Throughput& warm) {
  return {.read_units = warm.read_units, .write_units = warm.write_units, .status = "ACTIVE"};
}

ThroughputDescription describe_throughput(const Table& table, WallTime now) {
  return {.last_increase = table.last_increase,
          .last_decrease = table.last_decrease,
          .decreases_today = decreases_today(table, now),
          .read_units = table.throughput.read_units,
          .write_units = table.throughput.write_units};
}

Result<IndexDescription> describe_index(const Environment& environment, const Table& table, const Index& index,
                                        std::string_view status) {
  const auto statistics = TRY(environment.engine.statistics(table.id, index.id));
  IndexDescription description{.name = index.name,
                               .keys = describe_keys(index.keys),
                               .projection = describe_projection(index.projection),
                               .size_bytes = statistics.bytes,
                               .items = statistics.items,
                               .arn = fmt::format("{}/index/{}", table_arn(environment, table.name), index.name)};
  if (index.kind == IndexKind::Global) {
    const bool follows_table = status == "CREATING" || status == "DELETING";
    description.status = follows_table ? status : index.building ? "CREATING" : "ACTIVE";
    if (index.building) description.backfilling = true;
    // Changes of an index are not noted.
    description.throughput =
        ThroughputDescription{.read_units = index.throughput.read_units, .write_units = index.throughput.write_units};
    description.on_demand = describe_on_demand(index.on_demand);
    description.warm = describe_warm(warm_throughput(index.warm, table.billing_mode, index.throughput));
  }
  return description;
}

}  // namespace

std::vector<KeyElement> describe_keys(const engine::KeySchema& keys) {
  std::vector<KeyElement> elements;
  for (const auto& attribute : keys.partition) elements.push_back({attribute.name, KeyRole::Hash});
  for (const auto& attribute : keys.sort) elements.push_back({attribute.name, KeyRole::Range});
  return elements;
}

TableDescription describe_deleted_table(const Environment& environment, const Table& table) {
  TableDescription description;
  description.name = table.name;
  description.status = "DELETING";
  description.throughput = describe_throughput(table, environment.engine.clock().now());
  description.arn = table_arn(environment, table.name);
  description.id = table.uuid;
  if (table.billing_mode_given) {
    description.billing_mode = {.mode = from_engine(table.billing_mode),
                                .pay_per_request_since = table.pay_per_request_since};
  }
  if (table.stream.enabled) description.stream = {.enabled = true, .view = from_engine(table.stream.view)};
  if (!table.stream.label.empty()) {
    description.stream_label = table.stream.label;
    description.stream_arn = fmt::format("{}/stream/{}", description.arn, table.stream.label);
  }
  description.deletion_protection = table.deletion_protection;
  return description;
}

Result<TableDescription> describe_table(const Environment& environment, const Table& table, std::string_view status) {
  auto description = describe_deleted_table(environment, table);
  description.status = status;
  for (const auto& attribute : table.attribute_definitions) {
    description.definitions.push_back({attribute.name, attribute.type});
  }
  description.keys = describe_keys(table.keys);
  description.created = table.created;
  const auto statistics = TRY(environment.engine.statistics(table.id, engine::kBaseIndex));
  description.size_bytes = statistics.bytes;
  description.items = statistics.items;
  for (const auto& index : table.indexes) {
    auto& indexes = index.kind == IndexKind::Local ? description.local_indexes : description.global_indexes;
    indexes.push_back(TRY(describe_index(environment, table, index, status)));
  }
  if (table.table_class) {
    description.table_class = {.table_class = *table.table_class, .changed = table.table_class_changed};
  }
  if (table.encryption) {
    description.encryption = {.status = "ENABLED", .type = "KMS", .key_arn = table.encryption->kms_key_arn};
  }
  description.on_demand = describe_on_demand(table.on_demand);
  description.warm = describe_warm(warm_throughput(table.warm, table.billing_mode, table.throughput));
  return description;
}

void answer_with_table(CallContext& call, const Table& table, std::string_view status, Done<ChangedTableAnswer>& done) {
  auto description = describe_table(call.environment(), table, status);
  if (!description) return done(call, to_fault(description.error()));
  done(call, ChangedTableAnswer{std::move(*description)});
}

Result<engine::TablePtr> find_described_table(CallContext& call, std::string_view name_or_arn) {
  const auto name = TRY(table_name(name_or_arn));
  auto table = call.engine().catalog().find(name);
  if (table == nullptr) return engine::missing_table(name);
  call.about_table(table->name);
  return table;
}

}  // namespace stator::api
