#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "stator/base/random.h"
#include "stator/value/attribute_value.h"

// Random values for tests and benchmarks: all ten types, nested, with the strings and numbers that are likely to break
// things.
namespace stator::value {

inline std::string random_text(Random& random) {
  static constexpr std::string_view kPieces[] = {
      "a",  "B",  "7",    " ",    "\"", "\\", "/",  "\n",         "\t",      "\b",
      "\f", "\r", "\x1f", "\x7f", "é",  "€",  "😀", "plain text", "{\"S\":", std::string_view("\0", 1)};
  std::string text;
  for (std::uint64_t pieces = random.below(12); pieces > 0; --pieces) text += kPieces[random.below(std::size(kPieces))];
  return text;
}

inline std::string random_bytes(Random& random) {
  std::string bytes;
  for (std::uint64_t size = random.below(20); size > 0; --size) bytes.push_back(static_cast<char>(random.below(256)));
  return bytes;
}

inline Number random_number(Random& random) {
  std::string text = random.below(2) == 0 ? "-" : "";
  text += static_cast<char>('1' + random.below(9));
  text += '.';
  for (std::uint64_t digits = random.below(38); digits > 0; --digits) text += static_cast<char>('0' + random.below(10));
  const auto exponent =
      random.below(2) == 0 ? static_cast<int>(random.below(12)) : static_cast<int>(random.below(256)) - 130;
  text += 'e';
  text += std::to_string(exponent);
  return random.below(20) == 0 ? Number() : Number::parse(text).value();
}

AttributeValue random_value(Random& random, int levels);

inline AttributeMap random_map(Random& random, int levels) {
  std::vector<AttributeMap::Entry> entries;
  for (std::uint64_t size = random.below(6); size > 0; --size) {
    entries.push_back({random_text(random), random_value(random, levels)});
  }
  return AttributeMap::from_unsorted(std::move(entries));
}

// `levels` is how many levels of lists and maps it may hold.
inline AttributeValue random_value(Random& random, int levels) {
  const auto several = [&](auto make) {
    std::vector<decltype(make(random))> members;
    for (std::uint64_t size = 1 + random.below(5); size > 0; --size) members.push_back(make(random));
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
    return members;
  };
  switch (static_cast<Type>(random.below(10))) {
    case Type::S: return AttributeValue(random_text(random));
    case Type::N: return AttributeValue(random_number(random));
    case Type::B: return AttributeValue(Binary{random_bytes(random)});
    case Type::SS: return make_string_set(several(random_text)).value();
    case Type::NS: return make_number_set(several(random_number)).value();
    case Type::BS: return make_binary_set(several(random_bytes)).value();
    case Type::M:
      if (levels > 0) return AttributeValue(random_map(random, levels - 1));
      break;
    case Type::L:
      if (levels > 0) {
        List list;
        for (std::uint64_t size = random.below(5); size > 0; --size) list.push_back(random_value(random, levels - 1));
        return AttributeValue(std::move(list));
      }
      break;
    case Type::Bool: return AttributeValue::boolean(random.below(2) == 0);
    case Type::Null: break;
  }
  return AttributeValue(Null{});
}

}  // namespace stator::value
