#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/clock.h"
#include "stator/client/client.h"
#include "stator/runtime/problem.h"
#include "stator/value/attribute_value.h"

namespace stator::runtime {

// One change of one row, as the table's stream tells it.
struct Change {
  enum class Kind : std::uint8_t { Insert, Modify, Remove };
  Kind kind = Kind::Insert;
  std::string sequence_number;
  WallTime at;  // to the second
  value::Item keys;
  std::optional<value::Item> before;  // absent for an insert
  std::optional<value::Item> after;   // absent for a removal
  bool expired = false;               // removed by the table's time to live
  // The JSON of a record that could not be read; then only its number and its time may be there.
  std::optional<std::string> unreadable;
};

// A record as JSON, for one that is parked, and back.  Problems: Unavailable, when it is none.
std::string change_text(const Change& change);
Result<Change, Problem> read_change(std::string_view text);

Problem unreadable_change();

struct StreamShard {
  std::string id;
  std::string parent;  // empty when it has none
};

// A record that cannot be read is among them, marked as such, so that later records need not wait for it.
struct ChangePage {
  std::vector<Change> changes;
  std::optional<std::string> next;  // the iterator to go on with; nullopt: the shard is closed and was read to its end
};

// The Streams API as blocking calls.
//
// Two answers are the caller's to act on, and are problems with these codes: kTrimmed, when the position is older than
// the stream's oldest record, and kExpired, when an iterator was not used for too long.  Thread-safe.
class StreamReader {
 public:
  static constexpr std::string_view kTrimmed = "TrimmedDataAccessException";
  static constexpr std::string_view kExpired = "ExpiredIteratorException";

  explicit StreamReader(client::Client& client) : client_(client) {}  // outlives the reader

  // Parents before children.
  Result<std::vector<StreamShard>, Problem> shards(std::string_view stream_arn);
  // Behind the record of that number, or at the oldest record there is.
  Result<std::string, Problem> iterator(std::string_view stream_arn, std::string_view shard,
                                        const std::optional<std::string>& after);
  // The position behind the newest record.
  Result<std::string, Problem> latest(std::string_view stream_arn, std::string_view shard);
  Result<ChangePage, Problem> read(std::string_view iterator);

 private:
  Result<std::string, Problem> position(api::GetShardIteratorRequest request);

  client::Client& client_;
};

}  // namespace stator::runtime
