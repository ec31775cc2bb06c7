#include "stator/api/absent_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "stator/api/tables/table_name.h"

namespace stator::api {
namespace {

void not_supported(OperationCall& call, std::string_view operation) {
  call.fail({ErrorCode::Unsupported, fmt::format("{} is not supported", operation)});
}

// -- tables: requests about a table check first that it exists.

// The table, or null when the call has been answered.  `not_found` says what the operation's family says.
template <typename NotFound>
engine::TablePtr find_or_fail(OperationCall& call, std::string_view name_or_arn, NotFound not_found) {
  const auto name = table_name(name_or_arn);
  if (!name) {
    call.fail(name.error());
    return nullptr;
  }
  auto table = call.engine().catalog().find(*name);
  if (table == nullptr) {
    call.fail(not_found(*name));
  } else {
    call.about_table(table->name);
  }
  return table;
}

engine::TablePtr named_table(OperationCall& call) {
  return find_or_fail(call, call.request().string("TableName").value_or(""), engine::missing_table);
}

// The same for backups, recovery and exports, whose error has another name.
engine::TablePtr table_to_back_up(OperationCall& call, std::string_view name_or_arn) {
  return find_or_fail(call, name_or_arn, [](std::string_view name) {
    return Error{ErrorCode::TableNotFound, fmt::format("Table not found: {}", name)};
  });
}

void not_supported_on_table(OperationCall& call, std::string_view operation) {
  if (named_table(call) != nullptr) not_supported(call, operation);
}

// -- backups and point-in-time recovery

// Backups are made beside the API.
void not_supported_but_backups_are(OperationCall& call, std::string_view feature) {
  call.fail({ErrorCode::Unsupported,
             fmt::format("{} is not supported; the command stator backup copies the whole database", feature)});
}

void create_backup(OperationCall call) {
  if (table_to_back_up(call, call.request().string("TableName").value_or("")) != nullptr) {
    not_supported_but_backups_are(call, "CreateBackup");
  }
}

// DescribeBackup, DeleteBackup, RestoreTableFromBackup.
void without_backup(OperationCall call) {
  const auto arn = call.request().string("BackupArn").value_or("");
  if (!arn.starts_with("arn:") || arn.find("/backup/") == arn.npos) {
    return call.fail(validation_error("Invalid Backup ARN"));
  }
  call.fail(dynamodb_fault("BackupNotFoundException", fmt::format("Backup not found: {}", arn)));
}

void describe_continuous_backups(OperationCall call) {
  if (table_to_back_up(call, call.request().string("TableName").value_or("")) == nullptr) return;
  call.succeed(R"({"ContinuousBackupsDescription":{"ContinuousBackupsStatus":"DISABLED",)"
               R"("PointInTimeRecoveryDescription":{"PointInTimeRecoveryStatus":"DISABLED"}}})");
}

void update_continuous_backups(OperationCall call) {
  const auto specification = call.request().object("PointInTimeRecoverySpecification");
  const bool enable = specification && specification->boolean("PointInTimeRecoveryEnabled").value_or(false);
  if (!enable) return describe_continuous_backups(std::move(call));
  if (table_to_back_up(call, call.request().string("TableName").value_or("")) != nullptr) {
    not_supported_but_backups_are(call, "Point-in-time recovery");
  }
}

void without_recovery(OperationCall& call, const engine::TablePtr& table) {
  if (table == nullptr) return;
  call.fail(dynamodb_fault("PointInTimeRecoveryUnavailableException",
                           fmt::format("Point in time recovery is not enabled for table '{}'", table->name)));
}

void restore_to_point_in_time(OperationCall call) {
  const auto name = call.request().string("SourceTableName");
  const auto arn = call.request().string("SourceTableArn");
  if (name.has_value() == arn.has_value()) {
    return call.fail(validation_error("Must provide exactly one of: sourceTableArn, sourceTableName"));
  }
  without_recovery(call, table_to_back_up(call, name ? *name : *arn));
}

// -- exports and imports

void export_table(OperationCall call) {
  const auto arn = call.request().string("TableArn").value_or("");
  if (!table_of_resource_arn(arn)) return call.fail(validation_error("Invalid TableArn: Invalid Table ARN"));
  without_recovery(call, find_or_fail(call, arn, [&](std::string_view) {
                     return Error{ErrorCode::TableNotFound, fmt::format("Table not found: {}", arn)};
                   }));
}

void describe_export(OperationCall call) {
  const auto arn = call.request().string("ExportArn").value_or("");
  if (arn.find("/export/") == arn.npos) return call.fail(validation_error("Invalid Export ARN"));
  call.fail(dynamodb_fault("ExportNotFoundException", fmt::format("Export not found: Export not found: {}", arn)));
}

void describe_import(OperationCall call) {
  const auto arn = call.request().string("ImportArn").value_or("");
  if (arn.find("/import/") == arn.npos) return call.fail(validation_error("Invalid Import ARN"));
  call.fail(dynamodb_fault("ImportNotFoundException", fmt::format("Import not found: Import not found: {}", arn)));
}

// -- bulk operations

void start_bulk_put(OperationCall call) {
  if (named_table(call) != nullptr) {
    call.fail({ErrorCode::Unsupported,
               "StartBulkPutItems is not supported; Stator does not read Amazon S3, and BatchWriteItem puts items"});
  }
}

// DescribeBulkOperation, CancelBulkOperation.
void without_bulk_operation(OperationCall call) {
  call.fail({ErrorCode::ResourceNotFound,
             fmt::format("Bulk operation not found: {}", call.request().string("BulkOperationArn").value_or(""))});
}

// -- global tables

// No new table of the first version can be made at the service either.
void legacy_global_table(OperationCall call) {
  call.fail(validation_error(
      "One or more parameter values were invalid: DynamoDB global tables version 2017.11.29 is not supported. We "
      "recommend using DynamoDB global tables version 2019.11.21, instead of version 2017.11.29 (Legacy)."));
}

std::string no_global_table(std::string_view name) {
  return fmt::format("Global table with name: '{}' does not exist.", name);
}

void without_global_table(OperationCall call) {
  call.fail(dynamodb_fault("GlobalTableNotFoundException",
                           no_global_table(call.request().string("GlobalTableName").value_or(""))));
}

void without_replicas(OperationCall call) {
  const auto name = table_name(call.request().string("TableName").value_or(""));
  if (!name) return call.fail(name.error());
  call.fail({ErrorCode::ResourceNotFound, no_global_table(*name)});
}

// -- Kinesis

void describe_kinesis(OperationCall call) {
  const auto table = named_table(call);
  if (table == nullptr) return;
  std::string body;
  value::JsonWriter(body)
      .begin_object()
      .key("TableName")
      .string(table->name)
      .key("KinesisDataStreamDestinations")
      .begin_array()
      .end_array()
      .end_object();
  call.succeed(std::move(body));
}

void disable_kinesis(OperationCall call) {
  if (named_table(call) == nullptr) return;
  call.fail(
      validation_error("Table is not in a valid state to enable Kinesis Streaming Destination: "
                       "KinesisStreamingDestination must be ACTIVE "
                       "to perform DISABLE operation."));
}

void update_kinesis(OperationCall call) {
  const auto table = named_table(call);
  if (table == nullptr) return;
  call.fail(
      validation_error(fmt::format("Table is not in a valid state to enable Kinesis Streaming Destination: Kinesis "
                                   "streaming is not in ACTIVE state. "
                                   "Updates are only allowed in ACTIVE state. TableName: {}, kdsArn: {}",
                                   table->name, call.request().string("StreamArn").value_or(""))));
}

// -- contributor insights

void describe_insights(OperationCall call) {
  const auto table = named_table(call);
  if (table == nullptr) return;
  const auto index = call.request().string("IndexName");
  if (index && table->find_index(*index) == nullptr) {
    return call.fail(
        {ErrorCode::ResourceNotFound,
         fmt::format("Requested resource not found: Index: {} not found for table: {}", *index, table->name)});
  }
  std::string body;
  value::JsonWriter json(body);
  json.begin_object().key("TableName").string(table->name);
  if (index) json.key("IndexName").string(*index);
  json.key("ContributorInsightsStatus").string("DISABLED").end_object();
  call.succeed(std::move(body));
}

void list_insights(OperationCall call) {
  if (call.request().has("TableName") && named_table(call) == nullptr) return;
  call.succeed(R"({"ContributorInsightsSummaries":[]})");
}

// -- resource policies

// The table of the request's ResourceArn, or null when the call has been answered.
engine::TablePtr table_of_policy(OperationCall& call) {
  const auto arn = call.request().string("ResourceArn").value_or("");
  const auto name = table_of_resource_arn(arn);
  if (!name) {
    call.fail(name.error());
    return nullptr;
  }
  return find_or_fail(call, *name, engine::missing_table);
}

void without_policy(OperationCall& call, std::string_view what) {
  call.fail(dynamodb_fault("PolicyNotFoundException",
                           fmt::format("Resource-based policy not found for the provided ResourceArn: {}", what)));
}

void get_resource_policy(OperationCall call) {
  if (table_of_policy(call) != nullptr) without_policy(call, call.request().string("ResourceArn").value_or(""));
}

void delete_resource_policy(OperationCall call) {
  const auto table = table_of_policy(call);
  if (table == nullptr) return;
  const auto revision = call.request().string("ExpectedRevisionId");
  if (!revision) return call.succeed("{}");  // none is left, as asked
  without_policy(call,
                 fmt::format("Requested update for policy with revision id {}, but table {} has no associated policy",
                             *revision, table->name));
}

void put_resource_policy(OperationCall call) {
  if (table_of_policy(call) != nullptr) not_supported(call, "PutResourcePolicy");
}

struct AbsentFeature {
  std::string_view name;
  OperationFunction run;
};

constexpr std::array kAbsentFeatures = {
    AbsentFeature{"CancelBulkOperation", without_bulk_operation},
    AbsentFeature{"CreateBackup", create_backup},
    AbsentFeature{"CreateGlobalTable", legacy_global_table},
    AbsentFeature{"DeleteBackup", without_backup},
    AbsentFeature{"DeleteResourcePolicy", delete_resource_policy},
    AbsentFeature{"DescribeBackup", without_backup},
    AbsentFeature{"DescribeBulkOperation", without_bulk_operation},
    AbsentFeature{"DescribeContinuousBackups", describe_continuous_backups},
    AbsentFeature{"DescribeContributorInsights", describe_insights},
    AbsentFeature{"DescribeExport", describe_export},
    AbsentFeature{"DescribeGlobalTable", without_global_table},
    AbsentFeature{"DescribeGlobalTableSettings", without_global_table},
    AbsentFeature{"DescribeImport", describe_import},
    AbsentFeature{"DescribeKinesisStreamingDestination", describe_kinesis},
    AbsentFeature{"DescribeTableReplicaAutoScaling", without_replicas},
    AbsentFeature{"DisableKinesisStreamingDestination", disable_kinesis},
    AbsentFeature{"EnableKinesisStreamingDestination",
                  [](OperationCall call) { not_supported_on_table(call, "EnableKinesisStreamingDestination"); }},
    AbsentFeature{"ExportTableToPointInTime", export_table},
    AbsentFeature{"GetResourcePolicy", get_resource_policy},
    AbsentFeature{"ImportTable", [](OperationCall call) { not_supported(call, "ImportTable"); }},
    AbsentFeature{"ListBackups", [](OperationCall call) { call.succeed(R"({"BackupSummaries":[]})"); }},
    AbsentFeature{"ListBulkOperations",
                  [](OperationCall call) { call.succeed(R"({"BulkOperationsSummaryList":[]})"); }},
    AbsentFeature{"ListContributorInsights", list_insights},
    AbsentFeature{"ListExports", [](OperationCall call) { call.succeed(R"({"ExportSummaries":[]})"); }},
    AbsentFeature{"ListGlobalTables", [](OperationCall call) { call.succeed(R"({"GlobalTables":[]})"); }},
    AbsentFeature{"ListImports", [](OperationCall call) { call.succeed(R"({"ImportSummaryList":[]})"); }},
    AbsentFeature{"PutResourcePolicy", put_resource_policy},
    AbsentFeature{"RestoreTableFromBackup", without_backup},
    AbsentFeature{"RestoreTableToPointInTime", restore_to_point_in_time},
    AbsentFeature{"SearchVectors", [](OperationCall call) { not_supported_on_table(call, "SearchVectors"); }},
    AbsentFeature{"StartBulkPutItems", start_bulk_put},
    AbsentFeature{"UpdateContinuousBackups", update_continuous_backups},
    AbsentFeature{"UpdateContributorInsights",
                  [](OperationCall call) { not_supported_on_table(call, "UpdateContributorInsights"); }},
    AbsentFeature{"UpdateGlobalTable", legacy_global_table},
    AbsentFeature{"UpdateGlobalTableSettings", without_global_table},
    AbsentFeature{"UpdateKinesisStreamingDestination", update_kinesis},
    AbsentFeature{"UpdateTableReplicaAutoScaling", without_replicas},
};
static_assert(std::ranges::is_sorted(kAbsentFeatures, {}, &AbsentFeature::name));

}  // namespace

OperationFunction absent_feature(std::string_view name) {
  const auto found = std::ranges::lower_bound(kAbsentFeatures, name, {}, &AbsentFeature::name);
  return found != kAbsentFeatures.end() && found->name == name ? found->run : nullptr;
}

}  // namespace stator::api
