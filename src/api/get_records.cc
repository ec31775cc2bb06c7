#define XXH_INLINE_ALL
#include <xxhash.h>

#include <fmt/format.h>

#include <algorithm>

#include "stator/api/shard_iterator.h"
#include "stator/api/stream_name.h"

namespace stator::api {
namespace {

constexpr std::int64_t kMaxRecords = 1000;

std::string_view event_name(engine::ChangeKind kind) {
  switch (kind) {
    case engine::ChangeKind::Insert: return "INSERT";
    case engine::ChangeKind::Modify: return "MODIFY";
    case engine::ChangeKind::Remove: return "REMOVE";
  }
  return "MODIFY";
}

// The same whenever the record is read, and no other record's: consumers recognise repetitions by it.
std::string event_id(const engine::Table& table, const std::string& sequence_number) {
  const auto text = table.uuid + sequence_number;
  const auto hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

void write_record(value::JsonWriter& json, const Environment& environment, const engine::Table& table,
                  const engine::StreamRecord& record) {
  const auto& change = record.change;
  const auto number = engine::to_sequence_number(record.at);
  auto size = change.keys.item_size_bytes();
  json.begin_object();
  json.key("eventID").string(event_id(table, number));
  json.key("eventName").string(event_name(change.kind));
  json.key("eventVersion").string("1.1");
  json.key("eventSource").string("aws:dynamodb");
  json.key("awsRegion").string(environment.region);
  json.key("dynamodb").begin_object();
  // The service rounds it down to the second.
  json.key("ApproximateCreationDateTime")
      .integer(std::chrono::floor<std::chrono::seconds>(change.time).time_since_epoch().count());
  json.key("Keys").raw(change.keys.json());
  if (change.new_image) {
    json.key("NewImage").raw(change.new_image->json());
    size += change.new_image->item_size_bytes();
  }
  if (change.old_image) {
    json.key("OldImage").raw(change.old_image->json());
    size += change.old_image->item_size_bytes();
  }
  json.key("SequenceNumber").string(number);
  json.key("SizeBytes").integer(static_cast<std::int64_t>(size));
  json.key("StreamViewType").string(engine::stream_view_name(table.stream.view));
  json.end_object();
  if (change.by == engine::ChangeBy::TimeToLive) {
    json.key("userIdentity").begin_object();
    json.key("PrincipalId").string("dynamodb.amazonaws.com").key("Type").string("Service").end_object();
  }
  json.end_object();
}

Result<std::string> run_get_records(OperationCall& call) {
  const auto& request = call.request();
  auto iterator = TRY(ShardIterator::decode(request.string("ShardIterator").value_or("")));
  const auto now = call.engine().clock().now();
  if (now - iterator.issued > kShardIteratorLifetime) {
    return Error{
        ErrorCode::ExpiredIterator,
        "The shard iterator has expired and can no longer be used to retrieve stream records. A shard iterator "
        "expires 15 minutes after it is retrieved using the GetShardIterator action."};
  }
  // Before the snapshot, so that the snapshot has everything up to it.
  const auto seen = call.engine().last_commit();
  const auto snapshot = call.engine().snapshot();
  const auto stream = TRY(find_stream(call, *snapshot, iterator.stream_arn));
  const auto shard = std::find_if(stream.shards.begin(), stream.shards.end(), [&](const engine::Shard& candidate) {
    return candidate.begin == iterator.begin && candidate.lane == iterator.lane;
  });
  if (shard == stream.shards.end()) {
    return Error{ErrorCode::TrimmedData, "The operation attempted to read past the oldest stream record in a shard."};
  }
  const auto limit = static_cast<std::size_t>(request.integer("Limit").value_or(kMaxRecords));
  const auto page = TRY(engine::read_shard(*snapshot, seen, stream.table.id, *shard, iterator.at, limit));

  std::string body;
  value::JsonWriter json(body);
  json.begin_object().key("Records").begin_array();
  for (const auto& record : page.records) write_record(json, call.environment(), stream.table, record);
  json.end_array();
  if (page.next) {
    iterator.at = *page.next;
    iterator.issued = now;
    json.key("NextShardIterator").string(iterator.encode());
  }
  json.end_object();
  return body;
}

}  // namespace

void get_records(OperationCall call) { immediate<run_get_records>(std::move(call)); }

}  // namespace stator::api
