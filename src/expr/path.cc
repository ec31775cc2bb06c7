#include "stator/expr/path.h"

#include <algorithm>
#include <optional>

namespace stator::expr {

using value::AttributeMap;
using value::AttributeValue;

namespace {

const std::string* name_of(const Path::Element& element) { return std::get_if<std::string>(&element); }

const AttributeValue* step_into(const AttributeValue& value, const Path::Element& element) {
  if (const std::string* name = name_of(element)) {
    const auto* map = value.as_map();
    return map != nullptr ? map->find(*name) : nullptr;
  }
  const auto index = std::get<std::uint32_t>(element);
  const auto* list = value.as_list();
  return list != nullptr && index < list->size() ? &(*list)[index] : nullptr;
}

// Takes those paths off the front of `paths` that share the element at `depth`.
std::span<const Path* const> take_group(std::span<const Path* const>& paths, std::size_t depth) {
  std::size_t count = 1;
  while (count < paths.size() && paths[count]->elements[depth] == paths[0]->elements[depth]) ++count;
  const auto group = paths.first(count);
  paths = paths.subspan(count);
  return group;
}

// The part of `value` that `paths` select.  They are sorted, and agree on the way to `value`, which is `depth` elements
// long.
std::optional<AttributeValue> select(const AttributeValue& value, std::span<const Path* const> paths,
                                     std::size_t depth) {
  if (paths[0]->elements.size() == depth) return value;
  std::vector<AttributeMap::Entry> entries;
  value::List list;
  while (!paths.empty()) {
    const auto group = take_group(paths, depth);
    const Path::Element& element = group[0]->elements[depth];
    const AttributeValue* child = step_into(value, element);
    if (child == nullptr) continue;
    auto selected = select(*child, group, depth + 1);
    if (!selected) continue;
    if (const std::string* name = name_of(element)) {
      entries.push_back({*name, std::move(*selected)});
    } else {
      list.push_back(std::move(*selected));
    }
  }
  if (!entries.empty()) return AttributeValue(AttributeMap::from_unsorted(std::move(entries)));
  if (!list.empty()) return AttributeValue(std::move(list));
  return std::nullopt;
}

bool before(const Path* a, const Path* b) {
  if (a->attribute != b->attribute) return a->attribute < b->attribute;
  return a->elements < b->elements;
}

}  // namespace

std::string Path::to_string() const {
  std::string text = "[" + attribute;
  for (const Element& element : elements) {
    text += ", ";
    if (const std::string* name = name_of(element)) {
      text += *name;
    } else {
      text += "[" + std::to_string(std::get<std::uint32_t>(element)) + "]";
    }
  }
  return text + "]";
}

const AttributeValue* find(const value::Item& item, const Path& path) {
  const AttributeValue* at = item.find(path.attribute);
  for (const Path::Element& element : path.elements) {
    if (at == nullptr) return nullptr;
    at = step_into(*at, element);
  }
  return at;
}

value::Item project(const value::Item& item, std::span<const Path> paths) {
  std::vector<const Path*> sorted;
  sorted.reserve(paths.size());
  for (const Path& path : paths) sorted.push_back(&path);
  std::ranges::sort(sorted, before);

  std::vector<AttributeMap::Entry> entries;
  entries.reserve(paths.size());
  for (std::span<const Path* const> rest = sorted; !rest.empty();) {
    std::size_t count = 1;
    while (count < rest.size() && rest[count]->attribute == rest[0]->attribute) ++count;
    const auto group = rest.first(count);
    rest = rest.subspan(count);
    const AttributeValue* value = item.find(group[0]->attribute);
    if (value == nullptr) continue;
    if (auto selected = select(*value, group, 0)) entries.push_back({group[0]->attribute, std::move(*selected)});
  }
  return AttributeMap::from_unsorted(std::move(entries));
}

}  // namespace stator::expr
