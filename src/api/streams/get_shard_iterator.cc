#include <fmt/format.h>

#include <algorithm>

#include "stator/api/functions.h"
#include "stator/api/json/stream_fields.h"
#include "stator/api/streams/shard_iterator.h"
#include "stator/api/streams/stream_name.h"

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

}  // namespace

Result<GetShardIteratorAnswer> run(CallContext& call, const GetShardIteratorRequest& request) {
  TRY(parse_stream_arn(request.arn));
  const auto type = request.type;
  const auto type_name = EnumNames<ShardIteratorType>::names[static_cast<std::size_t>(type)];
  const bool numbered = type == ShardIteratorType::AtSequenceNumber || type == ShardIteratorType::AfterSequenceNumber;
  if (numbered && !request.sequence_number) {
    return validation_error(fmt::format("SequenceNumber is required when ShardIteratorType is {}", type_name));
  }
  if (!numbered && request.sequence_number) {
    return validation_error(
        fmt::format("SequenceNumber must not be specified when ShardIteratorType is {}", type_name));
  }
  const auto snapshot = call.engine().snapshot();
  const auto stream = TRY(find_stream(call, *snapshot, request.arn));
  const auto* shard = stream.find(request.shard);
  if (shard == nullptr) {
    return Error{ErrorCode::ResourceNotFound, "Requested resource not found: Shard does not exist"};
  }
  const auto horizon = engine::trim_horizon(*snapshot);
  engine::ChangePosition at{std::max(shard->begin, horizon), 0};
  if (type == ShardIteratorType::Latest) at = {{call.engine().last_commit_in(shard->partition).value + 1}, 0};
  if (numbered) {
    const bool after = type == ShardIteratorType::AfterSequenceNumber;
    at = TRY(numbered_position(*shard, *request.sequence_number, after, horizon));
  }
  const ShardIterator iterator{.stream_arn = stream_arn(call.environment(), stream.table),
                               .begin = shard->begin,
                               .partition = shard->partition,
                               .at = at,
                               .issued = call.engine().clock().now()};
  return GetShardIteratorAnswer{iterator.encode()};
}

}  // namespace stator::api
