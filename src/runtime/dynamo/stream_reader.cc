#include "stator/runtime/dynamo/stream_reader.h"

#include <algorithm>
#include <set>

#include "stator/client/call.h"
#include "stator/runtime/dynamo/fault_problem.h"

namespace stator::runtime {
namespace {

constexpr std::string_view kExpiry = "dynamodb.amazonaws.com";  // the service that deletes expired items

// The kinds of change come in the same order in both.
static_assert(static_cast<int>(Change::Kind::Remove) == static_cast<int>(api::ChangeKind::Remove));

// Whether all of its items could be read.
bool take_items(api::StreamRecord::Change& from, Change& change) {
  const auto take = [](std::optional<api::AnswerItem>& item, std::optional<value::Item>& to) {
    if (!item) return true;
    auto taken = std::move(*item).take();
    if (taken) to = std::move(*taken);
    return taken.ok();
  };
  std::optional<value::Item> keys;
  const bool all = take(from.keys, keys) && take(from.old_image, change.before) && take(from.new_image, change.after);
  if (keys) change.keys = std::move(*keys);
  return all;
}

Change change_from(api::StreamRecord record) {
  Change change;
  change.sequence_number = std::move(record.change.sequence_number);
  change.at = record.change.at.value_or(WallTime());
  change.unreadable = std::move(record.unreadable);
  if (change.unreadable) return change;
  change.expired = record.user && record.user->principal == kExpiry;
  if (record.kind && take_items(record.change, change)) {
    change.kind = static_cast<Change::Kind>(*record.kind);
  } else {
    change.unreadable = encode(std::move(record));
  }
  return change;
}

template <typename Request>
Result<typename Request::Answer, Problem> ask_stream(client::Client& client, Request request) {
  auto answer = client::ask(client, std::move(request));
  if (!answer) return to_problem(answer.error());
  return std::move(*answer);
}

// Parents before children, whatever the order in which the service lists them.
void sort_by_descent(std::vector<StreamShard>& shards) {
  std::vector<StreamShard> sorted;
  while (!shards.empty()) {
    std::set<std::string> left;  // a copy: partitioning moves shards about while it asks
    for (const auto& shard : shards) left.insert(shard.id);
    const auto ready = std::stable_partition(shards.begin(), shards.end(),
                                             [&](const StreamShard& shard) { return !left.contains(shard.parent); });
    if (ready == shards.begin()) break;  // no shard descends from itself
    std::move(shards.begin(), ready, std::back_inserter(sorted));
    shards.erase(shards.begin(), ready);
  }
  shards = std::move(sorted);
}

}  // namespace

Problem unreadable_change() { return unreadable_answer("GetRecords"); }

std::string change_text(const Change& change) {
  if (change.unreadable) return *change.unreadable;
  api::StreamRecord record;
  record.kind = static_cast<api::ChangeKind>(change.kind);
  record.change.at = change.at;
  record.change.sequence_number = change.sequence_number;
  record.change.keys = api::AnswerItem(change.keys);
  if (change.before) record.change.old_image = api::AnswerItem(*change.before);
  if (change.after) record.change.new_image = api::AnswerItem(*change.after);
  if (change.expired) record.user = {.principal = std::string(kExpiry), .type = "Service"};
  return encode(std::move(record));
}

Result<Change, Problem> read_change(std::string_view text) {
  auto change = change_from(api::decode_stream_record(text));
  if (change.unreadable) return unreadable_change();
  return change;
}

Result<std::vector<StreamShard>, Problem> StreamReader::shards(std::string_view stream_arn) {
  std::vector<StreamShard> shards;
  std::optional<std::string> last;
  do {
    auto stream =
        TRY(ask_stream(client_, api::DescribeStreamRequest{.arn = std::string(stream_arn), .after = last})).stream;
    for (auto& shard : stream.shards) {
      shards.push_back({.id = std::move(shard.id), .parent = std::move(shard.parent).value_or("")});
    }
    last = std::move(stream.last_shard);
  } while (last);
  sort_by_descent(shards);
  return shards;
}

Result<std::string, Problem> StreamReader::iterator(std::string_view stream_arn, std::string_view shard,
                                                    const std::optional<std::string>& after) {
  return position({.arn = std::string(stream_arn),
                   .shard = std::string(shard),
                   .type = after ? api::ShardIteratorType::AfterSequenceNumber : api::ShardIteratorType::TrimHorizon,
                   .sequence_number = after});
}

Result<std::string, Problem> StreamReader::latest(std::string_view stream_arn, std::string_view shard) {
  return position(
      {.arn = std::string(stream_arn), .shard = std::string(shard), .type = api::ShardIteratorType::Latest});
}

Result<std::string, Problem> StreamReader::position(api::GetShardIteratorRequest request) {
  return TRY(ask_stream(client_, std::move(request))).iterator;
}

Result<ChangePage, Problem> StreamReader::read(std::string_view iterator) {
  auto answer = TRY(ask_stream(client_, api::GetRecordsRequest{.iterator = std::string(iterator)}));
  ChangePage page{.changes = {}, .next = std::move(answer.next)};
  page.changes.reserve(answer.records.size());
  for (auto& record : answer.records) page.changes.push_back(change_from(std::move(record)));
  return page;
}

}  // namespace stator::runtime
