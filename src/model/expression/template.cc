#include "stator/model/expression/template.h"

#include <algorithm>

#include <fmt/format.h>
#include <xxhash.h>

#include "stator/base/ascii.h"
#include "stator/model/expression/name_start.h"
#include "stator/model/types/calendar.h"

namespace stator::model {
namespace {

using value::AttributeValue;

constexpr std::size_t kMaxTemplateBytes = 2048;
constexpr std::size_t kMaxParts = 64;
constexpr unsigned kMaxWidth = 38;  // as many digits as a number has
constexpr unsigned kMaxShards = 256;

// A name, or names joined by dots.
bool is_path(std::string_view text) {
  bool start = true;
  for (const char c : text) {
    if (start ? !is_name_start(c) : !is_name_start(c) && !is_digit(c) && c != '.') return false;
    start = c == '.';
  }
  return !start;
}

std::optional<Transform> transform_named(std::string_view name) {
  if (name == "sortable") return Transform::Sortable;
  if (name == "alphabetical") return Transform::Alphabetical;
  if (name == "raw") return Transform::Raw;
  if (name == "year") return Transform::Year;
  if (name == "month") return Transform::Month;
  if (name == "day") return Transform::Day;
  return std::nullopt;
}

// A number of up to three digits; nullopt for anything else.
std::optional<unsigned> small_number(std::string_view text) {
  if (text.empty() || text.size() > 3 || !std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
  unsigned number = 0;
  for (const char c : text) number = number * 10 + static_cast<unsigned>(c - '0');
  return number;
}

Error template_error_at(std::size_t offset, std::string_view message) {
  return validation_error(fmt::format("column {}: {}", offset + 1, message));
}

// `hole`: the text between two braces, which begins at `offset`.
Result<Template::Part> parse_hole(std::string_view hole, std::size_t offset) {
  const std::size_t name_size = hole.find_first_of("|:");
  const std::string_view name = hole.substr(0, name_size);
  if (name.empty()) return template_error_at(offset, "an attribute's name is missing between { and }");
  if (!is_path(name)) return template_error_at(offset, fmt::format("'{}' is not an attribute's name", name));
  const bool has_option = name_size != std::string_view::npos;
  const std::size_t option_offset = offset + name_size + 1;
  const std::string_view option = has_option ? hole.substr(name_size + 1) : std::string_view();
  const bool is_width = has_option && hole[name_size] == ':';

  if (name == "shard") {
    const auto count = is_width && !option.starts_with('0') ? small_number(option) : std::nullopt;
    if (!count || *count > kMaxShards) {
      return template_error_at(offset,
                               fmt::format("a shard is written {{shard:8}}, with a count from 1 to {}", kMaxShards));
    }
    return Template::Shard{.count = *count};
  }
  Template::Field field{.attribute = std::string(name), .transform = Transform::Escaped, .width = 0};
  if (is_width) {
    const auto width = option.starts_with('0') ? small_number(option) : std::nullopt;
    if (!width || *width == 0 || *width > kMaxWidth) {
      return template_error_at(
          option_offset, fmt::format("padding is written {{{}:05}}, with a width from 01 to {}", name, kMaxWidth));
    }
    field.width = *width;
  } else if (has_option) {
    const auto transform = transform_named(option);
    if (!transform) {
      return template_error_at(
          option_offset,
          fmt::format("'{}' is not a transform; there are sortable, alphabetical, raw, year, month and day", option));
    }
    field.transform = *transform;
  }
  return field;
}

Error misfit(const Template::Field& field, std::string_view problem) {
  return validation_error(fmt::format("{} {}", field.attribute, problem));
}

Result<std::string> padded(const Template::Field& field, const AttributeValue& value) {
  const auto* number = value.as_number();
  const std::string digits = number != nullptr ? number->to_string() : std::string();
  const bool is_whole = !digits.empty() && std::all_of(digits.begin(), digits.end(), is_digit);
  if (!is_whole || digits.size() > field.width) {
    return misfit(field, fmt::format("must be a whole number from 0 to {}", std::string(field.width, '9')));
  }
  return std::string(field.width - digits.size(), '0') + digits;
}

Result<std::string> date_part(const Template::Field& field, std::string_view text) {
  auto day = parse_date(text);
  if (!day) {
    if (const auto moment = parse_timestamp(text)) day = std::chrono::floor<std::chrono::days>(*moment);
  }
  if (!day) return misfit(field, "must be a date or a timestamp");
  constexpr std::size_t kYearBytes = 4;
  constexpr std::size_t kMonthBytes = 7;
  const std::string date = format_date(*day);
  switch (field.transform) {
    case Transform::Year: return date.substr(0, kYearBytes);
    case Transform::Month: return date.substr(0, kMonthBytes);
    default: return date;
  }
}

// As wide as the largest shard's number, so that shards sort by number.
unsigned shard_width(unsigned count) { return static_cast<unsigned>(std::to_string(count - 1).size()); }
std::string shard_text(unsigned count, unsigned shard) {
  return fmt::format("{:0{}}", shard % count, shard_width(count));
}

// The texts that a part can give: one text, or `width` characters that `takes` accepts, or any number of them.
struct Place {
  std::optional<std::string> text;
  bool (*takes)(char) = nullptr;
  unsigned width = 0;
};

constexpr auto kTakesDigits = [](char c) { return is_digit(c); };
constexpr auto kTakesEscaped = [](char c) { return static_cast<unsigned char>(c) >= '%'; };
constexpr auto kTakesAll = [](char) { return true; };

// nullopt when the value that is there does not fit.
std::optional<Place> place_of(const Template::Part& part, const Template::Lookup& lookup) {
  if (const auto* literal = std::get_if<Template::Literal>(&part)) return Place{.text = literal->text};
  if (const auto* shard = std::get_if<Template::Shard>(&part)) {
    return Place{.text = {}, .takes = kTakesDigits, .width = shard_width(shard->count)};
  }
  const auto& field = std::get<Template::Field>(part);
  const AttributeValue* value = lookup(field.attribute);
  if (value != nullptr && value->type() != value::Type::Null) {
    auto filled = fill(field, *value);
    if (!filled.ok()) return std::nullopt;
    return Place{.text = std::move(*filled)};
  }
  if (field.width != 0) return Place{.text = {}, .takes = kTakesDigits, .width = field.width};
  return Place{.text = {}, .takes = field.transform == Transform::Raw ? +kTakesAll : +kTakesEscaped};
}

// Where in `text` a place can end that begins at `begin`, marked in `ends`.
void mark_ends(const Place& place, std::string_view text, std::size_t begin, std::vector<bool>& ends) {
  if (place.text) {
    if (text.substr(begin).starts_with(*place.text)) ends[begin + place.text->size()] = true;
    return;
  }
  for (std::size_t end = begin;; ++end) {
    const auto size = end - begin;
    if (place.width == 0 && ends[end]) return;  // an earlier beginning has been here, and has marked all that follows
    if (place.width == 0 || size == place.width) ends[end] = true;
    if (end == text.size() || !place.takes(text[end]) || (place.width != 0 && size == place.width)) return;
  }
}

}  // namespace

Result<Template> Template::parse(std::string_view text) {
  if (text.empty()) return template_error_at(0, "a template cannot be empty");
  if (text.size() > kMaxTemplateBytes)
    return template_error_at(kMaxTemplateBytes, fmt::format("a template has at most {} bytes", kMaxTemplateBytes));
  Template result;
  result.text_ = text;
  std::string literal;
  const auto end_literal = [&] {
    if (!literal.empty()) result.parts_.emplace_back(Literal{std::move(literal)});
    literal.clear();
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c != '{' && c != '}') {
      literal += c;
    } else if (at + 1 < text.size() && text[at + 1] == c) {
      literal += c;
      ++at;
    } else if (c == '}') {
      return template_error_at(at, "a } without its {; the character itself is written }}");
    } else {
      const std::size_t end = text.find('}', at);
      if (end == std::string_view::npos)
        return template_error_at(at, "a { without its }; the character itself is written {{");
      end_literal();
      result.parts_.push_back(TRY(parse_hole(text.substr(at + 1, end - at - 1), at + 1)));
      at = end;
    }
    if (result.parts_.size() >= kMaxParts)
      return template_error_at(at, fmt::format("a template has at most {} parts", kMaxParts));
  }
  end_literal();
  return result;
}

std::vector<std::string> Template::attributes() const {
  std::vector<std::string> names;
  for (const auto& part : parts_) {
    const auto* field = std::get_if<Field>(&part);
    if (field != nullptr && std::find(names.begin(), names.end(), field->attribute) == names.end()) {
      names.push_back(field->attribute);
    }
  }
  return names;
}

unsigned Template::shards() const {
  unsigned shards = 1;
  for (const auto& part : parts_) {
    if (const auto* shard = std::get_if<Shard>(&part)) shards = std::max(shards, shard->count);
  }
  return shards;
}

bool Template::constant() const {
  return std::all_of(parts_.begin(), parts_.end(),
                     [](const Part& part) { return std::holds_alternative<Literal>(part); });
}

Result<std::optional<std::string>> Template::render(const Lookup& lookup, unsigned shard) const {
  auto prefix = TRY(render_prefix(lookup, shard));
  if (!prefix.complete) return std::optional<std::string>();
  return std::optional(std::move(prefix.text));
}

bool Template::could_give(std::string_view text, const Lookup& lookup) const {
  std::vector<bool> ends(text.size() + 1);  // where what has been seen of the template can end
  ends[0] = true;
  for (const auto& part : parts_) {
    const auto place = place_of(part, lookup);
    if (!place) return false;
    std::vector<bool> next(ends.size());
    for (std::size_t begin = 0; begin < ends.size(); ++begin) {
      if (ends[begin]) mark_ends(*place, text, begin, next);
    }
    ends = std::move(next);
  }
  return ends.back();
}

Result<Template::Prefix> Template::render_prefix(const Lookup& lookup, unsigned shard) const {
  Prefix prefix;
  for (const auto& part : parts_) {
    if (const auto* literal = std::get_if<Literal>(&part)) {
      prefix.text += literal->text;
    } else if (const auto* hole = std::get_if<Shard>(&part)) {
      prefix.text += shard_text(hole->count, shard);
    } else {
      const auto& field = std::get<Field>(part);
      const AttributeValue* value = lookup(field.attribute);
      if (value == nullptr || value->type() == value::Type::Null) return prefix;
      prefix.text += TRY(fill(field, *value));
    }
  }
  prefix.complete = true;
  return prefix;
}

Result<std::string> fill(const Template::Field& field, const AttributeValue& value) {
  if (field.width != 0) return padded(field, value);
  if (const auto* number = value.as_number()) return number->to_string();
  if (const auto* boolean = value.as_bool()) return std::string(*boolean ? "true" : "false");
  const auto* text = value.as_string();
  if (text == nullptr) return misfit(field, "must be a text, a number or a boolean to be part of a key");
  switch (field.transform) {
    case Transform::Escaped: return escape(*text);
    case Transform::Sortable: return escape(TRY(fold(*text)));
    case Transform::Alphabetical: return escape(TRY(fold_letters(*text)));
    case Transform::Raw: return *text;
    default: return date_part(field, *text);
  }
}

const AttributeValue* find_path(const value::Item& item, std::string_view path) {
  const value::Item* map = &item;
  while (true) {
    const std::size_t dot = path.find('.');
    const AttributeValue* value = map->find(path.substr(0, dot));
    if (value == nullptr || dot == std::string_view::npos) return value;
    map = value->as_map();
    if (map == nullptr) return nullptr;
    path.remove_prefix(dot + 1);
  }
}

Template::Lookup lookup_in(const value::Item& item) {
  return [&item](std::string_view path) { return find_path(item, path); };
}

std::string escape(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  const auto stays = [](char c) { return static_cast<unsigned char>(c) > '%'; };
  if (std::all_of(text.begin(), text.end(), stays)) return std::string(text);
  std::string escaped;
  escaped.reserve(text.size() + 2);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (stays(c)) {
      escaped += c;
    } else {
      escaped += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return escaped;
}

unsigned shard_of(std::string_view partition_key, std::string_view sort_key) {
  const auto seed = XXH64(partition_key.data(), partition_key.size(), 0);
  return static_cast<unsigned>(XXH64(sort_key.data(), sort_key.size(), seed));
}

}  // namespace stator::model
