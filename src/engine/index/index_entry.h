#pragma once

#include <optional>

#include "stator/engine/keyspace.h"
#include "stator/engine/schema.h"
#include "stator/value/stored_item.h"

namespace stator::engine {

// The entry of an item in an index.
struct IndexEntry {
  KeyBytes key;
  value::StoredItem item;  // with the projected attributes
};

// nullopt when the item is not in the index: an attribute of its key is missing.  `whole` is the same item as stored,
// so that an index of everything need not encode it again.
std::optional<IndexEntry> index_entry(const Table& table, const Index& index, const value::Item& item,
                                      const value::StoredItem& whole);

// Whether the index holds this attribute of its items.
bool is_projected(const Table& table, const Index& index, std::string_view attribute);

}  // namespace stator::engine
