#include "stator/engine/schema.h"

#include <fmt/format.h>

#include <algorithm>

namespace stator::engine {

bool KeySchema::contains(std::string_view name) const {
  const auto is_name = [&](const KeyAttribute& attribute) { return attribute.name == name; };
  return std::any_of(partition.begin(), partition.end(), is_name) || std::any_of(sort.begin(), sort.end(), is_name);
}

const Index* Table::find_index(std::string_view index_name) const {
  const auto found = std::find_if(indexes.begin(), indexes.end(), [&](const Index& i) { return i.name == index_name; });
  return found == indexes.end() ? nullptr : &*found;
}

bool Table::has_local_indexes() const {
  return std::any_of(indexes.begin(), indexes.end(), [](const Index& i) { return i.kind == IndexKind::Local; });
}

bool Table::is_building() const {
  return std::any_of(indexes.begin(), indexes.end(), [](const Index& i) { return i.building; });
}

const KeyAttribute* Table::key_attribute(std::string_view attribute) const {
  const auto in = [&](const KeySchema& schema) -> const KeyAttribute* {
    const KeyAttribute* found = nullptr;
    schema.for_each([&](const KeyAttribute& candidate) {
      if (candidate.name == attribute) found = &candidate;
    });
    return found;
  };
  if (const auto* found = in(keys)) return found;
  for (const auto& index : indexes) {
    if (const auto* found = in(index.keys)) return found;
  }
  return nullptr;
}

}  // namespace stator::engine
