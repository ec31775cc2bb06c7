#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>

#include "stator/base/bytes.h"
#include "stator/value/number.h"

// For tests: reads the bytes that Number::append_ordered writes.
namespace stator::value {

// Takes a number off the front of `in`.  nullopt when these are not the bytes of a number.
inline std::optional<Number> take_ordered(BytesView& in) {
  if (in.size() < 2) return std::nullopt;
  if (in[0] == '\x80' && in[1] == '\x00') {
    in.remove_prefix(2);
    return Number();
  }
  const auto lead = static_cast<unsigned char>(in[0]);
  const bool negative = lead < 0x80;
  const auto inverted = static_cast<unsigned char>(negative ? 0xFF : 0x00);
  std::string digits;
  std::size_t at = 1;
  for (bool more = true; more; ++at) {
    if (at >= in.size()) return std::nullopt;
    const unsigned byte = static_cast<unsigned char>(in[at]) ^ inverted;
    const unsigned pair = byte / 2;
    more = (byte & 1) != 0;
    if (pair > 99 || (pair == 0 && (at == 1 || !more))) return std::nullopt;
    digits += fmt::format("{:02}", pair);
  }
  const int pairs = static_cast<int>(at) - 1;
  const int exponent = 2 * ((lead ^ inverted) - 0xC1 - (pairs - 1));
  const auto number = Number::parse(fmt::format("{}{}E{}", negative ? "-" : "", digits, exponent));
  if (!number) return std::nullopt;
  in.remove_prefix(at);
  return *number;
}

}  // namespace stator::value
