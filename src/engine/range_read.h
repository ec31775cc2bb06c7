#pragma once

#include <functional>
#include <optional>

#include "stator/engine/catalog.h"
#include "stator/engine/keyspace.h"
#include "stator/expr/key_condition.h"
#include "stator/storage/store.h"
#include "stator/value/stored_item.h"

// Query and Scan as the engine sees them: a range of keys, walked item by item up to the end of a page.
namespace stator::engine {

inline constexpr std::size_t kMaxPageBytes = std::size_t{1} << 20;

// The target of a read: the table itself, or one of its indexes.
struct ReadTarget {
  TablePtr table;
  const Index* index = nullptr;  // of `table`; nullptr: the table

  IndexId id() const { return index != nullptr ? index->id : kBaseIndex; }
  const KeySchema& keys() const { return index != nullptr ? index->keys : table->keys; }
};

// The keys that satisfy a key condition.  Errors: Validation, with DynamoDB's texts, when it does not fit the schema.
Result<storage::KeyRange> query_range(const ReadTarget& target, const expr::KeyCondition& condition);

// The keys of a whole table or index, or of one segment of a parallel scan.
storage::KeyRange scan_range(const ReadTarget& target, std::uint32_t segment = 0, std::uint32_t total_segments = 1);

// An ExclusiveStartKey as key bytes: it must hold exactly the key attributes of the table and the index.
// Errors: Validation.
Result<KeyBytes> start_key(const ReadTarget& target, const value::Item& exclusive_start_key);
// The key attributes of an item, as a LastEvaluatedKey names them.
value::Item last_evaluated_key(const ReadTarget& target, const value::Item& item);

struct RangeRead {
  storage::KeyRange range;
  storage::Direction direction = storage::Direction::Forward;
  std::optional<KeyBytes> start_after;  // inside the range
  std::optional<std::uint64_t> limit;   // how many items to look at
};

// The keys that it reads: the range, or the rest of it.  Perhaps none: begin >= end.
storage::KeyRange rest_of(const RangeRead& read);

struct RangePage {
  std::uint64_t scanned = 0;
  std::size_t bytes = 0;                       // DynamoDB's size of everything looked at
  std::optional<value::StoredItem> last_item;  // when the page ended before the range did
};

// Hands each item of a page to `visit`, in order, as bytes of the store that are valid during the call.
// A page ends at the limit, or with the item that brings it to 1 MB.  Errors: Storage, Corruption, and those that
// `visit` returns. The visitor answers how many bytes it read elsewhere on the item's behalf: they count towards the
// page.
using ItemVisitor = std::function<Result<std::size_t>(const value::StoredItemView& item)>;
Result<RangePage> read_page(const storage::Snapshot& snapshot, const RangeRead& read, const ItemVisitor& visit);

}  // namespace stator::engine
