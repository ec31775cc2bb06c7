#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/api/answer_item.h"
#include "stator/api/tables/table_operations.h"
#include "stator/base/wall_time.h"

// The operations on streams as types.
namespace stator::api {

struct StreamSummary {
  std::string arn, table, label;
};
struct ListStreamsAnswer {
  std::vector<StreamSummary> streams;
  std::optional<std::string> last_arn = {};  // there is more behind it
};
struct ListStreamsRequest {
  using Answer = ListStreamsAnswer;
  std::optional<std::string> table = {};
  std::optional<std::int64_t> limit = {};
  std::optional<std::string> after = {};  // an ARN
};

struct ShardDescription {
  struct Range {
    std::optional<std::string> first = {}, last = {};  // sequence numbers; a shard that is open has no last one
  };
  std::string id;
  Range range = {};
  std::optional<std::string> parent = {};
};
struct StreamDescription {
  std::string arn, label, status;  // "ENABLED"
  std::optional<StreamView> view = {};
  std::optional<WallTime> created = {};
  std::string table;
  std::vector<KeyElement> keys = {};
  std::vector<ShardDescription> shards = {};
  std::optional<std::string> last_shard = {};  // there is more behind it
};
struct DescribeStreamAnswer {
  StreamDescription stream;
};
struct DescribeStreamRequest {
  using Answer = DescribeStreamAnswer;
  struct Filter {
    std::string type = "CHILD_SHARDS";
    std::string shard;
  };
  std::string arn;
  std::optional<std::int64_t> limit = {};
  std::optional<std::string> after = {};  // a shard
  std::optional<Filter> filter = {};
};

enum class ShardIteratorType : std::uint8_t { TrimHorizon, Latest, AtSequenceNumber, AfterSequenceNumber };
struct GetShardIteratorAnswer {
  std::string iterator;
};
struct GetShardIteratorRequest {
  using Answer = GetShardIteratorAnswer;
  std::string arn, shard;
  ShardIteratorType type = ShardIteratorType::TrimHorizon;
  std::optional<std::string> sequence_number = {};
};

enum class ChangeKind : std::uint8_t { Insert, Modify, Remove };
struct StreamRecord {
  struct Change {
    std::optional<WallTime> at = {};
    std::optional<AnswerItem> keys = {}, new_image = {}, old_image = {};
    std::string sequence_number;
    std::int64_t size_bytes = 0;
    std::optional<StreamView> view = {};
  };
  struct Identity {
    std::string principal, type;
  };
  std::string event_id;
  std::optional<ChangeKind> kind = {};
  std::string version, source, region;
  Change change = {};
  std::optional<Identity> user = {};
  // The JSON of a record of a remote endpoint that cannot be read. The other members are set as far as they could be
  // read.
  std::optional<std::string> unreadable = {};
};
struct GetRecordsAnswer {
  std::vector<StreamRecord> records;
  std::optional<std::string> next = {};  // the iterator to go on with; none: the shard was read to its end
};
struct GetRecordsRequest {
  using Answer = GetRecordsAnswer;
  std::string iterator;
  std::optional<std::int64_t> limit = {};
};

// A record as JSON, and back.
std::string encode(StreamRecord record);
StreamRecord decode_stream_record(std::string_view json);

}  // namespace stator::api
