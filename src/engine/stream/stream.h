#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/engine/catalog.h"
#include "stator/engine/keyspace.h"
#include "stator/engine/lease.h"
#include "stator/engine/schema.h"
#include "stator/engine/stream/change_log.h"
#include "stator/engine/write/pending_commit.h"

// Streams: the change log of a table, as shards that clients read.  docs/internals/streams.md tells how and why.
namespace stator::engine {

// How long a change can be read, and how long a stream that has ended is still there.
inline constexpr std::chrono::hours kStreamRetention{24};
// How long shards take records before others follow them.
inline constexpr std::chrono::hours kShardLifetime{4};

// Kept at the commit where shards begin, or where the stream ends: no change is part of that commit.
//
//   version:u8 = 1  kind:u8  time:u64be (microseconds)  previous:u64be
//
// On disk; docs/formats/streams.md shows an example.
struct StreamMarker {
  enum class Kind : std::uint8_t { Shards = 0, End = 1 };
  Kind kind = Kind::Shards;
  WallTime time;
  storage::CommitSequence previous;  // where the shards before these begin; 0: there were none

  Bytes encode() const;
  static Result<StreamMarker> decode(BytesView bytes);  // Errors: Corruption
};

// A part of a stream: the changes of one partition of the change log from one marker to the next.
struct Shard {
  std::string id;
  std::string parent;  // empty when it has none
  std::uint8_t partition = 0;
  storage::CommitSequence begin;               // its changes were committed after this
  std::optional<storage::CommitSequence> end;  // and before this; nullopt while it is open

  ChangePosition first() const { return {begin, 0}; }
  // Of a closed shard.
  ChangePosition last() const;
};

struct StreamState {
  Table table;  // as it was when the stream was enabled
  bool enabled = false;
  std::vector<Shard> shards;  // in the order of their ids; parents before children

  const Shard* find(std::string_view shard_id) const;
};

// -- part of the commit that changes a table

// Starts a stream on a table with a stream in its record: gives it a label that no stream of the name has had.
// Errors: Storage.
Result<void> open_stream(PendingCommit& commit, Table& table);
void close_stream(PendingCommit& commit, const Table& table);

// -- reading

// The tables of all streams, or of those of one name, as they were when the stream was enabled; the newest first.
// Errors: Storage, Corruption.
Result<std::vector<Table>> list_streams(const storage::Snapshot& snapshot, std::optional<std::string_view> table_name);
// nullopt when there is none.  `partitions`: of the change log, see change_partitions().  Errors: Storage, Corruption.
Result<std::optional<StreamState>> read_stream(const storage::Snapshot& snapshot, std::uint8_t partitions,
                                               std::string_view table_name, std::string_view label);
// Changes before this commit are gone.
storage::CommitSequence trim_horizon(const storage::Snapshot& snapshot);

struct StreamRecord {
  ChangePosition at;
  ChangeRecord change;
};
struct ShardPage {
  std::vector<StreamRecord> records;
  std::optional<ChangePosition> next;  // where to go on; nullopt when the shard is closed and was read to its end
};
// The records of a shard from `from` on, at most `limit` and 1 MB (but at least one).  `shard` was read from the same
// snapshot: in a later one it may have been closed.  `seen` is a commit in the lane of the shard that the snapshot is
// known to see.
// Errors: TrimmedData, Storage, Corruption.
Result<ShardPage> read_shard(const storage::Snapshot& snapshot, storage::CommitSequence seen, TableId table,
                             const Shard& shard, ChangePosition from, std::size_t limit);

ChangePosition after(ChangePosition position);

// A position as a SequenceNumber: 31 decimal digits that sort as the positions do, also as text.
std::string to_sequence_number(ChangePosition position);
std::optional<ChangePosition> parse_sequence_number(std::string_view text);

// -- upkeep

// The keys to erase: of streams that ended before `cutoff`, and of shards whose changes are all before `keep_from`.
// Errors: Storage, Corruption.
Result<std::vector<storage::KeyRange>> outdated_streams(const storage::Snapshot& snapshot, std::uint8_t partitions,
                                                        WallTime cutoff, storage::CommitSequence keep_from);
// Closes the shards that have had their time and have changes in them, and begins their children.  nullptr when there
// is nothing to do.  `rolling` is false again when the work is finished: one begun before would divide the same shards
// a second time.  Both outlive the work.  Errors: Storage, Corruption.
Result<std::unique_ptr<Work>> roll_shards(const storage::Snapshot& snapshot, std::uint8_t partitions,
                                          const Catalog& catalog, WallTime now, std::atomic<bool>& rolling,
                                          const Lease& lease);

}  // namespace stator::engine
