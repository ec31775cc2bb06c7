#pragma once

#include "stator/api/json/fields.h"
#include "stator/api/tables/table_operations.h"

// The members of requests and answers about tables, time to live and tags.
namespace stator::api {

template <>
struct EnumNames<BillingMode> {
  static constexpr std::array<std::string_view, 2> names = {"PROVISIONED", "PAY_PER_REQUEST"};
};
template <>
struct EnumNames<KeyRole> {
  static constexpr std::array<std::string_view, 2> names = {"HASH", "RANGE"};
};
template <>
struct EnumNames<ProjectionKind> {
  static constexpr std::array<std::string_view, 3> names = {"ALL", "KEYS_ONLY", "INCLUDE"};
};
template <>
struct EnumNames<StreamView> {
  static constexpr std::array<std::string_view, 4> names = {"KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE",
                                                            "NEW_AND_OLD_IMAGES"};
};
template <>
struct EnumNames<value::Type> {
  // Keys are S, N or B; a request with another type is refused where it is carried out.
  static constexpr std::array<std::string_view, 10> names = {"S", "N", "B", "SS", "NS", "BS", "M", "L", "NULL", "BOOL"};
  static_assert(static_cast<std::size_t>(value::Type::Bool) + 1 == names.size());
};

// --- parts of tables

template <typename Fields, Is<AttributeDefinition> T>
void fields(Fields& f, T& definition) {
  f("AttributeName", definition.name);
  f("AttributeType", definition.type);
}
template <typename Fields, Is<KeyElement> T>
void fields(Fields& f, T& key) {
  f("AttributeName", key.name);
  f("KeyType", key.role);
}
template <typename Fields, Is<IndexProjection> T>
void fields(Fields& f, T& projection) {
  f("ProjectionType", projection.kind);
  f("NonKeyAttributes", projection.attributes);
}
template <typename Fields, Is<Throughput> T>
void fields(Fields& f, T& throughput) {
  f("ReadCapacityUnits", throughput.read_units);
  f("WriteCapacityUnits", throughput.write_units);
}
template <typename Fields, Is<OnDemandThroughput> T>
void fields(Fields& f, T& on_demand) {
  f("MaxReadRequestUnits", on_demand.max_read_units);
  f("MaxWriteRequestUnits", on_demand.max_write_units);
}
template <typename Fields, Is<WarmThroughput> T>
void fields(Fields& f, T& warm) {
  f("ReadUnitsPerSecond", warm.read_units);
  f("WriteUnitsPerSecond", warm.write_units);
}
template <typename Fields, Is<StreamSpecification> T>
void fields(Fields& f, T& stream) {
  f("StreamEnabled", stream.enabled);
  f("StreamViewType", stream.view);
}
template <typename Fields, Is<EncryptionSpecification> T>
void fields(Fields& f, T& encryption) {
  f("Enabled", encryption.enabled);
  f("SSEType", encryption.type);
  f("KMSMasterKeyId", encryption.key);
}
template <typename Fields, Is<Tag> T>
void fields(Fields& f, T& tag) {
  f("Key", tag.key);
  f("Value", tag.value);
}

// --- descriptions

template <typename Fields, Is<ThroughputDescription> T>
void fields(Fields& f, T& throughput) {
  f("LastIncreaseDateTime", throughput.last_increase);
  f("LastDecreaseDateTime", throughput.last_decrease);
  f("NumberOfDecreasesToday", throughput.decreases_today);
  f("ReadCapacityUnits", throughput.read_units);
  f("WriteCapacityUnits", throughput.write_units);
}
template <typename Fields, Is<WarmThroughputDescription> T>
void fields(Fields& f, T& warm) {
  f("ReadUnitsPerSecond", warm.read_units);
  f("WriteUnitsPerSecond", warm.write_units);
  f("Status", warm.status);
}
template <typename Fields, Is<IndexDescription> T>
void fields(Fields& f, T& index) {
  f("IndexName", index.name);
  f("KeySchema", index.keys);
  f("Projection", index.projection);
  f("IndexStatus", index.status);
  f("Backfilling", index.backfilling);
  f("ProvisionedThroughput", index.throughput);
  f("OnDemandThroughput", index.on_demand);
  f("WarmThroughput", index.warm);
  f("IndexSizeBytes", index.size_bytes);
  f("ItemCount", index.items);
  f("IndexArn", index.arn);
}
template <typename Fields, Is<BillingModeSummary> T>
void fields(Fields& f, T& summary) {
  f("BillingMode", summary.mode);
  f("LastUpdateToPayPerRequestDateTime", summary.pay_per_request_since);
}
template <typename Fields, Is<TableClassSummary> T>
void fields(Fields& f, T& summary) {
  f("TableClass", summary.table_class);
  f("LastUpdateDateTime", summary.changed);
}
template <typename Fields, Is<EncryptionDescription> T>
void fields(Fields& f, T& encryption) {
  f("Status", encryption.status);
  f("SSEType", encryption.type);
  f("KMSMasterKeyArn", encryption.key_arn);
}
template <typename Fields, Is<TableDescription> T>
void fields(Fields& f, T& table) {
  f.unless_empty("AttributeDefinitions", table.definitions);
  f("TableName", table.name);
  f.unless_empty("KeySchema", table.keys);
  f("TableStatus", table.status);
  f("CreationDateTime", table.created);
  f("ProvisionedThroughput", table.throughput);
  f("TableSizeBytes", table.size_bytes);
  f("ItemCount", table.items);
  f("TableArn", table.arn);
  f("TableId", table.id);
  f("BillingModeSummary", table.billing_mode);
  f.unless_empty("LocalSecondaryIndexes", table.local_indexes);
  f.unless_empty("GlobalSecondaryIndexes", table.global_indexes);
  f("StreamSpecification", table.stream);
  f("LatestStreamLabel", table.stream_label);
  f("LatestStreamArn", table.stream_arn);
  f("TableClassSummary", table.table_class);
  f("DeletionProtectionEnabled", table.deletion_protection);
  f("SSEDescription", table.encryption);
  f("OnDemandThroughput", table.on_demand);
  f("WarmThroughput", table.warm);
}

// --- requests and answers

template <typename Fields, Is<ChangedTableAnswer> T>
void fields(Fields& f, T& answer) {
  f.required("TableDescription", answer.table);
}
template <typename Fields, Is<IndexDefinition> T>
void fields(Fields& f, T& index) {
  f("IndexName", index.name);
  f("KeySchema", index.keys);
  f("Projection", index.projection);
  f("ProvisionedThroughput", index.throughput);
  f("OnDemandThroughput", index.on_demand);
  f("WarmThroughput", index.warm);
}
template <typename Fields, Is<CreateTableRequest> T>
void fields(Fields& f, T& request) {
  f("TableName", request.table);
  f("AttributeDefinitions", request.definitions);
  f("KeySchema", request.keys);
  f("LocalSecondaryIndexes", request.local_indexes);
  f("GlobalSecondaryIndexes", request.global_indexes);
  f("BillingMode", request.billing_mode);
  f("ProvisionedThroughput", request.throughput);
  f("OnDemandThroughput", request.on_demand);
  f("WarmThroughput", request.warm);
  f("StreamSpecification", request.stream);
  f("SSESpecification", request.encryption);
  f("DeletionProtectionEnabled", request.deletion_protection);
  f("TableClass", request.table_class);
  f.unless_empty("Tags", request.tags);
}
template <typename Fields, typename T>
  requires Is<T, DeleteTableRequest> || Is<T, DescribeTableRequest> || Is<T, DescribeTimeToLiveRequest>
void fields(Fields& f, T& request) {
  f("TableName", request.table);
}
template <typename Fields, Is<DescribeTableAnswer> T>
void fields(Fields& f, T& answer) {
  f.required("Table", answer.table);
}
template <typename Fields, Is<IndexName> T>
void fields(Fields& f, T& index) {
  f("IndexName", index.name);
}
template <typename Fields, Is<IndexUpdate::Update> T>
void fields(Fields& f, T& update) {
  f("IndexName", update.name);
  f("ProvisionedThroughput", update.throughput);
  f("OnDemandThroughput", update.on_demand);
  f("WarmThroughput", update.warm);
}
template <typename Fields, Is<IndexUpdate> T>
void fields(Fields& f, T& change) {
  f("Update", change.update);
  f("Create", change.create);
  f("Delete", change.remove);
}
template <typename Fields, Is<UpdateTableRequest> T>
void fields(Fields& f, T& request) {
  f("TableName", request.table);
  f("AttributeDefinitions", request.definitions);
  f("BillingMode", request.billing_mode);
  f("ProvisionedThroughput", request.throughput);
  f("GlobalSecondaryIndexUpdates", request.index_updates);
  f("StreamSpecification", request.stream);
  f("SSESpecification", request.encryption);
  f("TableClass", request.table_class);
  f("DeletionProtectionEnabled", request.deletion_protection);
  f("OnDemandThroughput", request.on_demand);
  f("WarmThroughput", request.warm);
}
template <typename Fields, Is<ListTablesRequest> T>
void fields(Fields& f, T& request) {
  f("ExclusiveStartTableName", request.after);
  f("Limit", request.limit);
}
template <typename Fields, Is<ListTablesAnswer> T>
void fields(Fields& f, T& answer) {
  f("TableNames", answer.names);
  f("LastEvaluatedTableName", answer.last_name);
}

template <typename Fields, Is<TimeToLiveDescription> T>
void fields(Fields& f, T& description) {
  f("TimeToLiveStatus", description.status);
  f("AttributeName", description.attribute);
}
template <typename Fields, Is<DescribeTimeToLiveAnswer> T>
void fields(Fields& f, T& answer) {
  f.required("TimeToLiveDescription", answer.time_to_live);
}
template <typename Fields, Is<TimeToLiveSpecification> T>
void fields(Fields& f, T& specification) {
  f("Enabled", specification.enabled);
  f("AttributeName", specification.attribute);
}
template <typename Fields, Is<UpdateTimeToLiveRequest> T>
void fields(Fields& f, T& request) {
  f("TableName", request.table);
  f("TimeToLiveSpecification", request.time_to_live);
}
template <typename Fields, Is<UpdateTimeToLiveAnswer> T>
void fields(Fields& f, T& answer) {
  f.required("TimeToLiveSpecification", answer.time_to_live);
}

template <typename Fields, Is<TagResourceRequest> T>
void fields(Fields& f, T& request) {
  f("ResourceArn", request.arn);
  f("Tags", request.tags);
}
template <typename Fields, Is<UntagResourceRequest> T>
void fields(Fields& f, T& request) {
  f("ResourceArn", request.arn);
  f("TagKeys", request.keys);
}
template <typename Fields, Is<ListTagsOfResourceRequest> T>
void fields(Fields& f, T& request) {
  f("ResourceArn", request.arn);
}
template <typename Fields, Is<ListTagsAnswer> T>
void fields(Fields& f, T& answer) {
  f("Tags", answer.tags);
}
template <typename Fields, typename T>
  requires Is<T, ChangedTagsAnswer> || Is<T, DescribeLimitsRequest> || Is<T, DescribeEndpointsRequest>
void fields(Fields&, T&) {}  // they have none

template <typename Fields, Is<DescribeLimitsAnswer> T>
void fields(Fields& f, T& limits) {
  f("AccountMaxReadCapacityUnits", limits.account_read_units);
  f("AccountMaxWriteCapacityUnits", limits.account_write_units);
  f("TableMaxReadCapacityUnits", limits.table_read_units);
  f("TableMaxWriteCapacityUnits", limits.table_write_units);
}
template <typename Fields, Is<Endpoint> T>
void fields(Fields& f, T& endpoint) {
  f("Address", endpoint.address);
  f("CachePeriodInMinutes", endpoint.cache_minutes);
}
template <typename Fields, Is<DescribeEndpointsAnswer> T>
void fields(Fields& f, T& answer) {
  f.required("Endpoints", answer.endpoints);
}

}  // namespace stator::api
