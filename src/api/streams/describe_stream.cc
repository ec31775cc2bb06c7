#include <algorithm>

#include "stator/api/functions.h"
#include "stator/api/streams/stream_name.h"
#include "stator/api/tables/table_description.h"
#include "stator/api/tables/table_settings.h"
#include "stator/api/typed_check.h"

namespace stator::api {
namespace {

constexpr std::int64_t kMaxShards = 100;

ShardDescription describe_shard(const engine::Shard& shard) {
  ShardDescription description{.id = shard.id};
  description.range.first = engine::to_sequence_number(shard.first());
  if (shard.end) description.range.last = engine::to_sequence_number(shard.last());
  if (!shard.parent.empty()) description.parent = shard.parent;
  return description;
}

}  // namespace

Result<void> check(const DescribeStreamRequest& request) { return check_limit("DescribeStream", request.limit); }

Result<DescribeStreamAnswer> run(CallContext& call, const DescribeStreamRequest& request) {
  const auto snapshot = call.engine().snapshot();
  const auto stream = TRY(find_stream(call, *snapshot, request.arn));
  auto shards = stream.shards;
  if (request.filter) {
    std::erase_if(shards, [&](const engine::Shard& shard) { return shard.parent != request.filter->shard; });
  }
  auto next = shards.begin();
  if (request.after) {
    next = std::find_if(shards.begin(), shards.end(),
                        [&](const engine::Shard& shard) { return shard.id > *request.after; });
  }
  const auto end = next + std::min<std::ptrdiff_t>(request.limit.value_or(kMaxShards), shards.end() - next);

  const auto& table = stream.table;
  DescribeStreamAnswer answer;
  answer.stream = {.arn = stream_arn(call.environment(), table),
                   .label = table.stream.label,
                   .status = stream.enabled ? "ENABLED" : "DISABLED",
                   .view = from_engine(table.stream.view),
                   .created = table.stream.since.value_or(table.created),
                   .table = table.name,
                   .keys = describe_keys(table.keys)};
  for (auto shard = next; shard != end; ++shard) answer.stream.shards.push_back(describe_shard(*shard));
  if (end != shards.end()) answer.stream.last_shard = (end - 1)->id;
  return answer;
}

}  // namespace stator::api
