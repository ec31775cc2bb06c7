#include <algorithm>

#include "stator/api/stream_name.h"
#include "stator/api/table_description.h"

namespace stator::api {
namespace {

constexpr std::int64_t kMaxShards = 100;

void write_shard(value::JsonWriter& json, const engine::Shard& shard) {
  json.begin_object().key("ShardId").string(shard.id);
  json.key("SequenceNumberRange").begin_object();
  json.key("StartingSequenceNumber").string(engine::to_sequence_number(shard.first()));
  if (shard.end) json.key("EndingSequenceNumber").string(engine::to_sequence_number(shard.last()));
  json.end_object();
  if (!shard.parent.empty()) json.key("ParentShardId").string(shard.parent);
  json.end_object();
}

Result<std::string> run_describe_stream(OperationCall& call) {
  const auto& request = call.request();
  const auto snapshot = call.engine().snapshot();
  const auto arn = request.string("StreamArn").value_or("");
  const auto stream = TRY(find_stream(call, *snapshot, arn));

  auto shards = stream.shards;
  if (const auto filter = request.object("ShardFilter")) {
    const auto parent = filter->string("ShardId").value_or("");
    std::erase_if(shards, [&](const engine::Shard& shard) { return shard.parent != parent; });
  }
  auto next = shards.begin();
  if (const auto start = request.string("ExclusiveStartShardId")) {
    next = std::find_if(shards.begin(), shards.end(), [&](const engine::Shard& shard) { return shard.id > *start; });
  }
  const auto limit = request.integer("Limit").value_or(kMaxShards);
  const auto end = next + std::min<std::ptrdiff_t>(limit, shards.end() - next);

  const auto& table = stream.table;
  std::string body;
  value::JsonWriter json(body);
  json.begin_object().key("StreamDescription").begin_object();
  json.key("StreamArn").string(stream_arn(call.environment(), table));
  json.key("StreamLabel").string(table.stream.label);
  json.key("StreamStatus").string(stream.enabled ? "ENABLED" : "DISABLED");
  json.key("StreamViewType").string(engine::stream_view_name(table.stream.view));
  json.key("CreationRequestDateTime").real(epoch_seconds(table.stream.since.value_or(table.created)));
  json.key("TableName").string(table.name);
  write_key_schema(json, table.keys);
  json.key("Shards").begin_array();
  for (auto shard = next; shard != end; ++shard) write_shard(json, *shard);
  json.end_array();
  if (end != shards.end()) json.key("LastEvaluatedShardId").string((end - 1)->id);
  json.end_object().end_object();
  return body;
}

}  // namespace

void describe_stream(OperationCall call) { immediate<run_describe_stream>(std::move(call)); }

}  // namespace stator::api
