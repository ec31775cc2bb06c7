#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "stator/api/functions.h"
#include "stator/api/invalid.h"
#include "stator/api/json/table_fields.h"
#include "stator/api/tables/schema_reader.h"
#include "stator/api/tables/table_description.h"
#include "stator/api/tables/table_name.h"
#include "stator/api/tables/table_settings.h"

namespace stator::api {
namespace {

using engine::Table;

struct IndexChange {
  std::string name;
  std::optional<engine::Throughput> throughput;
  std::optional<engine::OnDemandThroughput> on_demand;
  std::optional<WarmThroughput> warm;
};

// The changes that the request asks for.
struct Changes {
  std::optional<engine::BillingMode> billing_mode;
  std::optional<engine::Throughput> throughput;
  std::vector<IndexChange> index_updates;
  std::optional<engine::Index> create_index;
  std::vector<engine::KeyAttribute> definitions;  // of the table with the new index
  std::optional<std::string> delete_index;
  std::optional<engine::OnDemandThroughput> on_demand;
  std::optional<WarmThroughput> warm;
  bool change_encryption = false;
  std::optional<engine::Encryption> encryption;  // nullopt: the default encryption
  bool key_by_arn = false;
  std::optional<engine::Stream> enable_stream;
  bool disable_stream = false;
  std::optional<bool> deletion_protection;
  std::optional<std::string> table_class;
  WallTime now;
};

// The request itself must define the key attributes of a new index, also those that the table knows already.
Result<void> check_definitions_given(const std::vector<AttributeDefinition>& definitions,
                                     const engine::KeySchema& keys) {
  std::vector<std::string_view> defined;
  for (const auto& definition : definitions) defined.push_back(definition.name);
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
Result<void> read_new_index(const UpdateTableRequest& request, const IndexDefinition& create, const Table& table,
                            Changes& changes) {
  const auto definitions = request.definitions.value_or(std::vector<AttributeDefinition>());
  SchemaReader schemas;
  schemas.know(table.attribute_definitions);
  TRY(schemas.read_definitions(definitions));
  const auto mode = changes.billing_mode.value_or(table.billing_mode);
  changes.create_index = TRY(schemas.read_global_index(create, mode));
  changes.create_index->building = true;
  TRY(check_definitions_given(definitions, changes.create_index->keys));
  for (auto& definition : schemas.take_definitions()) {
    // Definitions that no key uses are ignored here, unlike in CreateTable.
    const bool used =
        table.key_attribute(definition.name) != nullptr || changes.create_index->keys.contains(definition.name);
    if (used) changes.definitions.push_back(std::move(definition));
  }
  return {};
}

const std::string& name_of(const IndexUpdate& update) {
  return update.create ? update.create->name : update.remove ? update.remove->name : update.update->name;
}

Result<void> read_index_updates(const UpdateTableRequest& request, const Table& table, Changes& changes) {
  if (!request.index_updates) return {};
  std::set<std::string, std::less<>> names;
  std::size_t online = 0;  // creations and deletions
  for (const auto& asked : *request.index_updates) {
    const auto& [change, create, erase] = asked;
    const int given = int{create.has_value()} + int{erase.has_value()} + int{change.has_value()};
    if (given == 0) {
      return invalid(
          "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
          "GlobalSecondaryIndexUpdate.Delete "
          "must not be null");
    }
    if (given > 1) {
      return invalid("Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object");
    }
    const auto& name = name_of(asked);
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
      auto& index = changes.index_updates.emplace_back();
      index.name = name;
      index.throughput = TRY(read_throughput(change->throughput));
      index.on_demand = TRY(read_on_demand_change(change->on_demand, {name}));
      TRY(check_warm_change(change->warm, {name}));
      index.warm = change->warm;
    }
  }
  return {};
}

// Some changes are made alone, or with few others.
Result<void> check_combination(const UpdateTableRequest& request) {
  enum Part : unsigned {
    Mode = 1,
    Provisioned = 2,
    Indexes = 4,
    StreamChange = 8,
    Encryption = 16,
    Class = 32,
    Protection = 64,
    Warm = 128,
    OnDemand = 256,
  };
  const unsigned given = (request.billing_mode ? Mode : 0U) | (request.throughput ? Provisioned : 0U) |
                         (request.index_updates ? Indexes : 0U) | (request.stream ? StreamChange : 0U) |
                         (request.encryption ? Encryption : 0U) | (request.table_class ? Class : 0U) |
                         (request.deletion_protection ? Protection : 0U) | (request.warm ? Warm : 0U) |
                         (request.on_demand ? OnDemand : 0U);
  struct Rule {
    unsigned part, goes_with;
    std::string_view text;
  };
  static constexpr Rule kRules[] = {
      {Encryption, 0, "Server-Side Encryption modification must be the only operation in the request"},
      {Class, 0, "TableClass modification must be the only operation in the request"},
      {Protection, 0, "DeletionProtection modification must be the only operation in the request"},
      {Warm, Indexes, "WarmThroughput must be the only operation in the request"},
      {OnDemand, Mode | Indexes, "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request"},
  };
  for (const auto& [part, goes_with, text] : kRules) {
    if ((given & part) != 0 && (given & ~(part | goes_with)) != 0) return invalid(text);
  }
  return {};
}

Result<Changes> read_changes(const UpdateTableRequest& request, const Environment& environment, const Table& table,
                             WallTime now) {
  TRY(check_combination(request));
  Changes changes;
  changes.now = now;
  const auto mode = request.billing_mode;
  changes.throughput = TRY(read_throughput(request.throughput));
  if (mode == BillingMode::Provisioned && !changes.throughput) {
    return invalid("ProvisionedThroughput must be specified when BillingMode is PROVISIONED");
  }
  if (mode == BillingMode::PayPerRequest && changes.throughput) {
    return invalid(
        "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST");
  }
  if (mode) changes.billing_mode = to_engine(*mode);
  TRY(read_index_updates(request, table, changes));
  changes.on_demand = TRY(read_on_demand_change(request.on_demand, {}));
  TRY(check_warm_change(request.warm, {}));
  changes.warm = request.warm;
  if (request.encryption) {
    changes.change_encryption = true;
    changes.encryption = TRY(read_encryption(*request.encryption, environment));
    changes.key_by_arn = request.encryption->key.value_or("").starts_with("arn:");
  }
  if (request.stream) {
    engine::Stream stream;
    TRY(apply_stream(request.stream, stream));
    if (stream.enabled) {
      changes.enable_stream = stream;
    } else {
      changes.disable_stream = true;
    }
  }
  changes.deletion_protection = request.deletion_protection;
  changes.table_class = request.table_class;

  const bool nothing = !changes.billing_mode && !changes.throughput &&
                       (!request.index_updates || request.index_updates->empty()) && !changes.on_demand &&
                       !changes.warm && !changes.change_encryption && !changes.enable_stream &&
                       !changes.disable_stream && !changes.deletion_protection && !changes.table_class;
  if (nothing) {
    return validation_error(
        "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, "
        "SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, MultiRegionConsistency, "
        "DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required");
  }
  return changes;
}

void note_throughput_change(Table& table, const engine::Throughput& from, const engine::Throughput& to, WallTime now) {
  if (to.read_units > from.read_units || to.write_units > from.write_units) table.last_increase = now;
  if (to.read_units < from.read_units || to.write_units < from.write_units) {
    table.decreases_today = decreases_today(table, now) + 1;
    table.last_decrease = now;
  }
}

// `subject` and `owner` are the two names that the text has for a table or an index.
Result<void> check_throughput_changes(const engine::Throughput& current, const engine::Throughput& requested,
                                      std::string_view subject, std::string_view owner) {
  if (requested != current) return {};
  return validation_error(fmt::format(
      "The provisioned throughput for {} will not change. The requested value equals the current value. Current "
      "ReadCapacityUnits provisioned for {}: {}. Requested ReadCapacityUnits: {}. Current WriteCapacityUnits "
      "provisioned for {}: {}. Requested WriteCapacityUnits: {}. Refer to the Amazon DynamoDB Developer Guide for "
      "current limits and how to request higher limits.",
      subject, owner, current.read_units, requested.read_units, owner, current.write_units, requested.write_units));
}

Result<void> apply_billing(Table& table, const Changes& changes) {
  if (changes.billing_mode) {
    table.billing_mode_given = true;
    if (*changes.billing_mode == engine::BillingMode::PayPerRequest && table.billing_mode != *changes.billing_mode) {
      table.pay_per_request_since = changes.now;
      table.throughput = {};
      for (auto& index : table.indexes) index.throughput = {};
    }
    if (*changes.billing_mode == engine::BillingMode::Provisioned) {
      table.on_demand.reset();
      for (auto& index : table.indexes) index.on_demand.reset();
    }
    table.billing_mode = *changes.billing_mode;
  }
  if (changes.throughput) {
    if (table.billing_mode == engine::BillingMode::PayPerRequest) {
      return invalid(
          "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST");
    }
    TRY(check_throughput_changes(table.throughput, *changes.throughput, "the table", "the table"));
    note_throughput_change(table, table.throughput, *changes.throughput, changes.now);
    table.throughput = *changes.throughput;
  }
  return {};
}

Error no_such_index(const Table& table, std::string_view index) {
  return {ErrorCode::ResourceNotFound,
          fmt::format("Requested resource not found: Index {} for table {}", index, table.name)};
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
    const auto found = std::find_if(table.indexes.begin(), table.indexes.end(),
                                    [&](const auto& index) { return index.name == *changes.delete_index; });
    if (found == table.indexes.end()) return no_such_index(table, *changes.delete_index);
    if (found->kind != engine::IndexKind::Global) {
      return validation_error(
          fmt::format("Cannot delete an index that is not a GlobalSecondaryIndex: {}", *changes.delete_index));
    }
    table.indexes.erase(found);
    std::erase_if(table.attribute_definitions,
                  [&](const auto& definition) { return table.key_attribute(definition.name) == nullptr; });
  }
  return {};
}

Result<void> apply_index_update(Table& table, const IndexChange& update) {
  const auto found = std::find_if(table.indexes.begin(), table.indexes.end(),
                                  [&](const auto& candidate) { return candidate.name == update.name; });
  if (found == table.indexes.end()) return no_such_index(table, update.name);
  auto& index = *found;
  if (index.kind != engine::IndexKind::Global) {
    return validation_error(fmt::format("Cannot update an index that is not a GlobalSecondaryIndex: {}", update.name));
  }
  if (table.billing_mode == engine::BillingMode::PayPerRequest) {
    if (update.throughput) {
      return invalid(
          fmt::format("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: {} when "
                      "BillingMode is PAY_PER_REQUEST",
                      update.name));
    }
    if (!update.on_demand && !update.warm) {
      return invalid(
          fmt::format("The only Updates for index: {} when TableThroughputMode is PAY_PER_REQUEST can be to "
                      "OnDemandThroughput, WarmThroughput",
                      update.name));
    }
  }
  TRY(check_on_demand(update.on_demand, table.billing_mode));
  if (update.throughput) {
    TRY(check_throughput_changes(index.throughput, *update.throughput, fmt::format("the index {}", index.name),
                                 fmt::format("index {}", index.name)));
    index.throughput = *update.throughput;
  }
  if (update.on_demand) index.on_demand = change_on_demand(index.on_demand, *update.on_demand);
  if (update.warm) {
    const auto current = warm_throughput(index.warm, table.billing_mode, index.throughput);
    index.warm = TRY(change_warm(current, *update.warm, {update.name}));
  }
  return {};
}

Result<void> apply_encryption(Table& table, const Changes& changes) {
  if (!changes.encryption && !table.encryption) return invalid("Table is already encrypted by default");
  // The service compares ARNs only; a key by another name it takes for another key.
  if (changes.key_by_arn && changes.encryption == table.encryption) {
    return invalid(
        "Table is already encrypted with given KMSMasterKeyId. Use KMSMasterKeyId parameter if you want to change "
        "Master "
        "Key");
  }
  table.encryption = changes.encryption;
  return {};
}

// A table that becomes provisioned must say so of each of its indexes.
Result<void> check_all_provisioned(const Table& table) {
  std::vector<std::string_view> without;
  for (const auto& index : table.indexes) {
    if (index.kind == engine::IndexKind::Global && index.throughput == engine::Throughput{}) {
      without.push_back(index.name);
    }
  }
  if (without.empty()) return {};
  return invalid(fmt::format("ProvisionedThroughput must be specified for index: {}", fmt::join(without, ",")));
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
  for (const auto& update : changes.index_updates) TRY(apply_index_update(table, update));
  if (changes.billing_mode == engine::BillingMode::Provisioned) TRY(check_all_provisioned(table));
  TRY(check_on_demand(changes.on_demand, table.billing_mode));
  if (changes.on_demand) table.on_demand = change_on_demand(table.on_demand, *changes.on_demand);
  if (changes.warm) {
    const auto current = warm_throughput(table.warm, table.billing_mode, table.throughput);
    table.warm = TRY(change_warm(current, *changes.warm, {}));
  }
  if (changes.change_encryption) TRY(apply_encryption(table, changes));
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

Result<UpdateTableRequest> decode(As<UpdateTableRequest>, const JsonMembers& json, expr::Cache& /*cache*/) {
  UpdateTableRequest request;
  TRY(read_fields(json, request));
  TRY(table_name(request.table));
  TRY(refuse_unsupported(
      json, {"ReplicaUpdates", "MultiRegionConsistency", "GlobalTableWitnessUpdates",
             "GlobalTableSettingsReplicationMode", "DisassociationProtectionEnabled", "VectorIndexUpdates"}));
  return request;
}

void run(CallContext call, UpdateTableRequest request, Done<ChangedTableAnswer> done) {
  const auto name = table_name(request.table);
  if (!name) return done(call, to_fault(name.error()));
  auto& engine = call.engine();
  // Read and checked where it is applied, against the table as it is by then: other changes may be on their way.
  auto change = [request, &environment = call.environment(), now = engine.clock().now()](Table table) -> Result<Table> {
    const auto changes = TRY(read_changes(request, environment, table, now));
    return apply(std::move(table), changes);
  };
  engine.update_table(std::string(*name), std::move(change),
                      [call = std::move(call), done = std::move(done)](Result<engine::TablePtr> updated) mutable {
                        if (!updated) return done(call, to_fault(updated.error()));
                        call.about_table((*updated)->name);
                        if ((*updated)->is_building()) call.engine().build_indexes((*updated)->id);
                        answer_with_table(call, **updated, "UPDATING", done);
                      });
}

}  // namespace stator::api
