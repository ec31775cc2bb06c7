#include "stator/value/item_size.h"

namespace stator::value {
namespace {

constexpr std::size_t kDocumentOverheadBytes = 3;  // of every list and map
constexpr std::size_t kElementOverheadBytes = 1;   // of every element of one

struct SizeOf {
  std::size_t operator()(const std::string& text) const { return text.size(); }
  std::size_t operator()(const Number& number) const { return number.size_bytes(); }
  std::size_t operator()(const Binary& binary) const { return binary.bytes.size(); }
  std::size_t operator()(const StringSet& set) const { return sum(set.members); }
  std::size_t operator()(const NumberSet& set) const { return sum(set.members); }
  std::size_t operator()(const BinarySet& set) const { return sum(set.members); }
  std::size_t operator()(const AttributeMap& map) const {
    return kDocumentOverheadBytes + map.size() * kElementOverheadBytes + item_size_bytes(map);
  }
  std::size_t operator()(const List& list) const {
    std::size_t size = kDocumentOverheadBytes + list.size() * kElementOverheadBytes;
    for (const AttributeValue& element : list) size += value_size_bytes(element);
    return size;
  }
  std::size_t operator()(Null) const { return 1; }
  std::size_t operator()(bool) const { return 1; }

 private:
  template <typename T>
  std::size_t sum(const std::vector<T>& members) const {
    std::size_t size = 0;
    for (const T& member : members) size += (*this)(member);
    return size;
  }
};

int levels_of(const AttributeValue& value);

int levels_of(const AttributeMap& map) {
  int levels = 0;
  for (const auto& [name, value] : map) levels = std::max(levels, levels_of(value));
  return levels;
}

int levels_of(const AttributeValue& value) {
  if (const auto* map = value.as_map()) return 1 + levels_of(*map);
  if (const auto* list = value.as_list()) {
    int levels = 0;
    for (const AttributeValue& element : *list) levels = std::max(levels, levels_of(element));
    return 1 + levels;
  }
  return 1;
}

}  // namespace

std::size_t value_size_bytes(const AttributeValue& value) { return std::visit(SizeOf{}, value.variant()); }

std::size_t attribute_size_bytes(std::string_view name, const AttributeValue& value) {
  return name.size() + value_size_bytes(value);
}

std::size_t item_size_bytes(const AttributeMap& item) {
  std::size_t size = 0;
  for (const auto& [name, value] : item) size += attribute_size_bytes(name, value);
  return size;
}

Error update_size_error() { return validation_error("Item size to update has exceeded the maximum allowed size"); }

Error nesting_error() {
  return validation_error(
      "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported "
      "limit");
}

Result<void> check_nesting(const AttributeMap& item) {
  if (levels_of(item) > kMaxNesting) return nesting_error();
  return {};
}

}  // namespace stator::value
