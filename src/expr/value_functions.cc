#include "stator/expr/value_functions.h"

#include <algorithm>
#include <cstring>

namespace stator::expr {

using value::AttributeValue;
using value::Type;

namespace {

// The service counts the length of a string in UTF-16 code units: a character that takes four bytes in UTF-8 takes two
// of them, every other character one.
std::size_t utf16_units(std::string_view text) {
  std::size_t units = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool continues = (byte & 0xC0) == 0x80;
    units += continues ? 0U : byte >= 0xF0 ? 2U : 1U;
  }
  return units;
}

}  // namespace

std::partial_ordering compare(const AttributeValue* a, const AttributeValue* b) {
  if (a == nullptr || b == nullptr || a->type() != b->type()) return std::partial_ordering::unordered;
  switch (a->type()) {
    case Type::S: return *a->as_string() <=> *b->as_string();
    case Type::N: return *a->as_number() <=> *b->as_number();
    case Type::B: return *a->as_binary() <=> *b->as_binary();
    default: return std::partial_ordering::unordered;
  }
}

bool begins_with(const AttributeValue* value, const AttributeValue* prefix) {
  if (value == nullptr || prefix == nullptr || value->type() != prefix->type()) return false;
  if (const auto* text = value->as_string()) return text->starts_with(*prefix->as_string());
  if (const auto* binary = value->as_binary()) return binary->bytes.starts_with(prefix->as_binary()->bytes);
  return false;
}

namespace {

// In time that grows with the sum of the lengths and not, as std::string::find, with their product: both are the
// client's.
bool holds_text(std::string_view text, std::string_view part) {
  return part.empty() || memmem(text.data(), text.size(), part.data(), part.size()) != nullptr;
}

}  // namespace

bool contains(const AttributeValue* value, const AttributeValue* part) {
  if (value == nullptr || part == nullptr) return false;
  switch (value->type()) {
    case Type::S: return part->as_string() != nullptr && holds_text(*value->as_string(), *part->as_string());
    case Type::B:
      return part->as_binary() != nullptr && holds_text(value->as_binary()->bytes, part->as_binary()->bytes);
    case Type::SS:
      return part->as_string() != nullptr &&
             std::ranges::binary_search(value->as_string_set()->members, *part->as_string());
    case Type::NS:
      return part->as_number() != nullptr &&
             std::ranges::binary_search(value->as_number_set()->members, *part->as_number());
    case Type::BS:
      return part->as_binary() != nullptr &&
             std::ranges::binary_search(value->as_binary_set()->members, part->as_binary()->bytes);
    case Type::L: return std::ranges::find(*value->as_list(), *part) != value->as_list()->end();
    default: return false;
  }
}

std::optional<std::size_t> size_of(const AttributeValue* value) {
  if (value == nullptr) return std::nullopt;
  switch (value->type()) {
    case Type::S: return utf16_units(*value->as_string());
    case Type::B: return value->as_binary()->bytes.size();
    case Type::SS: return value->as_string_set()->members.size();
    case Type::NS: return value->as_number_set()->members.size();
    case Type::BS: return value->as_binary_set()->members.size();
    case Type::M: return value->as_map()->size();
    case Type::L: return value->as_list()->size();
    default: return std::nullopt;
  }
}

}  // namespace stator::expr
