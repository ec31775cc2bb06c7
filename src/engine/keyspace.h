#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stator/base/bytes.h"
#include "stator/base/result.h"
#include "stator/engine/schema.h"
#include "stator/storage/placement.h"
#include "stator/storage/store.h"
#include "stator/value/attribute_value.h"

// Every key the engine writes is built here, and nowhere else.  docs/formats/keys.md shows an example of each.
//
//   'b' table:u32be index:u16be                                         -> the last key an index builder has seen to
//   'c' 't' name                                                        -> table record
//   'c' 'n'                                                             -> counter: the last table id given out
//   'c' 'k'                                                             -> requests must be signed; version:u8 = 1
//   'c' 'f' name                                                        -> a text of the server; version:u8 = 1, text
//   'c' 'r' table:u32be index:u16be                                     -> its keys are to be erased, see remains.h
//   'c' 'l'                                                             -> who does the background work, see lease.h
//   'c' 'y'                                                             -> how far a copy into this store is, see
//                                                                          store_copy.h
//   'i' table:u32be index:u16be hash:u64be partition:fields sort:fields -> item            (index 0: the table)
//   'i' table:u32be index:u16be hash:u64be partition:fields sort:fields base_partition:field base_sort:field
//                                                                       -> projected item  (other indexes)
//   'l' table:u32be partition:u8 sequence:u64be ordinal:u32be           -> change record
//   'p' table:u32be partition:field                                     -> counter: bytes of one item collection
//   'q' sequence:u64be                                                  -> time of that commit, u64be microseconds
//   'r' 'd' table_name:field label:field                                -> stream: its table's record of that time
//   'r' 'm' table_name:field label:field sequence:u64be                 -> stream marker: shards begin, or it ends
//   's' table:u32be index:u16be 'n' | 'b'                               -> counter: items, bytes
//   't' client request token                                            -> what a transaction was, see request_token.h
//   'x' 'e' table:u32be expiry:u64be item_key (after its index id)      -> expiry entry
//   'x' 'p' table:u32be                                                 -> progress of filling the expiry entries
//
//   field  S and B: 0x00 is written 0x00 0xFF, and 0x00 0x01 ends it, so a prefix sorts before what it prefixes.
//          N: Number::append_ordered.
//
// One partition is contiguous and sorted, so a Query is one range scan; the hash in front scatters partitions, so a
// segment of a parallel scan is a range of hashes.  Keys never start with 0x00, which belongs to the store.
//
// On disk: a new layout takes a new leading byte; these keep their meaning.
namespace stator::engine {

using KeyBytes = Bytes;

// The change log of a table has partitions, by the highest bits of the hash of an item.  Shards of a stream are made of
// them.  A store with more lanes has more of them, so that the changes of a partition are in one lane, in their order.
inline constexpr std::uint8_t kLeastChangePartitions = 4;
std::uint8_t change_partitions(std::uint32_t lanes);

// Appends one key value.  `value` has the type S, N or B.
void append_field(KeyBytes& out, const value::AttributeValue& value);

std::uint64_t partition_hash(BytesView partition_fields);
std::uint8_t change_partition(std::uint64_t hash, std::uint8_t partitions);

// The key of an item in its table; `item` holds the key attributes with the right types (check_key() saw to it).
KeyBytes item_key(const Table& table, const value::AttributeMap& item);

// The key of an item's entry in an index, or nullopt when the item lacks one of the index's key attributes, or has it
// with another type: then the index does not hold the item.
std::optional<KeyBytes> index_key(const Table& table, const Index& index, const value::AttributeMap& item);

// 'i' table index: everything one index holds.
KeyBytes index_prefix(TableId table, IndexId index);
// ... of one partition.  `partition` holds the values of the partition attributes in schema order.
KeyBytes partition_prefix(TableId table, IndexId index, const std::vector<const value::AttributeValue*>& partition);
// The hashes of segment `segment` of `total` equal parts.
storage::KeyRange segment_range(TableId table, IndexId index, std::uint32_t segment, std::uint32_t total);
// The hash inside an item or index key.
std::uint64_t hash_of_key(BytesView key);
// All items and entries of all tables, and the table that one belongs to.
storage::KeyRange all_items();
std::optional<TableId> table_of_item(BytesView key);
// All items and entries of a table.
storage::KeyRange table_items(TableId table);

KeyBytes build_progress_key(TableId table, IndexId index);
storage::KeyRange table_build_progress(TableId table);

KeyBytes table_record_key(std::string_view name);
storage::KeyRange all_table_records();
KeyBytes last_table_id_key();
KeyBytes signed_only_key();
KeyBytes lease_key();
KeyBytes server_text_key(std::string_view name);
KeyBytes copy_mark_key();
KeyBytes remains_key(TableId table, IndexId index);
storage::KeyRange all_remains();

enum class Statistic : char { Items = 'n', Bytes = 'b' };
KeyBytes statistic_key(TableId table, IndexId index, Statistic statistic);
storage::KeyRange table_statistics(TableId table);
storage::KeyRange all_statistics();

KeyBytes collection_size_key(TableId table, const value::AttributeValue& partition);
storage::KeyRange table_collection_sizes(TableId table);

// The sequence is left blank at kChangeSequenceAt, for Batch::put_sequenced.
inline constexpr std::size_t kChangeSequenceAt = 6;
KeyBytes change_key(TableId table, std::uint8_t partition, std::uint32_t ordinal);
KeyBytes change_log_prefix();
KeyBytes change_partition_prefix(TableId table, std::uint8_t partition);  // kChangeSequenceAt bytes
// The first key of a partition for changes of this commit or a later one.
KeyBytes change_key_at(BytesView prefix, storage::CommitSequence sequence);

KeyBytes change_key_at(TableId table, std::uint8_t partition, storage::CommitSequence sequence, std::uint32_t ordinal);
// The position of a change record in its partition.
struct ChangePosition {
  storage::CommitSequence sequence;
  std::uint32_t ordinal = 0;
  friend auto operator<=>(const ChangePosition&, const ChangePosition&) = default;
};
std::optional<ChangePosition> position_of_change(BytesView change_key);

// Streams have their table's name in the key, not its id: an ARN says no more, and the table may be gone.
KeyBytes stream_key(std::string_view table_name, std::string_view label);
storage::KeyRange streams_of(std::string_view table_name);
storage::KeyRange all_streams();
// A marker's sequence is left blank, for Batch::put_sequenced; it is the last eight bytes.
KeyBytes stream_marker_key(std::string_view table_name, std::string_view label);
KeyBytes stream_marker_key(std::string_view table_name, std::string_view label, storage::CommitSequence sequence);
storage::KeyRange stream_markers(std::string_view table_name, std::string_view label);
storage::KeyRange all_stream_markers();

KeyBytes request_token_key(std::string_view token);
storage::KeyRange all_request_tokens();

inline constexpr std::size_t kCommitTimeSequenceAt = 1;
KeyBytes commit_time_key(storage::CommitSequence sequence);
KeyBytes commit_time_prefix();

// `expiry` in seconds since 1970.
KeyBytes expiry_key(BytesView item_key, std::uint64_t expiry);
// The entries of a table that expire from `first` to `last`.
storage::KeyRange expiries_between(TableId table, std::uint64_t first, std::uint64_t last);
storage::KeyRange table_expiries(TableId table);
struct ExpiryEntry {
  std::uint64_t expiry;
  KeyBytes item_key;
};
std::optional<ExpiryEntry> expiry_entry(BytesView expiry_key);
KeyBytes expiry_progress_key(TableId table);

// Spreads keys over the lanes of a store: items and the keys that belong to them by the highest bits of their hash,
// request tokens by a hash of their own.  Statistics have a part in each lane.  All others are in lane 0.
class KeyPlacement final : public storage::Placement {
 public:
  std::optional<std::uint32_t> lane_of(BytesView key, std::uint32_t lanes) const override;
  storage::LaneRange lanes_of(const storage::KeyRange& range, std::uint32_t lanes) const override;
};

// -- for a check of everything that is in a store

// The spaces of the list above, each as the range of its keys, in key order.  `owned_by` tells which ids its keys begin
// with.
struct KeySpace {
  enum class Owner : std::uint8_t { None, Table, Index };
  Bytes prefix;
  Owner owned_by;
  bool single = false;  // the prefix is the one key
};
const std::vector<KeySpace>& key_spaces();

// The owner of a key; the index is 0 if only a table owns it.  nullopt when the key is too short to tell, or has no
// owner.
struct KeyOwner {
  TableId table;
  IndexId index;
  KeyBytes prefix;  // the common prefix of all keys of that owner in that space
};
std::optional<KeyOwner> owner_of_key(BytesView key);
// The prefix of the items that a collection counter sums up.
KeyBytes partition_of_collection(BytesView collection_size_key);

}  // namespace stator::engine
