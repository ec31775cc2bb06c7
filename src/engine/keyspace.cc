#include "stator/engine/keyspace.h"

#include "stator/engine/item_rules.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace stator::engine {
namespace {

constexpr std::size_t kPrefixBytes = 1 + 4 + 2;
constexpr std::size_t kHashBytes = 8;

void append_escaped(KeyBytes& out, BytesView bytes) {
  std::size_t start = 0;
  for (;;) {
    const auto zero = bytes.find('\0', start);
    if (zero == BytesView::npos) break;
    out.append(bytes.substr(start, zero - start));
    out.append("\x00\xFF", 2);
    start = zero + 1;
  }
  out.append(bytes.substr(start));
  out.append("\x00\x01", 2);
}

void append_prefix(KeyBytes& out, TableId table, IndexId index) {
  out.push_back('i');
  append_u32be(out, table.value);
  append_u16be(out, index.value);
}

KeyBytes table_prefix(char space, TableId table) {
  KeyBytes key(1, space);
  append_u32be(key, table.value);
  return key;
}

// The value of a key attribute, or nullptr where the item lacks it or has it with another type.
const value::AttributeValue* key_value(const KeyAttribute& attribute, const value::AttributeMap& item) {
  const auto* found = item.find(attribute.name);
  return found != nullptr && found->type() == attribute.type ? found : nullptr;
}

// DynamoDB refuses empty key values in a table and leaves such items out of an index.
bool is_empty_key(const value::AttributeValue& value) {
  if (const auto* text = value.as_string()) return text->empty();
  if (const auto* binary = value.as_binary()) return binary->bytes.empty();
  return false;
}

// Appends the fields; false when one is missing, or longer than a key may be.
bool append_fields(KeyBytes& out, const std::vector<KeyAttribute>& attributes, const value::AttributeMap& item,
                   std::size_t max_bytes) {
  for (const auto& attribute : attributes) {
    const auto* field = key_value(attribute, item);
    if (field == nullptr || is_empty_key(*field) || key_value_size(*field) > max_bytes) return false;
    append_field(out, *field);
  }
  return true;
}

// Puts the hash of the partition fields, which begin at kPrefixBytes + kHashBytes, into the place left for it.
void fill_hash(KeyBytes& key) {
  const auto hash = partition_hash(BytesView(key).substr(kPrefixBytes + kHashBytes));
  KeyBytes encoded;
  append_u64be(encoded, hash);
  std::memcpy(key.data() + kPrefixBytes, encoded.data(), kHashBytes);
}

}  // namespace

void append_field(KeyBytes& out, const value::AttributeValue& value) {
  if (const auto* text = value.as_string()) {
    append_escaped(out, *text);
  } else if (const auto* number = value.as_number()) {
    number->append_ordered(out);
  } else if (const auto* binary = value.as_binary()) {
    append_escaped(out, binary->bytes);
  } else {
    STATOR_ASSERT(false, "a key value is S, N or B");
  }
}

std::uint64_t partition_hash(BytesView partition_fields) {
  return XXH3_64bits(partition_fields.data(), partition_fields.size());
}

std::uint8_t change_partitions(std::uint32_t lanes) {
  return static_cast<std::uint8_t>(std::max<std::uint32_t>(kLeastChangePartitions, lanes));
}

std::uint8_t change_partition(std::uint64_t hash, std::uint8_t partitions) {
  return static_cast<std::uint8_t>(hash >> (64 - std::countr_zero(partitions)));
}

KeyBytes item_key(const Table& table, const value::AttributeMap& item) {
  const auto append = [&](KeyBytes& key, const std::vector<KeyAttribute>& attributes) {
    for (const auto& attribute : attributes) {
      const auto* field = key_value(attribute, item);
      STATOR_ASSERT(field != nullptr, "the key attributes were checked");
      append_field(key, *field);
    }
  };
  KeyBytes key;
  key.reserve(96);
  append_prefix(key, table.id, kBaseIndex);
  key.append(kHashBytes, '\0');
  append(key, table.keys.partition);
  fill_hash(key);
  append(key, table.keys.sort);
  return key;
}

std::optional<KeyBytes> index_key(const Table& table, const Index& index, const value::AttributeMap& item) {
  KeyBytes key;
  key.reserve(128);
  append_prefix(key, table.id, index.id);
  key.append(kHashBytes, '\0');
  if (!append_fields(key, index.keys.partition, item, kMaxPartitionKeyBytes)) return std::nullopt;
  fill_hash(key);
  if (!append_fields(key, index.keys.sort, item, kMaxSortKeyBytes)) return std::nullopt;
  if (!append_fields(key, table.keys.partition, item, kMaxPartitionKeyBytes) ||
      !append_fields(key, table.keys.sort, item, kMaxSortKeyBytes))
    return std::nullopt;
  return key;
}

KeyBytes index_prefix(TableId table, IndexId index) {
  KeyBytes key;
  append_prefix(key, table, index);
  return key;
}

KeyBytes partition_prefix(TableId table, IndexId index, const std::vector<const value::AttributeValue*>& partition) {
  KeyBytes key;
  key.reserve(96);
  append_prefix(key, table, index);
  key.append(kHashBytes, '\0');
  for (const auto* field : partition) append_field(key, *field);
  fill_hash(key);
  return key;
}

storage::KeyRange segment_range(TableId table, IndexId index, std::uint32_t segment, std::uint32_t total) {
  const auto boundary = [&](std::uint32_t at) {
    KeyBytes key = index_prefix(table, index);
    const auto hash = (static_cast<unsigned __int128>(at) << 64) / total;
    append_u64be(key, static_cast<std::uint64_t>(hash));
    return key;
  };
  return {boundary(segment), segment + 1 == total ? prefix_end(index_prefix(table, index)) : boundary(segment + 1)};
}

std::uint64_t hash_of_key(BytesView key) {
  STATOR_ASSERT(key.size() >= kPrefixBytes + kHashBytes, "an item key holds a hash");
  return read_u64be(key.data() + kPrefixBytes);
}

storage::KeyRange all_items() { return storage::KeyRange::prefix("i"); }

std::optional<TableId> table_of_item(BytesView key) {
  if (key.size() < kPrefixBytes || key.front() != 'i') return std::nullopt;
  return TableId{read_u32be(key.data() + 1)};
}

storage::KeyRange table_items(TableId table) { return storage::KeyRange::prefix(table_prefix('i', table)); }

KeyBytes build_progress_key(TableId table, IndexId index) {
  KeyBytes key = table_prefix('b', table);
  append_u16be(key, index.value);
  return key;
}

storage::KeyRange table_build_progress(TableId table) { return storage::KeyRange::prefix(table_prefix('b', table)); }

KeyBytes table_record_key(std::string_view name) { return KeyBytes("ct").append(name); }
storage::KeyRange all_table_records() { return storage::KeyRange::prefix("ct"); }
KeyBytes last_table_id_key() { return "cn"; }
KeyBytes signed_only_key() { return "ck"; }
KeyBytes lease_key() { return "cl"; }
KeyBytes server_text_key(std::string_view name) { return KeyBytes("cf").append(name); }
KeyBytes copy_mark_key() { return KeyBytes("cy"); }

KeyBytes remains_key(TableId table, IndexId index) {
  KeyBytes key = "cr";
  append_u32be(key, table.value);
  append_u16be(key, index.value);
  return key;
}
storage::KeyRange all_remains() { return storage::KeyRange::prefix("cr"); }

KeyBytes statistic_key(TableId table, IndexId index, Statistic statistic) {
  KeyBytes key = table_prefix('s', table);
  append_u16be(key, index.value);
  key.push_back(static_cast<char>(statistic));
  return key;
}
storage::KeyRange all_statistics() { return storage::KeyRange::prefix("s"); }
storage::KeyRange table_statistics(TableId table) { return storage::KeyRange::prefix(table_prefix('s', table)); }

KeyBytes collection_size_key(TableId table, const value::AttributeValue& partition) {
  KeyBytes key = table_prefix('p', table);
  append_field(key, partition);
  return key;
}
storage::KeyRange table_collection_sizes(TableId table) { return storage::KeyRange::prefix(table_prefix('p', table)); }

KeyBytes change_partition_prefix(TableId table, std::uint8_t partition) {
  KeyBytes key = table_prefix('l', table);
  key.push_back(static_cast<char>(partition));
  return key;
}

KeyBytes change_key(TableId table, std::uint8_t partition, std::uint32_t ordinal) {
  KeyBytes key = change_partition_prefix(table, partition);
  key.append(8, '\0');
  append_u32be(key, ordinal);
  return key;
}

KeyBytes change_key_at(BytesView prefix, storage::CommitSequence sequence) {
  KeyBytes key(prefix);
  append_u64be(key, sequence.value);
  return key;
}

KeyBytes change_key_at(TableId table, std::uint8_t partition, storage::CommitSequence sequence, std::uint32_t ordinal) {
  KeyBytes key = change_key_at(change_partition_prefix(table, partition), sequence);
  append_u32be(key, ordinal);
  return key;
}

std::optional<ChangePosition> position_of_change(BytesView key) {
  if (key.size() != kChangeSequenceAt + 8 + 4) return std::nullopt;
  return ChangePosition{{read_u64be(key.data() + kChangeSequenceAt)}, read_u32be(key.data() + kChangeSequenceAt + 8)};
}

KeyBytes change_log_prefix() { return "l"; }

KeyBytes stream_key(std::string_view table_name, std::string_view label) {
  KeyBytes key = "rd";
  append_escaped(key, table_name);
  append_escaped(key, label);
  return key;
}

storage::KeyRange streams_of(std::string_view table_name) {
  KeyBytes key = "rd";
  append_escaped(key, table_name);
  return storage::KeyRange::prefix(key);
}

storage::KeyRange all_streams() { return storage::KeyRange::prefix("rd"); }

KeyBytes stream_marker_key(std::string_view table_name, std::string_view label) {
  return stream_marker_key(table_name, label, {});
}

KeyBytes stream_marker_key(std::string_view table_name, std::string_view label, storage::CommitSequence sequence) {
  KeyBytes key = "rm";
  append_escaped(key, table_name);
  append_escaped(key, label);
  append_u64be(key, sequence.value);
  return key;
}

storage::KeyRange stream_markers(std::string_view table_name, std::string_view label) {
  KeyBytes prefix = stream_marker_key(table_name, label);
  prefix.resize(prefix.size() - 8);
  return storage::KeyRange::prefix(prefix);
}

storage::KeyRange all_stream_markers() { return storage::KeyRange::prefix("rm"); }

KeyBytes request_token_key(std::string_view token) { return KeyBytes("t").append(token); }
storage::KeyRange all_request_tokens() { return storage::KeyRange::prefix("t"); }

KeyBytes commit_time_key(storage::CommitSequence sequence) {
  KeyBytes key = commit_time_prefix();
  append_u64be(key, sequence.value);
  return key;
}
KeyBytes commit_time_prefix() { return "q"; }

namespace {

KeyBytes expiry_prefix(TableId table) {
  KeyBytes key = "xe";
  append_u32be(key, table.value);
  return key;
}
constexpr std::size_t kExpiryAt = 2 + 4;

}  // namespace

KeyBytes expiry_key(BytesView item_key, std::uint64_t expiry) {
  KeyBytes key = expiry_prefix(TableId{read_u32be(item_key.data() + 1)});
  append_u64be(key, expiry);
  key.append(item_key.substr(kPrefixBytes));
  return key;
}

storage::KeyRange expiries_between(TableId table, std::uint64_t first, std::uint64_t last) {
  storage::KeyRange range{expiry_prefix(table), expiry_prefix(table)};
  append_u64be(range.begin, first);
  append_u64be(range.end, last);
  range.end = prefix_end(range.end);
  return range;
}

storage::KeyRange table_expiries(TableId table) { return storage::KeyRange::prefix(expiry_prefix(table)); }

std::optional<ExpiryEntry> expiry_entry(BytesView key) {
  if (key.size() < kExpiryAt + 8 + kHashBytes) return std::nullopt;
  ExpiryEntry entry{read_u64be(key.data() + kExpiryAt), {}};
  append_prefix(entry.item_key, TableId{read_u32be(key.data() + 2)}, kBaseIndex);
  entry.item_key.append(key.substr(kExpiryAt + 8));
  return entry;
}

KeyBytes expiry_progress_key(TableId table) {
  KeyBytes key = "xp";
  append_u32be(key, table.value);
  return key;
}

// -- lanes

namespace {

// The number at `at`; what is missing of it is zero, so that the order stays that of the keys.
std::uint64_t hash_at(BytesView key, std::size_t at) {
  KeyBytes bytes(key.size() > at ? key.substr(at, kHashBytes) : BytesView());
  bytes.resize(kHashBytes, '\0');
  return read_u64be(bytes.data());
}

std::uint32_t lane_of_hash(std::uint64_t hash, std::uint32_t lanes) {
  return 1 + static_cast<std::uint32_t>(hash >> (64 - std::countr_zero(lanes)));
}

std::uint32_t lane_of_change(BytesView key, std::uint32_t lanes) {
  const auto partitions = change_partitions(lanes);
  const auto at = kChangeSequenceAt - 1;
  const std::uint32_t partition = key.size() > at ? static_cast<unsigned char>(key[at]) : 0;
  return 1 + std::min<std::uint32_t>(partition, partitions - 1) * lanes / partitions;
}

// The longest prefix that all keys of a range have.
BytesView common_prefix(const storage::KeyRange& range) {
  if (range.end.empty()) return {};
  const auto [first, last] = std::ranges::mismatch(range.begin, range.end);
  auto size = static_cast<std::size_t>(first - range.begin.begin());
  // The end is where another byte begins, as in a range of a prefix.
  const bool next_byte = first != range.begin.end() && last != range.end.end() && last + 1 == range.end.end() &&
                         static_cast<unsigned char>(*first) + 1 == static_cast<unsigned char>(*last);
  if (next_byte) ++size;
  return BytesView(range.begin).substr(0, size);
}

}  // namespace

std::optional<std::uint32_t> KeyPlacement::lane_of(BytesView key, std::uint32_t lanes) const {
  if (lanes == 1 || key.empty()) return 0;
  switch (key.front()) {
    case 'i': return lane_of_hash(hash_at(key, kPrefixBytes), lanes);
    case 'l': return lane_of_change(key, lanes);
    case 'p': return lane_of_hash(partition_hash(key.substr(std::min<std::size_t>(key.size(), 1 + 4))), lanes);
    case 's': return std::nullopt;
    case 't': return lane_of_hash(partition_hash(key.substr(1)), lanes);
    case 'x': return key.starts_with("xe") ? lane_of_hash(hash_at(key, kExpiryAt + 8), lanes) : 0;
    default: return 0;
  }
}

storage::LaneRange KeyPlacement::lanes_of(const storage::KeyRange& range, std::uint32_t lanes) const {
  if (lanes == 1) return {};
  const storage::LaneRange all{.first = 0, .last = lanes, .in_key_order = false};
  const storage::LaneRange hashed{.first = 1, .last = lanes, .in_key_order = false};
  const auto prefix = common_prefix(range);
  if (prefix.empty()) return all;
  switch (prefix.front()) {
    case 'i': {
      if (prefix.size() < kPrefixBytes) return hashed;
      const auto first = lane_of_hash(hash_at(range.begin, kPrefixBytes), lanes);
      if (!range.end.starts_with(prefix.substr(0, kPrefixBytes))) return {.first = first, .last = lanes};
      // No key has the hash of an end that is nothing but a hash.
      const auto end = hash_at(range.end, kPrefixBytes);
      const bool excluded = end > 0 && range.end.size() <= kPrefixBytes + kHashBytes;
      return {.first = first, .last = std::max(first, lane_of_hash(excluded ? end - 1 : end, lanes))};
    }
    case 'l': {
      if (prefix.size() < kChangeSequenceAt) return hashed;
      const auto lane = lane_of_change(prefix, lanes);
      return {.first = lane, .last = lane};
    }
    case 'p':
    case 't': return hashed;
    case 's': return all;
    case 'x': return prefix.size() < 2 ? all : prefix[1] == 'e' ? hashed : storage::LaneRange{};
    default: return {};
  }
}

// -- for a check of everything that is in a store

const std::vector<KeySpace>& key_spaces() {
  using Owner = KeySpace::Owner;
  static const std::vector<KeySpace> spaces = {
      {"b", Owner::Index},
      {"cf", Owner::None},
      {"ck", Owner::None, /*single=*/true},
      {"cl", Owner::None, /*single=*/true},
      {"cn", Owner::None, /*single=*/true},
      {"cr", Owner::None},
      {"ct", Owner::None},
      {"cy", Owner::None, /*single=*/true},
      {"i", Owner::Index},
      {"l", Owner::Table},
      {"p", Owner::Table},
      {"q", Owner::None},
      {"rd", Owner::None},
      {"rm", Owner::None},
      {"s", Owner::Index},
      {"t", Owner::None},
      {"xe", Owner::Table},
      {"xp", Owner::Table},
  };
  return spaces;
}

std::optional<KeyOwner> owner_of_key(BytesView key) {
  for (const auto& space : key_spaces()) {
    if (!key.starts_with(space.prefix) || space.owned_by == KeySpace::Owner::None) continue;
    const auto at = space.prefix.size();
    const bool indexed = space.owned_by == KeySpace::Owner::Index;
    const auto size = at + 4 + (indexed ? 2 : 0);
    if (key.size() < size) return std::nullopt;
    return KeyOwner{.table = {read_u32be(key.data() + at)},
                    .index = indexed ? IndexId{read_u16be(key.data() + at + 4)} : kBaseIndex,
                    .prefix = KeyBytes(key.substr(0, size))};
  }
  return std::nullopt;
}

KeyBytes partition_of_collection(BytesView key) {
  KeyBytes out;
  append_prefix(out, TableId{read_u32be(key.data() + 1)}, kBaseIndex);
  const auto partition = key.substr(1 + 4);
  append_u64be(out, partition_hash(partition));
  return out.append(partition);
}

}  // namespace stator::engine
