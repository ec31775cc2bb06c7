#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "stator/engine/check/checking.h"
#include "stator/engine/expiry/ttl.h"
#include "stator/engine/index/index_entry.h"
#include "stator/value/item_size.h"
#include "stator/value/stored_item.h"

namespace stator::engine {
namespace {

// A checksum of records that does not depend on their order: the sums of their hashes.  Chance does not make those of
// different records equal; the records were not chosen by somebody who wants them to be.
class MultisetHash {
 public:
  void add(BytesView key, BytesView value) {
    const auto of_key = XXH3_128bits(key.data(), key.size());
    const auto of_both = XXH3_128bits_withSeed(value.data(), value.size(), of_key.low64);
    low_ += of_both.low64 ^ of_key.high64;
    high_ += of_both.high64;
    ++records_;
  }
  friend bool operator==(const MultisetHash&, const MultisetHash&) = default;

 private:
  std::uint64_t low_ = 0, high_ = 0, records_ = 0;
};

struct Size {
  std::int64_t items = 0, bytes = 0;

  void add(std::size_t item_size) {
    ++items;
    bytes += static_cast<std::int64_t>(item_size);
  }
  void remove(std::size_t item_size) {
    --items;
    bytes -= static_cast<std::int64_t>(item_size);
  }
};

// One index: its expected entries, by the items, and its present ones.
struct IndexCheck {
  const Index* index = nullptr;
  // While it is being built: the last item that it must have.
  std::optional<KeyBytes> built_to = std::nullopt;
  MultisetHash expected = {}, present = {};
  Size size = {};
  bool sizes_known = true;
  bool whole = true;  // all of its entries could be read

  bool must_have(BytesView item_key) const { return !index->building || (built_to && item_key <= *built_to); }
};

// An item that decodes and is under its own key.
struct ReadItem {
  value::StoredItem stored;
  value::Item item;
};

class TableCheck {
 public:
  TableCheck(Checking& checking, const Table& table)
      : checking_(checking), table_(table), items_(storage::KeyRange::prefix(index_prefix(table.id, kBaseIndex))) {}

  Result<void> run() {
    TRY(read_progress());
    // A range that was cut short by an unreadable block is neither compared nor counted: the rest of it is unknown.
    auto unreadable = checking_.unreadable();
    TRY(read_items());
    const bool items_whole = unreadable == checking_.unreadable();
    for (auto& index : indexes_) {
      unreadable = checking_.unreadable();
      TRY(read_entries(index));
      if (items_whole && unreadable == checking_.unreadable() &&
          (index.index->building || index.expected != index.present)) {
        TRY(compare_index(index));
      }
      index.whole = unreadable == checking_.unreadable();
    }
    if (items_whole) {
      TRY(check_expiries());
      TRY(check_collections());
      TRY(check_count(kBaseIndex, nullptr, size_, sizes_known_));
    }
    for (const auto& index : indexes_) {
      if (index.whole) TRY(check_count(index.index->id, index.index, index.size, index.sizes_known));
    }
    return checking_.mend_now();
  }

 private:
  // -- the items

  Result<void> read_progress() {
    for (const auto& index : table_.indexes) {
      IndexCheck check{.index = &index};
      if (index.building) check.built_to = checking_.look(build_progress_key(table_.id, index.id), table_.name).value;
      indexes_.push_back(std::move(check));
    }
    if (const auto progress = checking_.look(expiry_progress_key(table_.id), table_.name); progress.value) {
      filling_ = true;
      auto to = decode_expiry_progress(*progress.value);
      if (to) {
        filled_to_ = std::move(*to);
      } else {
        find(FindingKind::BadRecord, nullptr, "progress of time to live", to.error().message);
      }
    }
    return {};
  }

  // Reports the faults of an item; answers the item only if it can be compared.
  std::optional<ReadItem> examine(BytesView key, BytesView bytes) {
    auto stored = value::StoredItem::from_bytes(Bytes(bytes));
    if (!stored) {
      ++size_.items;
      sizes_known_ = false;
      return find(FindingKind::BadItem, nullptr, key_text(key), stored.error().message), std::nullopt;
    }
    size_.add(stored->item_size_bytes());
    auto item = stored->parse();
    if (!item) return find(FindingKind::BadItem, nullptr, key_text(key), item.error().message), std::nullopt;
    if (auto problem = key_problem(table_, *item)) {
      return find(FindingKind::BadItem, nullptr, key_text(key), std::move(*problem)), std::nullopt;
    }
    const auto own_key = item_key(table_, *item);
    if (own_key != key) {
      find(FindingKind::MisplacedItem, nullptr, key_text(table_, *item), "it is stored under " + key_text(key));
      return std::nullopt;
    }
    if (value::item_size_bytes(*item) != stored->item_size_bytes()) {
      find(FindingKind::BadItem, nullptr, key_text(table_, *item),
           fmt::format("its size is noted as {} bytes and is {}", stored->item_size_bytes(),
                       value::item_size_bytes(*item)));
    } else if (value::StoredItem::from(*item).bytes() != bytes) {
      find(FindingKind::BadItem, nullptr, key_text(table_, *item), "it is not in the form in which items are stored");
    } else if (stored->item_size_bytes() > value::kMaxItemSizeBytes) {
      find(FindingKind::BadItem, nullptr, key_text(table_, *item), "it is larger than an item may be");
    }
    return ReadItem{std::move(*stored), std::move(*item)};
  }

  // The same without a word: it was said the first time.
  std::optional<ReadItem> reread(BytesView key, BytesView bytes) const {
    auto stored = value::StoredItem::from_bytes(Bytes(bytes));
    if (!stored) return std::nullopt;
    auto item = stored->parse();
    if (!item || key_problem(table_, *item) || item_key(table_, *item) != key) return std::nullopt;
    return ReadItem{std::move(*stored), std::move(*item)};
  }

  Result<void> read_items() {
    return checking_.each(items_, table_.name, [&](BytesView key, BytesView bytes) -> Result<void> {
      ++checking_.report().items;
      const auto read = examine(key, bytes);
      if (!read) return all_read_ = false, Result<void>();
      std::int64_t collection = static_cast<std::int64_t>(read->stored.item_size_bytes());
      for (auto& index : indexes_) {
        const auto entry = index_entry(table_, *index.index, read->item, read->stored);
        if (!entry) continue;
        index.expected.add(entry->key, entry->item.bytes());
        if (index.index->kind == IndexKind::Local)
          collection += static_cast<std::int64_t>(entry->item.item_size_bytes());
      }
      if (const auto expiry = expiry_of(table_, read->item)) {
        expected_expiries_.add(expiry_key(key, *expiry), expiry_entry_value());
      }
      if (table_.has_local_indexes())
        add_to_collection(read->item, collection, [&](const KeyBytes& counter, auto bytes_) {
          expected_collections_.add(counter, storage::encode_counter(bytes_));
        });
      return {};
    });
  }

  // -- indexes

  storage::KeyRange entries_of(const IndexCheck& index) const {
    return storage::KeyRange::prefix(index_prefix(table_.id, index.index->id));
  }

  Result<void> read_entries(IndexCheck& index) {
    return checking_.each(entries_of(index), table_.name, [&](BytesView key, BytesView bytes) -> Result<void> {
      ++checking_.report().index_entries;
      index.present.add(key, bytes);
      if (const auto view = value::StoredItemView::from(bytes)) {
        index.size.add(view->item_size_bytes);
      } else {
        ++index.size.items;
        index.sizes_known = false;
      }
      return {};
    });
  }

  // Reads both sides again, each with a look at the other.  Entries that are in the way go first.
  Result<void> compare_index(IndexCheck& index) {
    TRY(checking_.each(entries_of(index), table_.name, [&](BytesView key, BytesView bytes) -> Result<void> {
      const auto view = value::StoredItemView::from(bytes);
      const auto item = view ? view->parse() : Result<value::Item>(view.error());
      if (!item) {
        find(FindingKind::BadItem, index.index, key_text(key), item.error().message);
        return drop_entry(index, key, view ? view->item_size_bytes : 0);
      }
      const auto why = superfluous(index, key, *item);
      if (!why) return {};
      find(FindingKind::SuperfluousEntry, index.index, key_text(table_, *item), *why);
      return drop_entry(index, key, view->item_size_bytes);
    }));
    if (checking_.repairs()) index.sizes_known = true;  // those without a size are gone
    return checking_.each(items_, table_.name, [&](BytesView key, BytesView bytes) -> Result<void> {
      const auto read = reread(key, bytes);
      if (!read) return {};
      auto entry = index_entry(table_, *index.index, read->item, read->stored);
      if (!entry) return {};
      const auto present = checking_.look(entry->key, table_.name);
      if (present.unreadable) return {};
      if (!present.value) {
        if (!index.must_have(key)) return {};
        find(FindingKind::MissingEntry, index.index, key_text(table_, read->item), "the index does not have the item");
      } else if (*present.value != entry->item.bytes()) {
        find(FindingKind::WrongEntry, index.index, key_text(table_, read->item),
             "the index has another version of the item");
        // One that does not decode has been dropped already.
        const auto view = value::StoredItemView::from(*present.value);
        if (checking_.repairs() && view && view->parse()) index.size.remove(view->item_size_bytes);
      } else {
        return {};
      }
      if (checking_.repairs()) index.size.add(entry->item.item_size_bytes());
      checking_.put(std::move(entry->key), std::move(entry->item).bytes());
      return checking_.mend_if_many();
    });
  }

  Result<void> drop_entry(IndexCheck& index, BytesView key, std::size_t item_size) {
    if (checking_.repairs()) index.size.remove(item_size);
    checking_.erase(KeyBytes(key));
    return checking_.mend_if_many();
  }

  // Why no item has this entry; nothing when one does, or when its item cannot be read.
  std::optional<std::string> superfluous(const IndexCheck& index, BytesView key, const value::Item& item) {
    if (auto problem = key_problem(table_, item)) return problem;
    const auto base_key = item_key(table_, item);
    const auto base = checking_.look(base_key, table_.name);
    if (base.unreadable) return std::nullopt;
    if (!base.value) return "the table does not have the item";
    const auto read = reread(base_key, *base.value);
    if (!read) return std::nullopt;
    const auto entry = index_entry(table_, *index.index, read->item, read->stored);
    if (!entry) return "the item does not belong into the index";
    if (entry->key != key) return "the item has another key in the index by now";
    return std::nullopt;
  }

  // -- time to live

  Result<void> check_expiries() {
    MultisetHash present;
    TRY(checking_.each(table_expiries(table_.id), table_.name, [&](BytesView key, BytesView bytes) -> Result<void> {
      present.add(key, bytes);
      return {};
    }));
    if (!filling_ && present == expected_expiries_) return {};
    TRY(checking_.each(table_expiries(table_.id), table_.name, [&](BytesView key, BytesView bytes) -> Result<void> {
      const auto entry = expiry_entry(key);
      auto why = std::string("it has an unknown form");
      if (entry && bytes == expiry_entry_value()) {
        const auto base = checking_.look(entry->item_key, table_.name);
        if (base.unreadable) return {};
        why = "the table does not have the item";
        if (base.value) {
          const auto read = reread(entry->item_key, *base.value);
          if (!read || expiry_of(table_, read->item) == entry->expiry) return {};
          why = fmt::format("the item {} does not expire then", key_text(table_, read->item));
        }
      }
      find(FindingKind::SuperfluousExpiry, nullptr, key_text(key), std::move(why));
      checking_.erase(KeyBytes(key));
      return checking_.mend_if_many();
    }));
    return checking_.each(items_, table_.name, [&](BytesView key, BytesView bytes) -> Result<void> {
      if (filling_ && key > BytesView(filled_to_)) return {};
      const auto read = reread(key, bytes);
      const auto expiry = read ? expiry_of(table_, read->item) : std::nullopt;
      if (!expiry) return {};
      auto entry = expiry_key(key, *expiry);
      const auto found = checking_.look(entry, table_.name);
      if (found.unreadable || (found.value && *found.value == expiry_entry_value())) return {};
      find(FindingKind::MissingExpiry, nullptr, key_text(table_, read->item), "time to live will not delete it");
      checking_.put(std::move(entry), expiry_entry_value());
      return checking_.mend_if_many();
    });
  }

  // -- counters

  // Items of one collection lie together.  Hands the size of the collection before this one to `done`.
  template <typename Done>
  void add_to_collection(const value::Item& item, std::int64_t bytes, Done done) {
    auto counter = collection_size_key(table_.id, *item.find(table_.keys.partition[0].name));
    if (counter != collection_) {
      if (collection_bytes_ != 0) done(collection_, collection_bytes_);
      collection_ = std::move(counter);
      collection_bytes_ = 0;
    }
    collection_bytes_ += bytes;
  }
  template <typename Done>
  void end_collections(Done done) {
    if (collection_bytes_ != 0) done(collection_, collection_bytes_);
    collection_.clear();
    collection_bytes_ = 0;
  }

  Result<void> check_collections() {
    end_collections([&](const KeyBytes& counter, std::int64_t bytes) {
      expected_collections_.add(counter, storage::encode_counter(bytes));
    });
    if (!all_read_) return {};  // nobody knows how much the others take
    MultisetHash present;
    TRY(checking_.each(table_collection_sizes(table_.id), table_.name,
                       [&](BytesView key, BytesView bytes) -> Result<void> {
                         if (bytes != storage::encode_counter(0)) present.add(key, bytes);
                         return {};
                       }));
    if (present == expected_collections_) return {};

    const auto compare = [&](const KeyBytes& counter, std::int64_t bytes) {
      const auto found = checking_.look(counter, table_.name);
      if (found.unreadable) return;
      const auto noted = found.value ? storage::decode_counter(*found.value) : Result<std::int64_t>(0);
      if (noted && *noted == bytes) return;
      find(FindingKind::CollectionSize, nullptr, key_text(counter),
           noted ? fmt::format("its size is noted as {} bytes and is {}", *noted, bytes) : noted.error().message);
      checking_.put(counter, storage::encode_counter(bytes));
    };
    TRY(checking_.each(items_, table_.name, [&](BytesView key, BytesView bytes) -> Result<void> {
      const auto read = reread(key, bytes);
      if (!read) return {};
      auto size = static_cast<std::int64_t>(read->stored.item_size_bytes());
      for (const auto& index : table_.indexes) {
        if (index.kind != IndexKind::Local) continue;
        if (const auto entry = index_entry(table_, index, read->item, read->stored))
          size += static_cast<std::int64_t>(entry->item.item_size_bytes());
      }
      add_to_collection(read->item, size, compare);
      return checking_.mend_if_many();
    }));
    end_collections(compare);
    return checking_.each(
        table_collection_sizes(table_.id), table_.name, [&](BytesView key, BytesView bytes) -> Result<void> {
          if (bytes == storage::encode_counter(0)) return {};
          const auto items = checking_.snapshot().cursor(storage::KeyRange::prefix(partition_of_collection(key)),
                                                         storage::Direction::Forward);
          if (items->valid() || !items->status()) return {};
          find(FindingKind::CollectionSize, nullptr, key_text(key), "a size is noted, and there are no items");
          checking_.erase(KeyBytes(key));
          return checking_.mend_if_many();
        });
  }

  Result<void> check_count(IndexId id, const Index* index, const Size& size, bool sizes_known) {
    check_counter(id, index, Statistic::Items, size.items);
    if (sizes_known) check_counter(id, index, Statistic::Bytes, size.bytes);
    return {};
  }

  void check_counter(IndexId id, const Index* index, Statistic statistic, std::int64_t counted) {
    const auto key = statistic_key(table_.id, id, statistic);
    const auto found = checking_.look(key, table_.name);
    if (found.unreadable) return;
    const auto noted = found.value ? storage::decode_counter(*found.value) : Result<std::int64_t>(0);
    if (noted && *noted == counted) return;
    const auto* const unit = statistic == Statistic::Items ? "items" : "bytes";
    find(FindingKind::WrongCount, index, {},
         noted ? fmt::format("{} {} are noted, and there are {}", *noted, unit, counted) : noted.error().message);
    checking_.put(key, storage::encode_counter(counted));
  }

  void find(FindingKind kind, const Index* index, std::string key, std::string what) {
    checking_.find(kind, table_, index, std::move(key), std::move(what));
  }

  Checking& checking_;
  const Table& table_;
  const storage::KeyRange items_;
  std::vector<IndexCheck> indexes_;
  Size size_;
  bool sizes_known_ = true;  // every item says how large it is
  bool all_read_ = true;     // every item decodes, and is where it belongs

  // While time to live is being enabled: entries are there for items up to this key.
  bool filling_ = false;
  KeyBytes filled_to_;
  MultisetHash expected_expiries_;

  MultisetHash expected_collections_;
  KeyBytes collection_;
  std::int64_t collection_bytes_ = 0;
};

}  // namespace

Result<void> check_table(Checking& checking, const Table& table) { return TableCheck(checking, table).run(); }

}  // namespace stator::engine
