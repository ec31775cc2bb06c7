#include "stator/api/json/shape.h"

#include <algorithm>

#include "stator/base/ascii.h"

namespace stator::api {
namespace {

bool is_alphanumeric(char c) { return is_letter(c) || is_digit(c); }
bool is_name(char c) { return is_alphanumeric(c) || c == '_' || c == '.' || c == '-'; }
bool is_printable(char c) { return c >= 0x20 && c <= 0x7e; }

bool is_text(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 && c != '\r' && c != '\n' && c != '\t') return false;
  }
  return text.find("\xEF\xBF\xBE") == text.npos && text.find("\xEF\xBF\xBF") == text.npos;  // U+FFFE and U+FFFF
}

bool is_bucket(std::string_view text) {
  return text.size() >= 2 && is_alphanumeric(text.front()) && is_alphanumeric(text.back()) &&
         std::ranges::all_of(text, is_name);
}

bool is_hex_groups(std::string_view text) {
  return !text.empty() && text.size() % 16 == 0 &&
         std::ranges::all_of(text, [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
}

}  // namespace

bool matches(TextPattern pattern, std::string_view text) {
  switch (pattern) {
    case TextPattern::None: return true;
    case TextPattern::Name: return !text.empty() && std::ranges::all_of(text, is_name);
    case TextPattern::Printable: return !text.empty() && std::ranges::all_of(text, is_printable);
    case TextPattern::Text: return is_text(text);
    case TextPattern::CsvHeader:
      return std::ranges::all_of(text, [](char c) { return is_printable(c) && c != '"' && c != ','; });
    case TextPattern::CsvDelimiter:
      return text.size() == 1 && std::string_view(",;:|\t ").find(text.front()) != std::string_view::npos;
    case TextPattern::NoDollar: return !text.empty() && text.find('$') == text.npos;
    case TextPattern::TwelveDigits: return text.size() == 12 && std::ranges::all_of(text, is_digit);
    case TextPattern::HexGroups: return is_hex_groups(text);
    case TextPattern::Bucket: return is_bucket(text);
  }
  return false;
}

const OperationShape* find_operation(std::string_view name) {
  const auto all = operations();
  const auto found = std::ranges::lower_bound(all, name, {}, &OperationShape::name);
  return found != all.end() && found->name == name ? &*found : nullptr;
}

const Shape* input_shape(std::string_view operation) {
  const auto* found = find_operation(operation);
  return found ? found->input : nullptr;
}

}  // namespace stator::api
