#pragma once

#include "stator/api/json/table_fields.h"
#include "stator/api/streams/stream_operations.h"

// The members of requests and answers about streams.
namespace stator::api {

template <>
struct EnumNames<ShardIteratorType> {
  static constexpr std::array<std::string_view, 4> names = {"TRIM_HORIZON", "LATEST", "AT_SEQUENCE_NUMBER",
                                                            "AFTER_SEQUENCE_NUMBER"};
};
template <>
struct EnumNames<ChangeKind> {
  static constexpr std::array<std::string_view, 3> names = {"INSERT", "MODIFY", "REMOVE"};
};

template <typename Fields, Is<ListStreamsRequest> T>
void fields(Fields& f, T& request) {
  f("TableName", request.table);
  f("Limit", request.limit);
  f("ExclusiveStartStreamArn", request.after);
}
template <typename Fields, Is<StreamSummary> T>
void fields(Fields& f, T& stream) {
  f("StreamArn", stream.arn);
  f("TableName", stream.table);
  f("StreamLabel", stream.label);
}
template <typename Fields, Is<ListStreamsAnswer> T>
void fields(Fields& f, T& answer) {
  f("Streams", answer.streams);
  f("LastEvaluatedStreamArn", answer.last_arn);
}

template <typename Fields, Is<DescribeStreamRequest::Filter> T>
void fields(Fields& f, T& filter) {
  f("Type", filter.type);
  f("ShardId", filter.shard);
}
template <typename Fields, Is<DescribeStreamRequest> T>
void fields(Fields& f, T& request) {
  f("StreamArn", request.arn);
  f("Limit", request.limit);
  f("ExclusiveStartShardId", request.after);
  f("ShardFilter", request.filter);
}
template <typename Fields, Is<ShardDescription::Range> T>
void fields(Fields& f, T& range) {
  f("StartingSequenceNumber", range.first);
  f("EndingSequenceNumber", range.last);
}
template <typename Fields, Is<ShardDescription> T>
void fields(Fields& f, T& shard) {
  f("ShardId", shard.id);
  f("SequenceNumberRange", shard.range);
  f("ParentShardId", shard.parent);
}
template <typename Fields, Is<StreamDescription> T>
void fields(Fields& f, T& stream) {
  f("StreamArn", stream.arn);
  f("StreamLabel", stream.label);
  f("StreamStatus", stream.status);
  f("StreamViewType", stream.view);
  f("CreationRequestDateTime", stream.created);
  f("TableName", stream.table);
  f("KeySchema", stream.keys);
  f("Shards", stream.shards);
  f("LastEvaluatedShardId", stream.last_shard);
}
template <typename Fields, Is<DescribeStreamAnswer> T>
void fields(Fields& f, T& answer) {
  f.required("StreamDescription", answer.stream);
}

template <typename Fields, Is<GetShardIteratorRequest> T>
void fields(Fields& f, T& request) {
  f("StreamArn", request.arn);
  f("ShardId", request.shard);
  f("ShardIteratorType", request.type);
  f("SequenceNumber", request.sequence_number);
}
template <typename Fields, Is<GetShardIteratorAnswer> T>
void fields(Fields& f, T& answer) {
  f.required("ShardIterator", answer.iterator);
}

template <typename Fields, Is<StreamRecord::Change> T>
void fields(Fields& f, T& change) {
  f("ApproximateCreationDateTime", change.at);
  f("Keys", change.keys);
  f("NewImage", change.new_image);
  f("OldImage", change.old_image);
  f("SequenceNumber", change.sequence_number);
  f("SizeBytes", change.size_bytes);
  f("StreamViewType", change.view);
}
template <typename Fields, Is<StreamRecord::Identity> T>
void fields(Fields& f, T& user) {
  f("PrincipalId", user.principal);
  if constexpr (Fields::kReads) f("principalId", user.principal);  // as some SDKs and services spell it
  f("Type", user.type);
}
template <typename Fields, Is<StreamRecord> T>
void fields(Fields& f, T& record) {
  f("eventID", record.event_id);
  f.required("eventName", record.kind);
  f("eventVersion", record.version);
  f("eventSource", record.source);
  f("awsRegion", record.region);
  f.required("dynamodb", record.change);
  f("userIdentity", record.user);
}
inline std::optional<std::string>& unreadable_json(StreamRecord& record) { return record.unreadable; }

template <typename Fields, Is<GetRecordsRequest> T>
void fields(Fields& f, T& request) {
  f("ShardIterator", request.iterator);
  f("Limit", request.limit);
}
template <typename Fields, Is<GetRecordsAnswer> T>
void fields(Fields& f, T& answer) {
  f("Records", answer.records);
  f("NextShardIterator", answer.next);
}

}  // namespace stator::api
