#include "stator/engine/index/index_entry.h"

#include <algorithm>

namespace stator::engine {

bool is_projected(const Table& table, const Index& index, std::string_view attribute) {
  if (index.projection.kind == ProjectionKind::All) return true;
  if (table.keys.contains(attribute) || index.keys.contains(attribute)) return true;
  const auto& included = index.projection.non_key_attributes;
  return index.projection.kind == ProjectionKind::Include &&
         std::find(included.begin(), included.end(), attribute) != included.end();
}

std::optional<IndexEntry> index_entry(const Table& table, const Index& index, const value::Item& item,
                                      const value::StoredItem& whole) {
  auto key = index_key(table, index, item);
  if (!key) return std::nullopt;
  if (index.projection.kind == ProjectionKind::All) return IndexEntry{std::move(*key), whole};
  std::vector<value::AttributeMap::Entry> projected;
  for (const auto& attribute : item) {
    if (is_projected(table, index, attribute.name)) projected.push_back(attribute);
  }
  return IndexEntry{std::move(*key), value::StoredItem::from(value::AttributeMap::from_unsorted(std::move(projected)))};
}

}  // namespace stator::engine
