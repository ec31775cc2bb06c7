#include "stator/model/import/yaml_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "stator/base/ascii.h"
#include "stator/value/json.h"

namespace stator::model::import {
void YamlText::begin(std::string_view key) {
  indent();
  text_ += fmt::format("{}:\n", yaml_key(key));
  ++depth_;
}

void YamlText::end() { --depth_; }

void YamlText::line(std::string_view key, std::string_view value) {
  indent();
  text_ += fmt::format("{}: {}\n", yaml_key(key), value);
}

void YamlText::note(std::string_view text) {
  std::string flat(text);
  std::replace_if(flat.begin(), flat.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  indent();
  text_ += fmt::format("# {}\n", flat);
  notes_.push_back(std::move(flat));
}

void YamlText::blank() { text_ += '\n'; }

void YamlText::indent() { text_.append(depth_ * 2, ' '); }

std::string yaml_string(std::string_view text) {
  std::string out;
  value::append_json_string(out, text);  // JSON's strings are YAML's
  return out;
}

std::string yaml_key(std::string_view text) {
  constexpr std::array<std::string_view, 8> kWords = {"true", "false", "null", "yes", "no", "on", "off", "y"};
  const bool plain = !text.empty() && !is_digit(text.front()) && std::all_of(text.begin(), text.end(), [](char c) {
    return is_upper(c) || is_lower(c) || is_digit(c) || c == '_';
  }) && std::find(kWords.begin(), kWords.end(), text) == kWords.end();
  return plain ? std::string(text) : yaml_string(text);
}

std::string yaml_list(const std::vector<std::string>& quoted_values) {
  return fmt::format("[{}]", fmt::join(quoted_values, ", "));
}

std::string entity_name(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (!is_upper(c) && !is_lower(c) && !is_digit(c)) {
      if (!out.empty() && out.back() != '_') out += '_';
      continue;
    }
    if (i > 0 && is_upper(c) && (is_lower(name[i - 1]) || is_digit(name[i - 1])) && out.back() != '_') out += '_';
    out += to_upper(c);
  }
  if (out.empty() || is_digit(out.front())) out.insert(0, "E_");
  return out;
}

std::string attribute_name(std::string_view name) {
  std::string out;
  for (const char c : name) out += is_upper(c) || is_lower(c) || is_digit(c) ? c : '_';
  if (out.empty() || is_digit(out.front())) out.insert(0, "_");
  return out;
}

std::string model_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (is_upper(c) || is_lower(c) || is_digit(c)) {
      out += to_lower(c);
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  if (out.empty() || !is_lower(out.front())) out.insert(0, "m");
  return out;
}

}  // namespace stator::model::import
