#include "stator/engine/stream/stream.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>

#include "stator/base/log.h"
#include "stator/engine/range_read.h"

namespace stator::engine {
namespace {

constexpr char kMarkerVersion = 1;
constexpr std::size_t kMarkerBytes = 1 + 1 + 8 + 8;

// "2026-01-15T10:00:00.000"
std::string label_of(WallTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(time - seconds).count();
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}", fmt::gmtime(seconds.time_since_epoch().count()), millis);
}

// All changes before it belong to the shards before it, in every partition.
void put_marker(PendingCommit& commit, const Table& table, StreamMarker marker) {
  commit.make_barrier();
  marker.time = commit.time();
  auto key = stream_marker_key(table.name, table.stream.label);
  const auto sequence_at = key.size() - 8;
  commit.put_sequenced(std::move(key), sequence_at, marker.encode());
}

struct MarkerAt {
  storage::CommitSequence at;
  StreamMarker marker;
};

Result<std::vector<MarkerAt>> read_markers(const storage::Snapshot& snapshot, const Table& table) {
  std::vector<MarkerAt> markers;
  const auto cursor = snapshot.cursor(stream_markers(table.name, table.stream.label), storage::Direction::Forward);
  for (; cursor->valid(); cursor->next()) {
    const auto key = cursor->key();
    auto marker = TRY(StreamMarker::decode(cursor->value()));
    markers.push_back({{read_u64be(key.data() + key.size() - 8)}, std::move(marker)});
  }
  TRY(cursor->status());
  return markers;
}

// Shards of different streams have different ids even where they begin with the same commit.
std::uint32_t stream_hash(const Table& table) {
  return static_cast<std::uint32_t>(partition_hash(stream_key(table.name, table.stream.label)));
}

// The partition is in the highest bits of the last part, so that ids sort as the shards do.
std::string shard_id(storage::CommitSequence begin, std::uint8_t partition, std::uint8_t partitions,
                     std::uint32_t hash) {
  const auto bits = std::countr_zero(partitions);
  return fmt::format("shardId-{:020}-{:08x}", begin.value, (std::uint32_t{partition} << (32 - bits)) | (hash >> bits));
}

std::size_t size_of(const ChangeRecord& change) {
  return change.keys.item_size_bytes() + (change.new_image ? change.new_image->item_size_bytes() : 0) +
         (change.old_image ? change.old_image->item_size_bytes() : 0);
}

Result<bool> has_changes_after(const storage::Snapshot& snapshot, std::uint8_t partitions, TableId table,
                               storage::CommitSequence begin) {
  for (std::uint8_t partition = 0; partition < partitions; ++partition) {
    const auto prefix = change_partition_prefix(table, partition);
    const auto cursor =
        snapshot.cursor({change_key_at(prefix, begin), prefix_end(prefix)}, storage::Direction::Forward);
    if (cursor->valid()) return true;
    TRY(cursor->status());
  }
  return false;
}

class RollShards final : public Work {
 public:
  struct Roll {
    Table table;
    storage::CommitSequence from;
  };
  RollShards(std::vector<Roll> rolls, const Catalog& catalog, std::atomic<bool>& rolling, const Lease& lease)
      : rolls_(std::move(rolls)), catalog_(catalog), rolling_(rolling), lease_(lease) {}

  void will_read(std::vector<KeyBytes>& keys) const override { keys.push_back(lease_key()); }
  void execute(PendingCommit& commit) override {
    if (!lease_.check(commit)) return;
    for (const auto& roll : rolls_) {
      const auto current = catalog_.find(roll.table.id);
      const bool still_open =
          current != nullptr && current->stream.enabled && current->stream.label == roll.table.stream.label;
      if (still_open)
        put_marker(commit, roll.table, {.kind = StreamMarker::Kind::Shards, .time = {}, .previous = roll.from});
    }
  }
  void finish(const Result<storage::CommitSequence>& committed) override {
    if (!committed) log::warning("stream_shards_not_renewed", {{"cause", committed.error().message}});
    rolling_.store(false, std::memory_order_release);
  }
  bool alone() const override { return true; }  // so that no change is part of the commit that divides them

 private:
  std::vector<Roll> rolls_;
  const Catalog& catalog_;
  std::atomic<bool>& rolling_;
  const Lease& lease_;
};

}  // namespace

// -- records

Bytes StreamMarker::encode() const {
  Bytes out(1, kMarkerVersion);
  out.push_back(static_cast<char>(kind));
  append_u64be(out, static_cast<std::uint64_t>(time.time_since_epoch().count()));
  append_u64be(out, previous.value);
  return out;
}

Result<StreamMarker> StreamMarker::decode(BytesView bytes) {
  if (bytes.size() != kMarkerBytes || bytes[0] != kMarkerVersion || bytes[1] < 0 || bytes[1] > 1) {
    return Error{ErrorCode::Corruption, "stream marker has an unknown format"};
  }
  const auto micros = static_cast<std::int64_t>(read_u64be(bytes.data() + 2));
  return StreamMarker{
      static_cast<Kind>(bytes[1]), WallTime{std::chrono::microseconds{micros}}, {read_u64be(bytes.data() + 10)}};
}

ChangePosition Shard::last() const { return {{end->value - 1}, UINT32_MAX}; }

const Shard* StreamState::find(std::string_view shard_id) const {
  const auto found =
      std::find_if(shards.begin(), shards.end(), [&](const Shard& shard) { return shard.id == shard_id; });
  return found == shards.end() ? nullptr : &*found;
}

// -- part of the commit that changes a table

Result<void> open_stream(PendingCommit& commit, Table& table) {
  auto time = commit.time();
  for (;; time += std::chrono::milliseconds(1)) {
    table.stream.label = label_of(time);
    if (!TRY(commit.get(stream_key(table.name, table.stream.label)))) break;
  }
  table.stream.since = commit.time();
  commit.put(stream_key(table.name, table.stream.label), encode_table(table));
  put_marker(commit, table, {.kind = StreamMarker::Kind::Shards, .time = {}, .previous = {}});
  return {};
}

void close_stream(PendingCommit& commit, const Table& table) {
  put_marker(commit, table, {.kind = StreamMarker::Kind::End, .time = {}, .previous = {}});
}

// -- reading

Result<std::vector<Table>> list_streams(const storage::Snapshot& snapshot, std::optional<std::string_view> table_name) {
  std::vector<Table> streams;
  const auto cursor =
      snapshot.cursor(table_name ? streams_of(*table_name) : all_streams(), storage::Direction::Forward);
  for (; cursor->valid(); cursor->next()) streams.push_back(TRY(decode_table(cursor->value())));
  TRY(cursor->status());
  std::sort(streams.begin(), streams.end(), [](const Table& a, const Table& b) {
    return std::tie(a.stream.label, a.name) > std::tie(b.stream.label, b.name);
  });
  return streams;
}

Result<std::optional<StreamState>> read_stream(const storage::Snapshot& snapshot, std::uint8_t partitions,
                                               std::string_view table_name, std::string_view label) {
  const auto record = TRY(snapshot.get(stream_key(table_name, label)));
  if (!record) return std::optional<StreamState>();
  StreamState stream{.table = TRY(decode_table(*record)), .enabled = true, .shards = {}};
  const auto markers = TRY(read_markers(snapshot, stream.table));
  const auto hash = stream_hash(stream.table);
  for (std::size_t i = 0; i < markers.size(); ++i) {
    const auto& [at, marker] = markers[i];
    if (marker.kind == StreamMarker::Kind::End) {
      stream.enabled = false;
      break;
    }
    const auto previous = i > 0 ? markers[i - 1].at : marker.previous;
    for (std::uint8_t partition = 0; partition < partitions; ++partition) {
      const auto id_from = [&](storage::CommitSequence begin) { return shard_id(begin, partition, partitions, hash); };
      stream.shards.push_back({.id = id_from(at),
                               .parent = previous.value > 0 ? id_from(previous) : std::string(),
                               .partition = partition,
                               .begin = at,
                               .end = {}});
      if (i + 1 < markers.size()) stream.shards.back().end = markers[i + 1].at;
    }
  }
  return std::optional<StreamState>(std::move(stream));
}

storage::CommitSequence trim_horizon(const storage::Snapshot& snapshot) {
  // Times of commits are kept as long as changes are.
  const auto times = snapshot.cursor(storage::KeyRange::prefix(commit_time_prefix()), storage::Direction::Forward);
  if (!times->valid() || times->key().size() != kCommitTimeSequenceAt + 8) return {};
  return {read_u64be(times->key().data() + kCommitTimeSequenceAt)};
}

Result<ShardPage> read_shard(const storage::Snapshot& snapshot, storage::CommitSequence seen, TableId table,
                             const Shard& shard, ChangePosition from, std::size_t limit) {
  if (from.sequence < trim_horizon(snapshot)) {
    return Error{ErrorCode::TrimmedData, "The operation attempted to read past the oldest stream record in a shard."};
  }
  from = std::max(from, shard.first());
  const auto prefix = change_partition_prefix(table, shard.partition);
  const storage::KeyRange range{change_key_at(table, shard.partition, from.sequence, from.ordinal),
                                shard.end ? change_key_at(prefix, *shard.end) : prefix_end(prefix)};
  ShardPage page;
  if (range.begin >= range.end) return page;  // behind the end of a closed shard
  std::size_t bytes = 0;
  const auto cursor = snapshot.cursor(range, storage::Direction::Forward);
  for (; cursor->valid(); cursor->next()) {
    const auto at = position_of_change(cursor->key());
    if (!at) return Error{ErrorCode::Corruption, "change record has an unknown key"};
    auto change = TRY(ChangeRecord::decode(cursor->value()));
    bytes += size_of(change);
    if (page.records.size() == limit || (!page.records.empty() && bytes > kMaxPageBytes)) {
      page.next = at;
      return page;
    }
    page.records.push_back({*at, std::move(change)});
  }
  TRY(cursor->status());
  if (!shard.end) {
    // Not simply behind the last record: in a shard without traffic that would be trimmed one day.
    page.next = std::max(from, {{seen.value + 1}, 0});
    if (!page.records.empty()) page.next = std::max(*page.next, after(page.records.back().at));
  }
  return page;
}

ChangePosition after(ChangePosition position) {
  if (position.ordinal == UINT32_MAX) return {{position.sequence.value + 1}, 0};
  return {position.sequence, position.ordinal + 1};
}

// '1', so that no digit is lost as a number, then the sequence and the ordinal.
std::string to_sequence_number(ChangePosition position) {
  return fmt::format("1{:020}{:010}", position.sequence.value, position.ordinal);
}

std::optional<ChangePosition> parse_sequence_number(std::string_view text) {
  if (text.size() != 31 || text[0] != '1' || text.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  ChangePosition position;
  const auto read = [](std::string_view digits, auto& number) {
    return std::from_chars(digits.data(), digits.data() + digits.size(), number).ec == std::errc();
  };
  if (!read(text.substr(1, 20), position.sequence.value) || !read(text.substr(21), position.ordinal))
    return std::nullopt;
  return position;
}

// -- upkeep

Result<std::vector<storage::KeyRange>> outdated_streams(const storage::Snapshot& snapshot, std::uint8_t partitions,
                                                        WallTime cutoff, storage::CommitSequence keep_from) {
  std::vector<storage::KeyRange> ranges;
  const auto cursor = snapshot.cursor(all_streams(), storage::Direction::Forward);
  for (; cursor->valid(); cursor->next()) {
    const auto table = TRY(decode_table(cursor->value()));
    const auto markers = TRY(read_markers(snapshot, table));
    if (markers.empty()) continue;
    const auto& [last_at, last] = markers.back();
    if (last.kind == StreamMarker::Kind::End && last.time <= cutoff) {
      Bytes key(cursor->key());
      ranges.push_back({key, key + '\0'});
      ranges.push_back(stream_markers(table.name, table.stream.label));
      for (std::uint8_t partition = 0; partition < partitions; ++partition) {
        const auto prefix = change_partition_prefix(table.id, partition);
        ranges.push_back({change_key_at(prefix, markers.front().at), change_key_at(prefix, last_at)});
      }
      continue;
    }
    for (std::size_t i = 0; i + 1 < markers.size() && markers[i + 1].at <= keep_from; ++i) {
      auto key = stream_marker_key(table.name, table.stream.label, markers[i].at);
      auto end = key + '\0';
      ranges.push_back({std::move(key), std::move(end)});
    }
  }
  TRY(cursor->status());
  return ranges;
}

Result<std::unique_ptr<Work>> roll_shards(const storage::Snapshot& snapshot, std::uint8_t partitions,
                                          const Catalog& catalog, WallTime now, std::atomic<bool>& rolling,
                                          const Lease& lease) {
  std::vector<RollShards::Roll> rolls;
  for (const auto& table : catalog.all()) {
    if (!table->stream.enabled) continue;
    const auto markers = TRY(read_markers(snapshot, *table));
    if (markers.empty() || markers.back().marker.kind != StreamMarker::Kind::Shards) continue;
    const auto& [at, marker] = markers.back();
    if (now - marker.time < kShardLifetime) continue;
    if (TRY(has_changes_after(snapshot, partitions, table->id, at))) rolls.push_back({*table, at});
  }
  if (rolls.empty()) return std::unique_ptr<Work>();
  return std::unique_ptr<Work>(std::make_unique<RollShards>(std::move(rolls), catalog, rolling, lease));
}

}  // namespace stator::engine
