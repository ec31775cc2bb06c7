#define XXH_INLINE_ALL
#include <xxhash.h>

#include <fmt/format.h>

#include <algorithm>

#include "stator/api/functions.h"
#include "stator/api/streams/shard_iterator.h"
#include "stator/api/streams/stream_name.h"
#include "stator/api/tables/table_settings.h"
#include "stator/api/typed_check.h"

namespace stator::api {
namespace {

constexpr std::int64_t kMaxRecords = 1000;

// The same whenever the record is read, and no other record's: consumers recognise repetitions by it.
std::string event_id(const engine::Table& table, const std::string& sequence_number) {
  const auto text = table.uuid + sequence_number;
  const auto hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

StreamRecord record_of(const Environment& environment, const engine::Table& table, engine::StreamRecord record) {
  auto& change = record.change;
  StreamRecord told;
  told.kind = static_cast<ChangeKind>(change.kind);
  told.version = "1.1";
  told.source = "aws:dynamodb";
  told.region = environment.region;
  told.change.sequence_number = engine::to_sequence_number(record.at);
  told.event_id = event_id(table, told.change.sequence_number);
  told.change.at = std::chrono::floor<std::chrono::seconds>(change.time);  // as the service does
  told.change.view = from_engine(table.stream.view);
  auto size = change.keys.item_size_bytes();
  if (change.new_image) size += change.new_image->item_size_bytes();
  if (change.old_image) size += change.old_image->item_size_bytes();
  told.change.size_bytes = static_cast<std::int64_t>(size);
  told.change.keys = AnswerItem(std::move(change.keys));
  if (change.new_image) told.change.new_image = AnswerItem(std::move(*change.new_image));
  if (change.old_image) told.change.old_image = AnswerItem(std::move(*change.old_image));
  if (change.by == engine::ChangeBy::TimeToLive) {
    told.user = {.principal = "dynamodb.amazonaws.com", .type = "Service"};
  }
  return told;
}

}  // namespace

Result<void> check(const GetRecordsRequest& request) { return check_limit("GetRecords", request.limit); }

Result<GetRecordsAnswer> run(CallContext& call, const GetRecordsRequest& request) {
  auto iterator = TRY(ShardIterator::decode(request.iterator));
  const auto now = call.engine().clock().now();
  if (now - iterator.issued > kShardIteratorLifetime) {
    return Error{
        ErrorCode::ExpiredIterator,
        "The shard iterator has expired and can no longer be used to retrieve stream records. A shard iterator "
        "expires 15 minutes after it is retrieved using the GetShardIterator action."};
  }
  // Before the snapshot, so that the snapshot has everything up to it.
  const auto seen = call.engine().last_commit_in(iterator.partition);
  const auto snapshot = call.engine().snapshot();
  const auto stream = TRY(find_stream(call, *snapshot, iterator.stream_arn));
  const auto shard = std::find_if(stream.shards.begin(), stream.shards.end(), [&](const engine::Shard& candidate) {
    return candidate.begin == iterator.begin && candidate.partition == iterator.partition;
  });
  if (shard == stream.shards.end()) {
    return Error{ErrorCode::TrimmedData, "The operation attempted to read past the oldest stream record in a shard."};
  }
  const auto limit = static_cast<std::size_t>(request.limit.value_or(kMaxRecords));
  auto page = TRY(engine::read_shard(*snapshot, seen, stream.table.id, *shard, iterator.at, limit));
  GetRecordsAnswer answer;
  answer.records.reserve(page.records.size());
  for (auto& record : page.records) {
    answer.records.push_back(record_of(call.environment(), stream.table, std::move(record)));
  }
  if (page.next) {
    iterator.at = *page.next;
    iterator.issued = now;
    answer.next = iterator.encode();
  }
  return answer;
}

}  // namespace stator::api
