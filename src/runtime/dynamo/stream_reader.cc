#include "stator/runtime/dynamo/stream_reader.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "stator/runtime/dynamo/call.h"

namespace stator::runtime {
namespace {

using value::JsonObject;
using value::JsonWriter;

constexpr std::string_view kGetRecords = "GetRecords";

std::optional<Change::Kind> kind_of(std::string_view event_name) {
  if (event_name == "INSERT") return Change::Kind::Insert;
  if (event_name == "MODIFY") return Change::Kind::Modify;
  if (event_name == "REMOVE") return Change::Kind::Remove;
  return std::nullopt;
}

// The service gives a number, whole or not.
WallTime time_from(const JsonObject& object, std::string_view name) {
  double seconds = 0;
  if (!object[name].get(seconds)) return WallTime{};
  return WallTime{std::chrono::microseconds(std::llround(seconds * 1e6))};
}

Result<Change, Problem> change_from(const JsonObject& record) {
  const auto body = object_at(record, "dynamodb");
  const auto kind = kind_of(text_at(record, "eventName").value_or(""));
  if (!body || !kind) return unreadable_answer(kGetRecords);
  Change change{.kind = *kind,
                .sequence_number = std::string(text_at(*body, "SequenceNumber").value_or("")),
                .at = time_from(*body, "ApproximateCreationDateTime"),
                .keys = {},
                .before = {},
                .after = {},
                .expired = false,
                .text = value::json_text(record.element()),
                .unreadable = {}};
  change.keys = TRY(item_at(*body, "Keys", kGetRecords)).value_or(value::Item());
  change.before = TRY(item_at(*body, "OldImage", kGetRecords));
  change.after = TRY(item_at(*body, "NewImage", kGetRecords));
  if (const auto identity = object_at(record, "userIdentity")) {
    // Spelled with either case, by service and SDK.
    const auto principal = text_at(*identity, "PrincipalId");
    change.expired = (principal ? principal : text_at(*identity, "principalId")) == "dynamodb.amazonaws.com";
  }
  const bool complete =
      (change.kind == Change::Kind::Insert || change.before) && (change.kind == Change::Kind::Remove || change.after);
  if (!complete) {
    return Problem{.kind = ProblemKind::Invalid,
                   .code = "IncompleteRecord",
                   .message = "a record of the stream lacks an image; the stream's view must be NEW_AND_OLD_IMAGES",
                   .details = {}};
  }
  return change;
}

Change change_or_unreadable(const value::JsonElement& element) {
  JsonObject record;
  const bool is_object = element.get(record);
  auto change = is_object ? change_from(record) : Result<Change, Problem>(unreadable_answer(kGetRecords));
  if (change) return std::move(*change);
  Change unread;
  unread.text = value::json_text(element);
  unread.unreadable = change.error();
  if (const auto body = is_object ? object_at(record, "dynamodb") : std::nullopt) {
    unread.sequence_number = text_at(*body, "SequenceNumber").value_or("");
    unread.at = time_from(*body, "ApproximateCreationDateTime");
  }
  return unread;
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

Result<Change, Problem> read_change(std::string_view text) {
  const auto answer = TRY(Answer::read(kGetRecords, text));
  return change_from(answer.root());
}

Result<std::vector<StreamShard>, Problem> StreamReader::shards(std::string_view stream_arn) {
  std::vector<StreamShard> shards;
  std::string last;
  do {
    std::string body;
    JsonWriter json(body);
    json.begin_object().key("StreamArn").string(stream_arn);
    if (!last.empty()) json.key("ExclusiveStartShardId").string(last);
    json.end_object();
    const auto answer = TRY(ask_json(client_, "DescribeStream", body));
    const auto description = object_at(answer.root(), "StreamDescription");
    if (!description) return unreadable_answer("DescribeStream");
    for (const auto& element : array_at(*description, "Shards")) {
      JsonObject shard;
      if (!element.get(shard)) return unreadable_answer("DescribeStream");
      shards.push_back({.id = std::string(text_at(shard, "ShardId").value_or("")),
                        .parent = std::string(text_at(shard, "ParentShardId").value_or(""))});
    }
    last = text_at(*description, "LastEvaluatedShardId").value_or("");
  } while (!last.empty());
  sort_by_descent(shards);
  return shards;
}

Result<std::string, Problem> StreamReader::iterator(std::string_view stream_arn, std::string_view shard,
                                                    const std::optional<std::string>& after) {
  return position(stream_arn, shard, after ? "AFTER_SEQUENCE_NUMBER" : "TRIM_HORIZON", after);
}

Result<std::string, Problem> StreamReader::latest(std::string_view stream_arn, std::string_view shard) {
  return position(stream_arn, shard, "LATEST", std::nullopt);
}

Result<std::string, Problem> StreamReader::position(std::string_view stream_arn, std::string_view shard,
                                                    std::string_view type, const std::optional<std::string>& after) {
  std::string body;
  JsonWriter json(body);
  json.begin_object().key("StreamArn").string(stream_arn).key("ShardId").string(shard);
  json.key("ShardIteratorType").string(type);
  if (after) json.key("SequenceNumber").string(*after);
  json.end_object();
  const auto answer = TRY(ask_json(client_, "GetShardIterator", body));
  const auto iterator = text_at(answer.root(), "ShardIterator");
  if (!iterator) return unreadable_answer("GetShardIterator");
  return std::string(*iterator);
}

Result<ChangePage, Problem> StreamReader::read(std::string_view iterator) {
  std::string body;
  JsonWriter(body).begin_object().key("ShardIterator").string(iterator).end_object();
  const auto answer = TRY(ask_json(client_, kGetRecords, body));
  ChangePage page;
  for (const auto& element : array_at(answer.root(), "Records")) {
    page.changes.push_back(change_or_unreadable(element));
  }
  if (const auto next = text_at(answer.root(), "NextShardIterator")) page.next = std::string(*next);
  return page;
}

}  // namespace stator::runtime
