#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "stator/api/schema_reader.h"
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
  std::optional<engine::Index> create_index;
  std::vector<engine::KeyAttribute> definitions;  // of the table with the new index
  std::optional<std::string> delete_index;
  std::optional<engine::OnDemandThroughput> on_demand;
  std::optional<engine::Throughput> warm;
  std::optional<engine::Stream> enable_stream;
  bool disable_stream = false;
  std::optional<bool> deletion_protection;
  std::optional<std::string> table_class;
  WallTime now;
};

// The request itself must define the key attributes of a new index, also those that the table knows already.
Result<void> check_definitions_given(const Request& request, const engine::KeySchema& keys) {
  std::vector<std::string_view> defined;
  for (const auto& definition : request.objects("AttributeDefinitions")) {
    defined.push_back(definition.string("AttributeName").value_or(""));
  }
  std::vector<std::string_view> names;
  bool all = true;
  keys.for_each([&](const engine::KeyAttribute& attribute) {
    names.push_back(attribute.name);
    all = all && std::find(defined.begin(), defined.end(), attribute.name) != defined.end();
  });
  if (all) return {};
  return invalid(fmt::format(
      "Some index key attributes are not defined in AttributeDefinitions. Keys: [{}], AttributeDefinitions: [{}]",
      fmt::join(names, ", "), fmt::join(defined, ", ")));
}

// Reads a new index against the table that it is for.
Result<void> read_new_index(const Request& request, const Request& create, const Table& table, Changes& changes) {
  SchemaReader schemas;
  schemas.know(table.attribute_definitions);
  if (request.has("AttributeDefinitions")) TRY(schemas.read_definitions(request));
  const auto mode = changes.billing_mode.value_or(table.billing_mode);
  changes.create_index = TRY(schemas.read_global_index(create, mode));
  changes.create_index->building = true;
  TRY(check_definitions_given(request, changes.create_index->keys));
  for (auto& definition : schemas.take_definitions()) {
    // Definitions that no key uses are ignored here, unlike in CreateTable.
    const bool used =
        table.key_attribute(definition.name) != nullptr || changes.create_index->keys.contains(definition.name);
    if (used) changes.definitions.push_back(std::move(definition));
  }
  return {};
}

Result<void> read_index_updates(const Request& request, const Table& table, Changes& changes) {
  std::set<std::string, std::less<>> names;
  std::size_t online = 0;  // creations and deletions
  for (const auto& update : request.objects("GlobalSecondaryIndexUpdates")) {
    const auto create = update.object("Create");
    const auto erase = update.object("Delete");
    const auto change = update.object("Update");
    const int given = int{create.has_value()} + int{erase.has_value()} + int{change.has_value()};
    if (given == 0) {
      return invalid(
          "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
          "GlobalSecondaryIndexUpdate.Delete "
          "must not be null");
    }
    if (given > 1) {
      return invalid(
          "Only one of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
          "GlobalSecondaryIndexUpdate.Delete may be specified");
    }
    const auto& body = create ? *create : erase ? *erase : *change;
    const std::string name(body.string("IndexName").value_or(""));
    if (!names.insert(name).second) {
      return invalid(
          fmt::format("Only one global secondary index update per index is allowed simultaneously. Index: {}", name));
    }
    if ((create || erase) && ++online > 1) {
      return Error{ErrorCode::LimitExceeded,
                   "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"};
    }
    if (create) TRY(read_new_index(request, *create, table, changes));
    if (erase) changes.delete_index = name;
    if (change) {
      if (const auto throughput = TRY(read_throughput(*change)))
        changes.index_throughput.emplace_back(name, *throughput);
    }
  }
  return {};
}

Result<Changes> read_changes(const Request& request, const Table& table, WallTime now) {
  TRY(refuse_unsupported(request,
                         {"SSESpecification", "ReplicaUpdates", "MultiRegionConsistency", "GlobalTableWitnessUpdates",
                          "GlobalTableSettingsReplicationMode", "VectorIndexUpdates"}));
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
    changes.billing_mode =
        mode == "PROVISIONED" ? engine::BillingMode::Provisioned : engine::BillingMode::PayPerRequest;
  }
  TRY(read_index_updates(request, table, changes));
  changes.on_demand = read_on_demand(request);
  changes.warm = read_warm(request);
  if (request.has("StreamSpecification")) {
    engine::Stream stream;
    TRY(apply_stream(request, stream));
    if (stream.enabled) {
      changes.enable_stream = stream;
    } else {
      changes.disable_stream = true;
    }
  }
  changes.deletion_protection = request.boolean("DeletionProtectionEnabled");
  if (const auto table_class = request.string("TableClass")) changes.table_class = std::string(*table_class);

  const bool nothing = !changes.billing_mode && !changes.throughput && changes.index_throughput.empty() &&
                       !changes.create_index && !changes.delete_index && !changes.on_demand && !changes.warm &&
                       !changes.enable_stream && !changes.disable_stream && !changes.deletion_protection &&
                       !changes.table_class;
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
      return validation_error(
          fmt::format("The provisioned throughput for the table will not change. The requested value equals the "
                      "current value. Current "
                      "ReadCapacityUnits provisioned for the table: {}. Requested ReadCapacityUnits: {}. Current "
                      "WriteCapacityUnits "
                      "provisioned for the table: {}. Requested WriteCapacityUnits: {}. Refer to the Amazon DynamoDB "
                      "Developer Guide for "
                      "current limits and how to request higher limits.",
                      table.throughput.read_units, changes.throughput->read_units, table.throughput.write_units,
                      changes.throughput->write_units));
    }
    note_throughput_change(table, table.throughput, *changes.throughput, changes.now);
    table.throughput = *changes.throughput;
  }
  return {};
}

Result<void> apply_index_changes(Table& table, const Changes& changes) {
  if (changes.create_index) {
    if (table.find_index(changes.create_index->name) != nullptr) {
      return validation_error("Attempting to create an index which already exists");
    }
    const auto global = std::count_if(table.indexes.begin(), table.indexes.end(),
                                      [](const auto& index) { return index.kind == engine::IndexKind::Global; });
    if (static_cast<std::size_t>(global) >= kMaxGlobalIndexes) {
      return Error{ErrorCode::LimitExceeded, "GlobalSecondaryIndex count exceeds the per-table limit of 20"};
    }
    table.attribute_definitions = changes.definitions;
    TRY(add_index(table, *changes.create_index));
  }
  if (changes.delete_index) {
    const auto found = std::find_if(table.indexes.begin(), table.indexes.end(), [&](const auto& index) {
      return index.name == *changes.delete_index && index.kind == engine::IndexKind::Global;
    });
    if (found == table.indexes.end()) return Error{ErrorCode::ResourceNotFound, "Requested resource not found"};
    table.indexes.erase(found);
    std::erase_if(table.attribute_definitions,
                  [&](const auto& definition) { return table.key_attribute(definition.name) == nullptr; });
  }
  return {};
}

Result<Table> apply(Table table, const Changes& changes) {
  // While an index is being built only that index can be taken back.
  const auto* leaving = changes.delete_index ? table.find_index(*changes.delete_index) : nullptr;
  if (table.is_building() && (leaving == nullptr || !leaving->building)) {
    return Error{
        ErrorCode::ResourceInUse,
        fmt::format("Attempt to change a resource which is still in use: Table is being updated: {}", table.name)};
  }
  TRY(apply_index_changes(table, changes));
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
      return validation_error(fmt::format("Table has no stream to disable: TableName: {}", table.name));
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
  const auto current = call.engine().catalog().find(*name);
  if (current == nullptr) {
    return call.fail(
        {ErrorCode::ResourceNotFound, fmt::format("Requested resource not found: Table: {} not found", *name)});
  }
  auto changes = read_changes(call.request(), *current, call.engine().clock().now());
  if (!changes) return call.fail(changes.error());
  auto& engine = call.engine();
  const auto apply_changes = [changes = std::move(*changes)](Table table) { return apply(std::move(table), changes); };
  engine.update_table(std::string(*name), apply_changes,
                      [call = std::move(call)](Result<engine::TablePtr> updated) mutable {
                        if (!updated) return call.fail(updated.error());
                        call.about_table((*updated)->name);
                        if ((*updated)->is_building()) call.engine().build_indexes((*updated)->id);
                        auto body = table_description_body(call.environment(), **updated, "UPDATING");
                        if (!body) return call.fail(body.error());
                        call.succeed(std::move(*body));
                      });
}

}  // namespace stator::api
