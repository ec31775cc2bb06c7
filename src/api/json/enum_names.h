#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

// The values of enumerations, as they are called on the wire.
namespace stator::api {

// `names`: one for each value, in their order.
template <typename Enum>
struct EnumNames;

template <typename Enum>
constexpr std::string_view wire_name(Enum value) {
  return EnumNames<Enum>::names[static_cast<std::size_t>(value)];
}

// Nullopt: no value has that name.
template <typename Enum>
constexpr std::optional<Enum> from_wire_name(std::string_view text) {
  const auto& names = EnumNames<Enum>::names;
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

}  // namespace stator::api
