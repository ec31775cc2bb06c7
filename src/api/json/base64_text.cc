#include "stator/api/json/base64_text.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>

namespace stator::api {
namespace {

constexpr auto kBase64 = [] {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
  }
  return values;
}();

int base64_value(char c) { return kBase64[static_cast<unsigned char>(c)]; }

// Bits of the last digit that belong to no byte.
int stray_bits(std::size_t digits) { return digits % 4 == 2 ? 0xF : digits % 4 == 3 ? 0x3 : 0; }

}  // namespace

std::string_view without_padding(std::string_view text) {
  for (int pads = 0; pads < 2 && text.ends_with('='); ++pads) text.remove_suffix(1);
  return text;
}

bool is_base64(std::string_view text) {
  if (text.size() % 4 != 0) return false;
  const auto digits = without_padding(text);
  int all = 0;
  for (const char c : digits) all |= base64_value(c);  // a bad one is negative, and stays so
  return all >= 0 && (digits.empty() || (base64_value(digits.back()) & stray_bits(digits.size())) == 0);
}

std::string base64_error(std::string_view text) {
  if (text.size() % 4 != 0) {
    return fmt::format("Base64 encoded length is expected a multiple of 4 bytes but found: {}", text.size());
  }
  const auto digits = without_padding(text);
  if (!digits.empty() && base64_value(digits.back()) >= 0 &&
      (base64_value(digits.back()) & stray_bits(digits.size())) != 0) {
    return "Invalid last non-pad Base64 character dectected";  // the service's spelling
  }
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (base64_value(digits[i]) >= 0) continue;
    std::size_t end = i + 1;
    while (end < digits.size() && (static_cast<unsigned char>(digits[end]) & 0xC0) == 0x80) ++end;
    return fmt::format("Invalid base 64 character: '{}'", digits.substr(i, end - i));
  }
  return "Invalid base 64 text";
}

}  // namespace stator::api
