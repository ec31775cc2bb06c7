#include "stator/value/attribute_value.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <optional>

#include "stator/value/json.h"

namespace stator::value {
namespace {

// The members in ascending order, or nullopt when one is there twice; then `members` are left as they were, so that a
// message can show them in the order they came in.
template <typename T>
std::optional<std::vector<T>> sorted_once(std::vector<T>& members) {
  const auto not_ascending = [](const T& a, const T& b) { return !(a < b); };
  if (std::adjacent_find(members.begin(), members.end(), not_ascending) == members.end()) return std::move(members);

  std::vector<std::size_t> order(members.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return members[a] < members[b]; });
  const auto same = [&](std::size_t a, std::size_t b) { return members[a] == members[b]; };
  if (std::adjacent_find(order.begin(), order.end(), same) != order.end()) return std::nullopt;

  std::vector<T> sorted;
  sorted.reserve(members.size());
  for (const std::size_t i : order) sorted.push_back(std::move(members[i]));
  return sorted;
}

// "[a, b]", cut short when it is long: a message is no place for megabytes.
template <typename Append>
std::string show_members(const std::vector<std::string>& members, Append append) {
  constexpr std::size_t kMaxShownBytes = 4096;
  std::string shown = "[";
  for (const auto& member : members) {
    if (&member != &members.front()) shown += ", ";
    if (shown.size() + member.size() > kMaxShownBytes) {
      shown += "...";
      break;
    }
    append(shown, member);
  }
  return shown += ']';
}

Error invalid_parameter(std::string_view what) {
  return validation_error("One or more parameter values were invalid: " + std::string(what));
}

constexpr std::size_t kFirstEntries = 4;  // of a map that grows: hardly one stays smaller than a key

bool name_less(const AttributeMap::Entry& entry, std::string_view name) { return entry.name < name; }

}  // namespace

std::string_view type_name(Type type) {
  static constexpr std::array<std::string_view, 10> kNames = {"S",  "N", "B", "SS",   "NS",
                                                              "BS", "M", "L", "NULL", "BOOL"};
  return kNames[static_cast<std::size_t>(type)];
}

AttributeMap::AttributeMap(std::initializer_list<Entry> entries) : AttributeMap(from_unsorted(entries)) {}

const AttributeValue* AttributeMap::find(std::string_view name) const {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), name, name_less);
  return at != entries_.end() && at->name == name ? &at->value : nullptr;
}

AttributeValue* AttributeMap::find(std::string_view name) {
  return const_cast<AttributeValue*>(std::as_const(*this).find(name));
}

const std::string& AttributeMap::text(std::string_view name) const& {
  static const std::string none;
  const auto* found = find(name);
  const auto* text = found != nullptr ? found->as_string() : nullptr;
  return text != nullptr ? *text : none;
}

const Number* AttributeMap::number(std::string_view name) const {
  const auto* found = find(name);
  return found != nullptr ? found->as_number() : nullptr;
}

std::int64_t AttributeMap::integer(std::string_view name) const {
  const auto* found = number(name);
  return found != nullptr ? found->to_int64().value_or(0) : 0;
}

AttributeValue& AttributeMap::set(std::string_view name, AttributeValue value) {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), name, name_less);
  if (at != entries_.end() && at->name == name) {
    at->value = std::move(value);
    return at->value;
  }
  if (entries_.empty()) {
    entries_.reserve(kFirstEntries);
    return entries_.emplace_back(Entry{std::string(name), std::move(value)}).value;
  }
  return entries_.insert(at, Entry{std::string(name), std::move(value)})->value;
}

bool AttributeMap::erase(std::string_view name) {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), name, name_less);
  if (at == entries_.end() || at->name != name) return false;
  entries_.erase(at);
  return true;
}

void AttributeMap::set_all(std::vector<Entry> entries) {
  auto all = std::move(entries_);
  all.insert(all.end(), std::make_move_iterator(entries.begin()), std::make_move_iterator(entries.end()));
  *this = from_unsorted(std::move(all));
}

AttributeMap AttributeMap::from_unsorted(std::vector<Entry> entries) {
  AttributeMap map;
  const auto not_ascending = [](const Entry& a, const Entry& b) { return !(a.name < b.name); };
  if (std::adjacent_find(entries.begin(), entries.end(), not_ascending) == entries.end()) {
    map.entries_ = std::move(entries);
    return map;
  }
  // Sorts where the entries go rather than the entries, which are costly to move.
  std::vector<const Entry*> order;
  order.reserve(entries.size());
  for (const Entry& entry : entries) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) {
    const int names = a->name.compare(b->name);
    return names != 0 ? names < 0 : a < b;
  });
  map.entries_.reserve(entries.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i + 1 < order.size() && order[i]->name == order[i + 1]->name) continue;  // the later one stays
    map.entries_.push_back(std::move(entries[static_cast<std::size_t>(order[i] - entries.data())]));
  }
  return map;
}

bool operator==(const AttributeMap& a, const AttributeMap& b) { return a.entries_ == b.entries_; }

Result<AttributeValue> make_string_set(std::vector<std::string> members) {
  if (members.empty()) return invalid_parameter("An string set  may not be empty");
  auto sorted = sorted_once(members);
  if (!sorted) {
    const auto shown = show_members(members, [](std::string& out, std::string_view member) { out += member; });
    return invalid_parameter("Input collection " + shown + " contains duplicates.");
  }
  return AttributeValue(StringSet{std::move(*sorted)});
}

Result<AttributeValue> make_number_set(std::vector<Number> members) {
  if (members.empty()) return invalid_parameter("An number set  may not be empty");
  auto sorted = sorted_once(members);
  if (!sorted) return validation_error("Input collection contains duplicates");
  return AttributeValue(NumberSet{std::move(*sorted)});
}

Result<AttributeValue> make_binary_set(std::vector<std::string> members) {
  if (members.empty()) return invalid_parameter("Binary sets should not be empty");
  auto sorted = sorted_once(members);
  if (!sorted) {
    const auto shown = show_members(members, append_base64);
    return invalid_parameter("Input collection " + shown + "of type BS contains duplicates.");
  }
  return AttributeValue(BinarySet{std::move(*sorted)});
}

}  // namespace stator::value
