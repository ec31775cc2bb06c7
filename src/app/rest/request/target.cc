#include "stator/app/rest/request/target.h"

#include <fmt/format.h>

#include <algorithm>

#include "stator/value/json.h"
#include "stator/value/well_formed.h"

namespace stator::app {
namespace {

constexpr std::size_t kMaxParameters = 100;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  if (!value::is_utf8(out)) return std::nullopt;
  return out;
}

std::string_view take_until(std::string_view& text, char separator) {
  const auto end = std::min(text.find(separator), text.size());
  const auto part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

}  // namespace

std::optional<std::string> decode_percent(std::string_view text) { return decode(text, false); }

std::string encode_percent(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::vector<std::string_view> split_path(std::string_view path) {
  std::vector<std::string_view> segments;
  if (path.starts_with('/')) path.remove_prefix(1);
  if (path.empty()) return segments;
  for (;;) {
    const auto end = path.find('/');
    segments.push_back(path.substr(0, end));
    if (end == path.npos) return segments;
    path.remove_prefix(end + 1);
  }
}

Result<QueryParameters> QueryParameters::parse(std::string_view query) {
  QueryParameters parameters;
  while (!query.empty()) {
    auto value = take_until(query, '&');
    if (value.empty()) continue;
    const auto name = decode(take_until(value, '='), true);
    auto text = decode(value, true);
    if (!name || !text) return validation_error("the query string is not percent-encoded UTF-8");
    if (parameters.find(*name) != nullptr) return validation_error(fmt::format("{} is given twice", *name));
    if (parameters.all_.size() >= kMaxParameters) return validation_error("there are too many query parameters");
    parameters.all_.emplace_back(*name, std::move(*text));
  }
  return parameters;
}

const std::string* QueryParameters::find(std::string_view name) const {
  const auto found = std::ranges::find(all_, name, &std::pair<std::string, std::string>::first);
  return found != all_.end() ? &found->second : nullptr;
}

}  // namespace stator::app
