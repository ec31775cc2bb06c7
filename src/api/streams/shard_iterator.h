#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "stator/base/clock.h"
#include "stator/engine/stream/stream.h"

namespace stator::api {

inline constexpr std::chrono::minutes kShardIteratorLifetime{15};

// A place in a shard, given to a client and taken back.  The client sees the stream's ARN, "|1|" and base64 of
//
//   version:u8 = 1  begin:u64be  partition:u8  sequence:u64be  ordinal:u32be  issued:u64be (microseconds)  check:u64be
//
// where `check` is a hash of everything before it, so that a text that we did not write is told from one that we did.
struct ShardIterator {
  std::string stream_arn;
  storage::CommitSequence begin;  // of the shard
  std::uint8_t partition = 0;
  engine::ChangePosition at;  // the next record is here, or behind
  WallTime issued;

  std::string encode() const;
  static Result<ShardIterator> decode(std::string_view text);  // Errors: Validation
};

}  // namespace stator::api
