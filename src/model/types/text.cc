#include "stator/model/types/text.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>

#include "stator/base/ascii.h"

namespace stator::model {
namespace {

// How many bytes at the start are ASCII without control characters, in words of eight, or fewer.
std::size_t ordinary_ascii(std::string_view text) {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kHighBits = kOnes * 0x80;
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    // Adding one carries a 7F into the high bit.  Subtracting borrows it where a byte is below 20.
    if (((word | (word + kOnes) | (word - kOnes * 0x20)) & kHighBits) != 0) break;
  }
  return at;
}

bool is_beyond_ascii(char c) { return static_cast<unsigned char>(c) >= 0x80; }

// Calls `check` with each part of `text` between `separator`s, while it returns true; whether it always did.
template <typename Check>
bool all_parts(std::string_view text, char separator, const Check& check) {
  while (true) {
    const std::size_t end = text.find(separator);
    if (!check(text.substr(0, end))) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 1);
  }
}

bool is_host_label(std::string_view label) {
  constexpr std::size_t kMaxBytes = 63;
  return !label.empty() && label.size() <= kMaxBytes && label.front() != '-' && label.back() != '-' &&
         std::all_of(label.begin(), label.end(),
                     [](char c) { return is_letter(c) || is_digit(c) || c == '-' || is_beyond_ascii(c); });
}

bool is_host(std::string_view host) { return all_parts(host, '.', is_host_label); }

bool is_port(std::string_view port) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  return error == std::errc() && end == port.data() + port.size() && number >= 1 && number <= 65535;
}

// A host or an address in brackets, and perhaps a port.
bool is_authority(std::string_view authority) {
  if (authority.starts_with('[')) {
    const std::size_t end = authority.find(']');
    if (end == std::string_view::npos || end == 1) return false;
    const auto address = authority.substr(1, end - 1);
    const auto rest = authority.substr(end + 1);
    return address.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos &&
           (rest.empty() || (rest.starts_with(':') && is_port(rest.substr(1))));
  }
  const std::size_t colon = authority.find(':');
  return is_host(authority.substr(0, colon)) &&
         (colon == std::string_view::npos || is_port(authority.substr(colon + 1)));
}

// `convert` applied to every character.
Result<std::string> map_characters(std::string_view text, utf8proc_int32_t (*convert)(utf8proc_int32_t)) {
  std::string mapped;
  const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto* const end = at + text.size();
  while (at != end) {
    utf8proc_int32_t c = 0;
    const auto size = utf8proc_iterate(at, end - at, &c);
    if (size <= 0) return validation_error("the text is not UTF-8");
    at += size;
    std::array<utf8proc_uint8_t, 4> bytes{};
    const auto written = utf8proc_encode_char(convert(c), bytes.data());
    mapped.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(written));
  }
  return mapped;
}

// White space, and characters that show nothing: joiners, fillers, marks of direction, and the empty pattern of
// Braille.
bool is_invisible(utf8proc_int32_t c) {
  constexpr utf8proc_int32_t kEmptyBraille = 0x2800;
  const auto* property = utf8proc_get_property(c);
  switch (property->category) {
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF: return true;
    default: return property->ignorable || c == kEmptyBraille;
  }
}

}  // namespace

bool is_blank(std::string_view text) {
  const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto* const end = at + text.size();
  while (at != end) {
    if (*at > ' ' && *at < 0x7F) return false;
    utf8proc_int32_t c = 0;
    const auto size = utf8proc_iterate(at, end - at, &c);
    if (size <= 0 || !is_invisible(c)) return false;
    at += size;
  }
  return true;
}

bool is_line_break(char32_t c) { return c == U'\n' || c == U'\r' || c == U'\u2028' || c == U'\u2029'; }

// Of UTF-8 the bytes are enough: C1 is C2 80 to C2 9F, and the separators are E2 80 A8 and E2 80 A9.
std::optional<char32_t> find_control(std::string_view text, bool many_lines) {
  const auto byte_at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    i += ordinary_ascii(text.substr(i));
    if (i == text.size()) break;
    const auto byte = byte_at(i);
    if (byte >= 0x20 && byte < 0x7F) continue;
    const bool is_layout = byte == '\t' || byte == '\n' || byte == '\r';
    if (byte == 0x7F || (byte < 0x20 && !(many_lines && is_layout))) return byte;
    if (byte == 0xC2 && byte_at(i + 1) < 0xA0) return byte_at(i + 1);
    const bool is_separator = byte == 0xE2 && byte_at(i + 1) == 0x80 && (byte_at(i + 2) | 1U) == 0xA9;
    if (is_separator && !many_lines) return U'\u2028' + (byte_at(i + 2) & 1U);
  }
  return std::nullopt;
}

Result<std::string> lower_case(std::string_view text) { return map_characters(text, utf8proc_tolower); }
Result<std::string> upper_case(std::string_view text) { return map_characters(text, utf8proc_toupper); }

std::string lower_ascii(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

bool normalise_uuid(std::string& text) {
  constexpr std::string_view kForm = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  std::string lower = lower_ascii(text);
  const bool fits = std::equal(lower.begin(), lower.end(), kForm.begin(), kForm.end(), [](char c, char form) {
    return form == '-' ? c == '-' : is_digit(c) || (c >= 'a' && c <= 'f');
  });
  if (fits) text = std::move(lower);
  return fits;
}

bool normalise_ulid(std::string& text) {
  constexpr std::size_t kSize = 26;
  std::string upper(text.size(), '\0');
  std::transform(text.begin(), text.end(), upper.begin(), to_upper);
  // 26 characters have room for 130 bits, and a ulid is 128: the first is at most 7.
  const bool fits = upper.size() == kSize && upper[0] <= '7' &&
                    upper.find_first_not_of("0123456789ABCDEFGHJKMNPQRSTVWXYZ") == std::string::npos;
  if (fits) text = std::move(upper);
  return fits;
}

bool normalise_email(std::string& text) {
  constexpr std::size_t kMaxLocalBytes = 64;
  const std::size_t at = text.rfind('@');
  if (text.size() > kMostEmailBytes || at == std::string::npos || at > kMaxLocalBytes) return false;
  const auto is_atom = [](std::string_view part) {
    return !part.empty() && std::all_of(part.begin(), part.end(), [](char c) {
      return is_letter(c) || is_digit(c) || is_beyond_ascii(c) ||
             std::string_view("!#$%&'*+-/=?^_`{|}~").find(c) != std::string_view::npos;
    });
  };
  const std::string_view view = text;
  const auto domain = view.substr(at + 1);
  if (!all_parts(view.substr(0, at), '.', is_atom) || !is_host(domain) || domain.find('.') == std::string_view::npos) {
    return false;
  }
  text = text.substr(0, at + 1) + lower_ascii(domain);
  return true;
}

bool is_url(std::string_view text) {
  if (text.size() > kMostUrlBytes) return false;
  const bool is_clean = std::all_of(text.begin(), text.end(), [](char c) {
    return is_beyond_ascii(c) ||
           (c > ' ' && c != 0x7F && std::string_view("\"<>\\^`{|}").find(c) == std::string_view::npos);
  });
  const std::size_t scheme_end = text.find("://");
  if (!is_clean || scheme_end == std::string_view::npos) return false;
  const std::string scheme = lower_ascii(text.substr(0, scheme_end));
  if (scheme != "http" && scheme != "https") return false;
  const auto rest = text.substr(scheme_end + 3);
  return is_authority(rest.substr(0, rest.find_first_of("/?#")));
}

}  // namespace stator::model
