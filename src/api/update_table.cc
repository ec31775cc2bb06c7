#include <fmt/format.h>

#include "stator/api/table_description.h"
#include "stator/api/table_name.h"
#include "stator/api/table_settings.h"

namespace stator::api {
namespace {

using engine::Table;

Error invalid(std::string_view what) {
  return validation_error(fmt::format("One or more parameter values were invalid: {}", what));
}

// What the request asks for, taken out of it because the change runs later, on the committer.
struct Changes {
  std::optional<engine::BillingMode> billing_mode;
  std::optional<engine::Throughput> throughput;
  std::vector<std::pair<std::string, engine::Throughput>> index_throughput;
  std::optional<engine::OnDemandThroughput> on_demand;
  std::optional<engine::Throughput> warm;
  std::optional<engine::Stream> enable_stream;
  bool disable_stream = false;
  std::optional<bool> deletion_protection;
  std::optional<std::string> table_class;
  WallTime now;
};

Result<void> read_index_updates(const Request& request, Changes& changes) {
  for (const auto& update : request.objects("GlobalSecondaryIndexUpdates")) {
    TRY(refuse_unsupported(update, {"Create", "Delete"}));
    const auto throughput_update = update.object("Update");
    if (!throughput_update) {
      return invalid(
          "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete "
          "must not be null");
    }
    const std::string name(throughput_update->string("IndexName").value_or(""));
    for (const auto& [seen, throughput] : changes.index_throughput) {
      if (seen == name) {
        return invalid(fmt::format(
            "Only one global secondary index update per index is allowed simultaneously. Index: {}", name));
      }
    }
    if (const auto throughput = TRY(read_throughput(*throughput_update))) {
      changes.index_throughput.emplace_back(name, *throughput);
    }
  }
  return {};
}

Result<Changes> read_changes(const Request& request, WallTime now) {
  TRY(refuse_unsupported(request, {"SSESpecification", "ReplicaUpdates", "MultiRegionConsistency",
                                   "GlobalTableWitnessUpdates", "GlobalTableSettingsReplicationMode",
                                   "VectorIndexUpdates"}));
  Changes changes;
  changes.now = now;
  const auto mode = request.string("BillingMode");
  changes.throughput = TRY(read_throughput(request));
  if (mode == "PROVISIONED" && !changes.throughput) {
    return invalid("ProvisionedThroughput must be specified when BillingMode is PROVISIONED");
  }
  if (mode == "PAY_PER_REQUEST" && changes.throughput) {
    return invalid(
        "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST");
  }
  if (mode) {
    changes.billing_mode = mode == "PROVISIONED" ? engine::BillingMode::Provisioned : engine::BillingMode::PayPerRequest;
  }
  TRY(read_index_updates(request, changes));
  changes.on_demand = read_on_demand(request);
  changes.warm = read_warm(request);
  if (request.has("StreamSpecification")) {
    engine::Stream stream;
    TRY(apply_stream(request, stream, now));
    if (stream.enabled) {
      changes.enable_stream = stream;
    } else {
      changes.disable_stream = true;
    }
  }
  changes.deletion_protection = request.boolean("DeletionProtectionEnabled");
  if (const auto table_class = request.string("TableClass")) changes.table_class = std::string(*table_class);

  const bool nothing = !changes.billing_mode && !changes.throughput && changes.index_throughput.empty() &&
                       !changes.on_demand && !changes.warm && !changes.enable_stream && !changes.disable_stream &&
                       !changes.deletion_protection && !changes.table_class;
  if (nothing) {
    return validation_error(
        "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or "
        "SSESpecification or ReplicaUpdates is required");
  }
  return changes;
}

void note_throughput_change(Table& table, const engine::Throughput& from, const engine::Throughput& to, WallTime now) {
  if (to.read_units > from.read_units || to.write_units > from.write_units) table.last_increase = now;
  if (to.read_units < from.read_units || to.write_units < from.write_units) {
    table.last_decrease = now;
    ++table.decreases_today;
  }
}

Result<void> apply_billing(Table& table, const Changes& changes) {
  if (changes.billing_mode) {
    table.billing_mode_given = true;
    if (*changes.billing_mode == engine::BillingMode::PayPerRequest && table.billing_mode != *changes.billing_mode) {
      table.pay_per_request_since = changes.now;
      table.throughput = {};
      for (auto& index : table.indexes) index.throughput = {};
    }
    table.billing_mode = *changes.billing_mode;
  }
  if (changes.throughput) {
    if (table.billing_mode == engine::BillingMode::PayPerRequest) {
      return invalid(
          "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST");
    }
    if (*changes.throughput == table.throughput && !changes.billing_mode) {
      return validation_error(fmt::format(
          "The provisioned throughput for the table will not change. The requested value equals the current value. Current "
          "ReadCapacityUnits provisioned for the table: {}. Requested ReadCapacityUnits: {}. Current WriteCapacityUnits "
          "provisioned for the table: {}. Requested WriteCapacityUnits: {}. Refer to the Amazon DynamoDB Developer Guide for "
          "current limits and how to request higher limits.",
          table.throughput.read_units, changes.throughput->read_units, table.throughput.write_units,
          changes.throughput->write_units));
    }
    note_throughput_change(table, table.throughput, *changes.throughput, changes.now);
    table.throughput = *changes.throughput;
  }
  return {};
}

Result<Table> apply(Table table, const Changes& changes) {
  TRY(apply_billing(table, changes));
  for (const auto& [name, throughput] : changes.index_throughput) {
    bool found = false;
    for (auto& index : table.indexes) {
      if (index.name != name || index.kind != engine::IndexKind::Global) continue;
      found = true;
      index.throughput = throughput;
    }
    if (!found) {
      return Error{ErrorCode::ResourceNotFound, "Requested resource not found"};
    }
  }
  if (changes.on_demand) table.on_demand = changes.on_demand;
  if (changes.warm) table.warm = changes.warm;
  if (changes.enable_stream) {
    if (table.stream.enabled) {
      return validation_error(fmt::format("Table already has an enabled stream: TableName: {}", table.name));
    }
    table.stream = *changes.enable_stream;
  }
  if (changes.disable_stream) {
    if (!table.stream.enabled) {
      return validation_error(fmt::format("Table is already without a stream: TableName: {}", table.name));
    }
    table.stream.enabled = false;
  }
  if (changes.deletion_protection) table.deletion_protection = *changes.deletion_protection;
  if (changes.table_class) {
    table.table_class = changes.table_class;
    table.table_class_changed = changes.now;
  }
  return table;
}

}  // namespace

void update_table(Call call) {
  const auto name = table_name(call.request().string("TableName").value_or(""));
  if (!name) return call.fail(name.error());
  auto changes = read_changes(call.request(), call.engine().clock().now());
  if (!changes) return call.fail(changes.error());
  auto& engine = call.engine();
  const auto apply_changes = [changes = std::move(*changes)](Table table) { return apply(std::move(table), changes); };
  engine.update_table(std::string(*name), apply_changes, [call = std::move(call)](Result<engine::TablePtr> updated) mutable {
    if (!updated) return call.fail(updated.error());
    call.about_table((*updated)->name);
    auto body = table_description_body(call.environment(), **updated, "UPDATING");
    if (!body) return call.fail(body.error());
    call.succeed(std::move(*body));
  });
}

}  // namespace stator::api
