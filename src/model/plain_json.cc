#include <utf8proc.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "stator/model/type_rules.h"
#include "stator/model/validate.h"
#include "stator/value/json.h"
#include "stator/value/plain_text.h"

namespace stator::model {
namespace {

using value::AttributeValue;
using value::Item;
using Problems = std::vector<Problem>;

constexpr int kMaxNesting = 32;

std::string member_path(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
}

// ------------------------------------------------------------------------------------------------------------------ reading

// JSON to values: texts S, numbers N, arrays L, objects M, null Null.  Strict.  simdjson would turn numbers into doubles and
// 64-bit integers; here every digit counts.
class JsonReader {
 public:
  JsonReader(std::string_view text, Problems& problems) : text_(text), problems_(problems) {}

  Result<Item> document() {
    skip_space();
    if (!at('{')) return error("it is not a JSON object");
    auto root = TRY(value("", 1));
    skip_space();
    if (at_ != text_.size()) return error("something follows the JSON object");
    return std::move(*root.as_map());
  }

 private:
  Error error(std::string_view problem) const { return validation_error(fmt::format("byte {}: {}", at_ + 1, problem)); }

  bool at(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool take(char c) {
    if (!at(c)) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  void skip_space() {
    while (at(' ') || at('\t') || at('\n') || at('\r')) ++at_;
  }
  bool take_digits() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ != begin;
  }

  // `level` is the nesting of what is read: 1 for the document itself.
  Result<AttributeValue> value(const std::string& path, int level) {
    if (level > kMaxNesting + 1) return error(fmt::format("it nests more than {} levels", kMaxNesting));
    if (at('{')) return object(path, level);
    if (at('[')) return array(path, level);
    if (at('"')) return AttributeValue(TRY(string()));
    if (take("true")) return AttributeValue::boolean(true);
    if (take("false")) return AttributeValue::boolean(false);
    if (take("null")) return AttributeValue();
    return number(path);
  }

  Result<AttributeValue> object(const std::string& path, int level) {
    ++at_;
    std::vector<Item::Entry> members;
    skip_space();
    while (!take('}')) {
      if (!members.empty()) {
        if (!take(',')) return error("a comma or } is missing");
        skip_space();
      }
      if (!at('"')) return error("a name in quotes is missing");
      std::string name = TRY(string());
      skip_space();
      if (!take(':')) return error("a colon is missing");
      skip_space();
      const std::string member = member_path(path, name);
      members.push_back({std::move(name), TRY(value(member, level + 1))});
      skip_space();
    }
    report_duplicates(path, members);
    return AttributeValue(Item::from_unsorted(std::move(members)));
  }

  void report_duplicates(const std::string& path, const std::vector<Item::Entry>& members) {
    std::vector<std::string_view> names;
    for (const auto& member : members) names.push_back(member.name);
    std::sort(names.begin(), names.end());
    for (auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end();) {
      problems_.push_back({member_path(path, *twice), "is given twice"});
      twice = std::upper_bound(twice, names.end(), *twice);
      twice = std::adjacent_find(twice, names.end());
    }
  }

  Result<AttributeValue> array(const std::string& path, int level) {
    ++at_;
    value::List elements;
    skip_space();
    while (!take(']')) {
      if (!elements.empty()) {
        if (!take(',')) return error("a comma or ] is missing");
        skip_space();
      }
      elements.push_back(TRY(value(fmt::format("{}[{}]", path, elements.size()), level + 1)));
      skip_space();
    }
    return AttributeValue(std::move(elements));
  }

  Result<AttributeValue> number(const std::string& path) {
    const std::size_t begin = at_;
    take('-');
    const bool has_digits = take('0') || take_digits();
    const bool has_fraction = !take('.') || take_digits();
    bool has_exponent = true;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      has_exponent = take_digits();
    }
    if (!has_digits || !has_fraction || !has_exponent) {
      at_ = begin;
      return error("a value is missing");
    }
    const auto number = value::Number::parse(text_.substr(begin, at_ - begin));
    if (number.ok()) return AttributeValue(*number);
    problems_.push_back({path, "must be a number of at most 38 digits, from 1E-130 to 9.99E+125 in size"});
    return AttributeValue();
  }

  // Stands for itself inside a string.
  Result<std::string> string() {
    const std::size_t begin = at_++;
    std::string result;
    while (!take('"')) {
      if (at_ == text_.size()) {
        at_ = begin;
        return error("the closing quote is missing");
      }
      const std::size_t plain = at_;
      at_ += value::plain_length(text_.substr(at_));
      result += text_.substr(plain, at_ - plain);
      if (at_ == text_.size() || text_[at_] == '"') continue;
      if (text_[at_] != '\\') return error("a control character must be written as an escape");
      ++at_;
      TRY(escape(result));
    }
    return result;
  }

  Result<void> escape(std::string& out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (take('u')) return unicode_escape(out);
    const std::size_t letter = at_ < text_.size() ? kLetters.find(text_[at_]) : std::string_view::npos;
    if (letter == std::string_view::npos) return error("there is no such escape");
    ++at_;
    out += kMeanings[letter];
    return {};
  }

  // Four hex digits.
  Result<std::int32_t> code_unit() {
    std::int32_t unit = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = at_ < text_.size() ? text_[at_] : '\0';
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
  Result<void> unicode_escape(std::string& out) {
    const auto is_high = [](std::int32_t unit) { return unit >= 0xD800 && unit < 0xDC00; };
    const auto is_low = [](std::int32_t unit) { return unit >= 0xDC00 && unit < 0xE000; };
    std::int32_t character = TRY(code_unit());
    if (is_high(character)) {
      const std::int32_t low = take("\\u") ? TRY(code_unit()) : 0;
      if (!is_low(low)) return error("an escape is half of a character");
      character = 0x10000 + ((character - 0xD800) << 10) + (low - 0xDC00);
    } else if (is_low(character)) {
      return error("an escape is half of a character");
    }
    std::array<utf8proc_uint8_t, 4> bytes{};
    const auto size = utf8proc_encode_char(character, bytes.data());
    out.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(size));
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Problems& problems_;
};

// ------------------------------------------------------------------------------------------------------------------ fitting

// What JSON cannot say by itself: sets, binary, absent members.
class Fitting {
 public:
  explicit Fitting(Problems& problems) : problems_(problems) {}

  // Turns `value` into one of the type's kind; nullopt when it is absent or does not fit, which is then reported.
  std::optional<AttributeValue> fit(const Type& type, const std::string& path, AttributeValue value) {
    if (type.kind == Kind::Any) return value;
    if (type.kind == Kind::Set && value.as_list() != nullptr) return set(type, path, std::move(*value.as_list()));
    if (type.kind == Kind::Binary) value = binary(std::move(value));
    if (!is_stored_as(type, value)) {
      problems_.push_back({path, misfit(type)});
      return std::nullopt;
    }
    if (type.kind == Kind::List && type.element != nullptr) {
      return AttributeValue(elements(*type.element, path, std::move(*value.as_list())));
    }
    if (type.kind == Kind::Map && !type.shape.empty())
      return AttributeValue(map(type, path, std::move(*value.as_map())));
    return value;
  }

 private:
  static AttributeValue binary(AttributeValue value) {
    std::string bytes;
    if (value.as_string() == nullptr || !value::decode_base64(*value.as_string(), bytes)) return value;
    return AttributeValue::binary(bytes);
  }

  // A set cannot be empty: without members it is absent.
  std::optional<AttributeValue> set(const Type& type, const std::string& path, value::List list) {
    const value::List members = elements(element_of(type), path, std::move(list));
    if (members.empty()) return std::nullopt;
    return set_of(type, members);
  }

  value::List elements(const Type& type, const std::string& path, value::List list) {
    value::List fitted;
    for (std::size_t i = 0; i < list.size(); ++i) {
      auto element = fit(type, fmt::format("{}[{}]", path, i), std::move(list[i]));
      if (element) fitted.push_back(std::move(*element));
    }
    return fitted;
  }

  Item map(const Type& type, const std::string& path, Item members) {
    for (const auto& attribute : type.shape) {
      AttributeValue* member = members.find(attribute.name);
      if (member == nullptr) continue;
      std::optional<AttributeValue> fitted;
      if (member->type() != value::Type::Null) {
        fitted = fit(attribute.type, member_path(path, attribute.name), std::move(*member));
      }
      if (fitted) {
        *member = std::move(*fitted);
      } else {
        members.erase(attribute.name);
      }
    }
    return members;
  }

  Problems& problems_;
};

// Whether something is wrong with an attribute or inside it.
bool has_problem(const Problems& problems, std::string_view name) {
  return std::any_of(problems.begin(), problems.end(), [&](const Problem& problem) {
    const std::string_view path = problem.attribute;
    return path.starts_with(name) &&
           (path.size() == name.size() || path[name.size()] == '.' || path[name.size()] == '[');
  });
}

// ------------------------------------------------------------------------------------------------------------------ writing

void append_members(std::string& out, const value::List& members) {
  out += '[';
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i != 0) out += ',';
    append_plain_json(out, members[i]);
  }
  out += ']';
}

}  // namespace

Result<PlainObject> read_plain_json(std::string_view text, const std::vector<Attribute>& attributes,
                                    Problems& problems) {
  const bool is_utf8 = simdjson::validate_utf8(text.data(), text.size());
  if (!is_utf8) return validation_error("it is not UTF-8");
  const Item members = TRY(JsonReader(text, problems).document());
  PlainObject object;
  for (const auto& member : members) {
    const auto attribute =
        std::find_if(attributes.begin(), attributes.end(), [&](const Attribute& a) { return a.name == member.name; });
    if (attribute == attributes.end()) {
      problems.push_back({member.name, unknown_attribute(attributes, member.name)});
      continue;
    }
    std::optional<AttributeValue> fitted;
    if (member.value.type() != value::Type::Null) {
      fitted = Fitting(problems).fit(attribute->type, member.name, member.value);
    }
    if (has_problem(problems, member.name)) continue;
    if (fitted) {
      object.values.set(member.name, std::move(*fitted));
    } else {
      object.nulls.push_back(member.name);
    }
  }
  return object;
}

void append_plain_json(std::string& out, const AttributeValue& value) {
  switch (value.type()) {
    case value::Type::S: return value::append_json_string(out, *value.as_string());
    case value::Type::N: return value.as_number()->append_to(out);
    case value::Type::B:
      out += '"';
      value::append_base64(out, value.as_binary()->bytes);
      out += '"';
      return;
    case value::Type::Bool: out += *value.as_bool() ? "true" : "false"; return;
    case value::Type::Null: out += "null"; return;
    case value::Type::L: return append_members(out, *value.as_list());
    case value::Type::M: {
      out += '{';
      bool first = true;
      for (const auto& entry : *value.as_map()) {
        if (!first) out += ',';
        first = false;
        value::append_json_string(out, entry.name);
        out += ':';
        append_plain_json(out, entry.value);
      }
      out += '}';
      return;
    }
    default: return append_members(out, members_of(value));
  }
}

}  // namespace stator::model
