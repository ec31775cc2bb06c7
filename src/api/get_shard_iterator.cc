#include <fmt/format.h>

#include <algorithm>

#include "stator/api/shard_iterator.h"
#include "stator/api/stream_name.h"

namespace stator::api {
namespace {

// The position a client asks for by its number: AT, or AFTER it.
Result<engine::ChangePosition> numbered_position(const engine::Shard& shard, std::string_view number, bool after,
                                                 storage::CommitSequence horizon) {
  auto at = engine::parse_sequence_number(number);
  if (!at || *at < shard.first() || (shard.end && *at > shard.last())) {
    return validation_error(fmt::format("Invalid SequenceNumber: {} is not in shard {}", number, shard.id));
  }
  if (at->sequence < horizon) {
    return Error{ErrorCode::TrimmedData, "The operation attempted to read past the oldest stream record in a shard."};
  }
  return after ? engine::after(*at) : *at;
}

Result<std::string> run_get_shard_iterator(OperationCall& call) {
  const auto& request = call.request();
  const auto arn = request.string("StreamArn").value_or("");
  TRY(parse_stream_arn(arn));
  const auto type = request.string("ShardIteratorType").value_or("");
  const auto number = request.string("SequenceNumber");
  const bool numbered = type == "AT_SEQUENCE_NUMBER" || type == "AFTER_SEQUENCE_NUMBER";
  if (numbered && !number) {
    return validation_error(fmt::format("SequenceNumber is required when ShardIteratorType is {}", type));
  }
  if (!numbered && number) {
    return validation_error(fmt::format("SequenceNumber must not be specified when ShardIteratorType is {}", type));
  }
  // Before the snapshot, so that the snapshot has everything up to it.
  const auto last_commit = call.engine().last_commit();
  const auto snapshot = call.engine().snapshot();
  const auto stream = TRY(find_stream(call, *snapshot, arn));
  const auto* shard = stream.find(request.string("ShardId").value_or(""));
  if (shard == nullptr) {
    return Error{ErrorCode::ResourceNotFound, "Requested resource not found: Shard does not exist"};
  }
  const auto horizon = engine::trim_horizon(*snapshot);
  engine::ChangePosition at{std::max(shard->begin, horizon), 0};
  if (type == "LATEST") at = {{last_commit.value + 1}, 0};
  if (numbered) at = TRY(numbered_position(*shard, *number, type == "AFTER_SEQUENCE_NUMBER", horizon));

  const ShardIterator iterator{.stream_arn = stream_arn(call.environment(), stream.table),
                               .begin = shard->begin,
                               .lane = shard->lane,
                               .at = at,
                               .issued = call.engine().clock().now()};
  std::string body;
  value::JsonWriter(body).begin_object().key("ShardIterator").string(iterator.encode()).end_object();
  return body;
}

}  // namespace

void get_shard_iterator(OperationCall call) { immediate<run_get_shard_iterator>(std::move(call)); }

}  // namespace stator::api
