#include "stator/model/json_reader.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "stator/model/problem_list.h"
#include "stator/value/plain_text.h"

namespace stator::model {
namespace {

using value::AttributeValue;
using value::Item;

constexpr std::size_t kMostNumberBytes = 1024;  // of one that lies in two pieces

bool is_of_number(char c) { return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'; }

// Whether JSON has such a number.
bool is_number(std::string_view text) {
  std::size_t at = 0;
  const auto take = [&](char c) {
    const bool there = at < text.size() && text[at] == c;
    at += there ? 1 : 0;
    return there;
  };
  const auto take_digits = [&] {
    const std::size_t begin = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at != begin;
  };
  take('-');
  if (!take('0') && !take_digits()) return false;
  if (take('.') && !take_digits()) return false;
  if (take('e') || take('E')) {
    if (!take('+')) take('-');
    if (!take_digits()) return false;
  }
  return at == text.size();
}

void append_place(std::string& out, const JsonPlace& place) {
  if (place.parent != nullptr) append_place(out, *place.parent);
  if (place.index != JsonPlace::kNone) {
    out += fmt::format("[{}]", place.index);
  } else {
    if (!out.empty()) out += '.';
    out += shown_name(place.name);
  }
}

}  // namespace

std::string JsonPlace::text() const {
  std::string out;
  append_place(out, *this);
  return out;
}

Error JsonReader::error_at(std::size_t at, std::string_view problem) const {
  if (failed_) return failure_;
  return validation_error(fmt::format("byte {}: {}", before_ + at + 1, problem));
}

bool JsonReader::more() {
  if (failed_) return false;
  auto piece = source_->next();
  before_ += text_.size();
  at_ = 0;
  text_ = {};
  if (!piece) {
    failed_ = true;
    failure_ = std::move(piece).error();
    return false;
  }
  text_ = *piece;
  return !text_.empty();
}

Result<bool> JsonReader::next(char closing, std::string_view missing) {
  skip_space();
  if (take(closing)) {
    first_ = false;
    return false;
  }
  if (!first_) {
    if (!take(',')) return error(missing);
    skip_space();
  }
  first_ = false;
  return true;
}

Result<bool> JsonReader::next_member(std::string& name) {
  if (!TRY(next('}', "a comma or } is missing"))) return false;
  if (!at('"')) return error("a name in quotes is missing");
  name.clear();
  if (!TRY(string(&name))) return error("a name is too long");
  skip_space();
  if (!take(':')) return error("a colon is missing");
  skip_space();
  return true;
}

Result<bool> JsonReader::next_element() { return next(']', "a comma or ] is missing"); }

Result<void> JsonReader::end() {
  skip_space();
  if (here()) return error("something follows the JSON object");
  if (failed_) return failure_;
  return {};
}

Result<bool> JsonReader::take_word(std::string_view word) {
  if (!at(word.front())) return false;
  const auto begin = at_;
  for (const char c : word) {
    if (!take(c)) return error_at(std::min(begin, at_), "a value is missing");
  }
  return true;
}

Result<AttributeValue> JsonReader::value(const JsonPlace& place, int level) {
  if (level > kDeepestJson + 1) return error(fmt::format("it nests more than {} levels", kDeepestJson));
  if (++values_ > kMostJsonValues) {
    return Error{ErrorCode::LimitExceeded, fmt::format("it has more than {} values", kMostJsonValues)};
  }
  if (at('{')) return object(place, level);
  if (at('[')) return array(place, level);
  if (at('"')) {
    std::string text;
    if (TRY(string(&text))) return AttributeValue(std::move(text));
    add_problem(problems_, place.text(), fmt::format("must have at most {} bytes", kMostTextBytes));
    return AttributeValue();
  }
  if (TRY(take_word("true"))) return AttributeValue::boolean(true);
  if (TRY(take_word("false"))) return AttributeValue::boolean(false);
  if (TRY(take_word("null"))) return AttributeValue();
  return number(place);
}

Result<void> JsonReader::skip(int level) {
  if (level > kDeepestJson + 1) return error(fmt::format("it nests more than {} levels", kDeepestJson));
  if (take('{')) {
    first_ = true;
    while (TRY(next('}', "a comma or } is missing"))) {
      if (!at('"')) return error("a name in quotes is missing");
      TRY(string(nullptr));
      skip_space();
      if (!take(':')) return error("a colon is missing");
      skip_space();
      TRY(skip(level + 1));
    }
    return {};
  }
  if (take('[')) {
    first_ = true;
    while (TRY(next_element())) TRY(skip(level + 1));
    return {};
  }
  if (at('"')) {
    TRY(string(nullptr));
    return {};
  }
  for (const std::string_view word : {"true", "false", "null"}) {
    if (TRY(take_word(word))) return {};
  }
  TRY(number_text());
  return {};
}

Result<AttributeValue> JsonReader::object(const JsonPlace& place, int level) {
  std::vector<Item::Entry> members;
  open('{');
  std::string name;
  while (TRY(next_member(name))) {
    auto content = TRY(value({.parent = &place, .name = name}, level + 1));
    members.push_back({std::move(name), std::move(content)});
  }
  report_duplicates(place, members);
  return AttributeValue(Item::from_unsorted(std::move(members)));
}

void JsonReader::report_duplicates(const JsonPlace& place, const std::vector<Item::Entry>& members) {
  std::vector<std::string_view> names;
  names.reserve(members.size());
  for (const auto& member : members) names.push_back(member.name);
  std::sort(names.begin(), names.end());
  for (auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end();) {
    add_problem(problems_, JsonPlace{.parent = &place, .name = *twice}.text(), "is given twice");
    twice = std::upper_bound(twice, names.end(), *twice);
    twice = std::adjacent_find(twice, names.end());
  }
}

Result<AttributeValue> JsonReader::array(const JsonPlace& place, int level) {
  value::List elements;
  open('[');
  while (TRY(next_element())) {
    elements.push_back(TRY(value({.parent = &place, .index = elements.size()}, level + 1)));
  }
  return AttributeValue(std::move(elements));
}

Result<std::string_view> JsonReader::number_text() {
  here();
  const auto begin = at_;
  while (at_ < text_.size() && is_of_number(text_[at_])) ++at_;
  auto text = text_.substr(begin, at_ - begin);
  if (at_ == text_.size() && source_ != nullptr) {
    straddling_ = text;
    while (here() && is_of_number(text_[at_])) {
      if (straddling_.size() == kMostNumberBytes) return error("a number is too long");
      straddling_ += text_[at_++];
    }
    text = straddling_;
  }
  if (is_number(text)) return text;
  return error_at(begin, "a value is missing");
}

Result<AttributeValue> JsonReader::number(const JsonPlace& place) {
  const auto number = value::Number::parse(TRY(number_text()));
  if (number.ok()) return AttributeValue(*number);
  add_problem(problems_, place.text(), "must be a number of at most 38 digits, from 1E-130 to 9.99E+125 in size");
  return AttributeValue();
}

// Stands for itself inside a string.
Result<bool> JsonReader::string(std::string* out) {
  const std::size_t begin = before_ + at_++;
  bool too_long = false;
  while (!take('"')) {
    if (!here()) {
      if (failed_) return failure_;
      return validation_error(fmt::format("byte {}: the closing quote is missing", begin + 1));
    }
    const std::size_t plain = at_;
    at_ += value::plain_length(text_.substr(at_));
    too_long = too_long || (out != nullptr && out->size() + (at_ - plain) > kMostTextBytes);
    if (out != nullptr && !too_long) out->append(text_.substr(plain, at_ - plain));
    if (at_ == text_.size() || text_[at_] == '"') continue;
    if (text_[at_] != '\\') return error("a control character must be written as an escape");
    ++at_;
    TRY(escape(too_long ? nullptr : out));
  }
  return !too_long;
}

Result<void> JsonReader::escape(std::string* out) {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  if (take('u')) return unicode_escape(out);
  const std::size_t letter = here() ? kLetters.find(text_[at_]) : std::string_view::npos;
  if (letter == std::string_view::npos) return error("there is no such escape");
  ++at_;
  if (out != nullptr) *out += kMeanings[letter];
  return {};
}

// Four hex digits.
Result<std::int32_t> JsonReader::code_unit() {
  std::int32_t unit = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    const char c = here() ? text_[at_] : '\0';
    const char lower = static_cast<char>(c | 0x20);
    if (c >= '0' && c <= '9') {
      unit = unit * 16 + (c - '0');
    } else if (lower >= 'a' && lower <= 'f') {
      unit = unit * 16 + (lower - 'a' + 10);
    } else {
      return error("\\u is followed by four hexadecimal digits");
    }
  }
  return unit;
}

// A character beyond the first 65536 is written as two escapes, a high and a low half.
Result<void> JsonReader::unicode_escape(std::string* out) {
  const auto is_high = [](std::int32_t unit) { return unit >= 0xD800 && unit < 0xDC00; };
  const auto is_low = [](std::int32_t unit) { return unit >= 0xDC00 && unit < 0xE000; };
  std::int32_t character = TRY(code_unit());
  if (is_high(character)) {
    const std::int32_t low = take('\\') && take('u') ? TRY(code_unit()) : 0;
    if (!is_low(low)) return error("an escape is half of a character");
    character = 0x10000 + ((character - 0xD800) << 10) + (low - 0xDC00);
  } else if (is_low(character)) {
    return error("an escape is half of a character");
  }
  if (out == nullptr) return {};
  std::array<utf8proc_uint8_t, 4> bytes{};
  const auto size = utf8proc_encode_char(character, bytes.data());
  out->append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(size));
  return {};
}

}  // namespace stator::model
