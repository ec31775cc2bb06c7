#include <algorithm>
#include <utility>

#include "stator/model/check/proof/keys.h"
#include "stator/model/check/proof/regex.h"

// The texts that a hole of a template can hold, by the type and the transform of its attribute.
namespace stator::model {
namespace {

using Field = Template::Field;

const std::vector<std::string> kBooleans = {"false", "true"};
constexpr unsigned kMostCounted = 16;  // longer texts are taken to have no bound: nothing is proved by counting so far

Language digits(unsigned count) { return Language::byte('0', '9').times(count); }

// The texts that escape() writes for an escaped byte.
Language escape_sequence() {
  const auto hex = Language::byte('0', '9') | Language::byte('A', 'F');
  return Language::text("%") + ((Language::byte('0', '1') + hex) | (Language::text("2") + Language::byte('0', '5')));
}

constexpr unsigned char kLastEscaped = '%';

// One character of a text as it lies in a key.
Language character(Transform transform, bool lower = false) {
  const auto first = static_cast<unsigned char>(transform == Transform::Raw ? 0 : kLastEscaped + 1);
  const auto plain = lower || folds(transform) ? Language::byte(first, 'A' - 1) | Language::byte('Z' + 1, 0x7F)
                                               : Language::byte(first, 0x7F);
  return transform == Transform::Raw ? plain | wide_character() : plain | escape_sequence() | wide_character();
}

std::optional<unsigned> length(const std::optional<value::Number>& bound) {
  const auto number = bound ? bound->to_int64() : std::nullopt;
  if (!number || *number < 0 || *number > kMostCounted) return std::nullopt;
  return static_cast<unsigned>(*number);
}

// The texts that escaping would have changed.
Language with_escapable() { return Language::anything() + Language::byte(0, kLastEscaped - 1) + Language::anything(); }

// The texts of a string whose pattern lets nothing through that is escaped or folded: it is the same in a key, however
// it is put there.  nullopt when it has no such pattern.
std::optional<Language> plain_text(const Type* type, Transform transform, Steps& steps) {
  if (type == nullptr || type->kind != Kind::String || !type->pattern) return std::nullopt;
  auto texts = regex_language(*type->pattern, steps);
  if (!texts || common(*texts, with_escapable() | (Language::anything() + Language::text("%").extended()), steps)) {
    return std::nullopt;
  }
  const auto folded = Language::byte('A', 'Z') | Language::byte(0x80, 0xFF);
  if (folds(transform) && common(*texts, Language::anything() + folded.extended(), steps)) return std::nullopt;
  return texts;
}

Language free_text(const Type* type, Transform transform, Steps& steps) {
  if (auto plain = plain_text(type, transform, steps)) return std::move(*plain);
  const auto one = character(transform, type != nullptr && type->lower);
  const auto least = type != nullptr ? length(type->min) : std::nullopt;
  const auto most = type != nullptr ? length(type->max) : std::nullopt;
  if (folds(transform)) return one.repeated(0);  // folding drops characters, and makes two of one
  return one.repeated(least.value_or(0), most);
}

// A text without blanks that is not empty.
Language graphic(Transform transform) {
  const auto one = transform == Transform::Raw ? Language::byte('!', '~') | wide_character() : character(transform);
  return one.repeated(1);
}

Language email(Transform transform) { return graphic(transform) + Language::text("@") + graphic(transform); }

// The texts of a pattern that can be read.
Language readable(std::string_view pattern, Steps& steps) {
  return regex_language(pattern, steps).value_or(Language::nothing());
}

Language url(Transform transform, Steps& steps) {
  return readable(folds(transform) ? "https?://" : "[Hh][Tt][Tt][Pp][Ss]?://", steps) + graphic(transform);
}

Language uuid() {
  const auto hex = Language::byte('0', '9') | Language::byte('a', 'f');
  const auto dash = Language::text("-");
  return hex.times(8) + dash + hex.times(4) + dash + hex.times(4) + dash + hex.times(4) + dash + hex.times(12);
}

// Crockford's base32: no I, L, O, U.
Language ulid(bool lower) {
  Language letter = Language::byte('0', '9');
  for (const auto& [from, upto] : {std::pair{'A', 'H'}, {'J', 'K'}, {'M', 'N'}, {'P', 'T'}, {'V', 'Z'}}) {
    const int shift = lower ? 'a' - 'A' : 0;
    letter =
        letter | Language::byte(static_cast<unsigned char>(from + shift), static_cast<unsigned char>(upto + shift));
  }
  return letter.times(26);
}

Language date() { return digits(4) + Language::text("-") + digits(2) + Language::text("-") + digits(2); }

Language timestamp(bool lower) {
  const auto colon = Language::text(":");
  return date() + Language::text(lower ? "t" : "T") + digits(2) + colon + digits(2) + colon + digits(2) +
         Language::text(".") + digits(3) + Language::text(lower ? "z" : "Z");
}

// The whole numbers of that many digits, zeros in front included, that are within the bounds.
Language digits_within(unsigned count, const Type& type, Steps& steps) {
  const auto text_of = [](const std::optional<value::Number>& bound) {
    return bound && bound->is_integer() && !bound->is_negative() ? std::optional(bound->to_string()) : std::nullopt;
  };
  const auto padded = [&](const std::string& text) {
    return Language::text(std::string(count - text.size(), '0') + text);
  };
  const auto min = text_of(type.min);
  const auto max = text_of(type.max);
  if (min && min->size() > count) return Language::nothing();
  // Digits of one count are in the order of their numbers.
  auto all = digits(count);
  if (min) all = both(all, padded(*min).and_above(true), steps);
  if (max && max->size() <= count) all = both(all, padded(*max).and_below(true), steps);
  return all;
}

Language number(const Type& type, Steps& steps) {
  const auto whole = Language::text("0") | (Language::byte('1', '9') + Language::byte('0', '9').repeated(0));
  const bool negative = !type.min || type.min->is_negative();
  if (type.kind == Kind::Integer && !negative && type.max && type.max->is_integer()) {
    auto all = Language::nothing();
    for (unsigned count = 1; count <= type.max->to_string().size(); ++count) {
      all = all | digits_within(count, type, steps);
    }
    return both(all, whole, steps);
  }
  const auto sign = negative ? Language::text("-") | Language::text("") : Language::text("");
  if (type.kind == Kind::Integer) return sign + whole;
  const auto fraction = Language::text(".") + Language::byte('0', '9').repeated(1);
  return sign + whole + (fraction | Language::text(""));
}

std::string transformed(std::string text, Transform transform) {
  if (transform == Transform::Raw) return text;
  if (folds(transform)) {
    if (auto folded = transform == Transform::Sortable ? fold(text) : fold_letters(text)) text = std::move(*folded);
  }
  return escape(text);
}

Language typed(const Field& field, const Type* type, Transform transform, Steps& steps) {
  if (field.width > 0) {
    return is_number(type) ? digits_within(field.width, *type, steps) : digits(field.width);
  }
  const bool lower = folds(transform);
  switch (field.transform) {
    case Transform::Year: return digits(4);
    case Transform::Month: return digits(4) + Language::text("-") + digits(2);
    case Transform::Day: return date();
    default: break;
  }
  if (type == nullptr) return free_text(nullptr, transform, steps);
  switch (type->kind) {
    case Kind::Uuid: return uuid();
    case Kind::Ulid: return ulid(lower);
    case Kind::Date: return date();
    case Kind::Timestamp: return timestamp(lower);
    case Kind::Integer:
    case Kind::Number: return number(*type, steps);
    case Kind::Boolean: return Language::one_of(kBooleans);
    case Kind::Enum: {
      auto values = type->values;
      for (auto& value : values) value = transformed(value, transform);
      return Language::one_of(values);
    }
    case Kind::Domain: return readable("[a-z0-9._-]+", steps);
    case Kind::Isbn: return readable(lower ? "[0-9]{9}[0-9x]|[0-9]{13}" : "[0-9]{9}[0-9X]|[0-9]{13}", steps);
    case Kind::Email: return email(transform);
    case Kind::Url: return url(transform, steps);
    case Kind::Binary:
    case Kind::List:
    case Kind::Set:
    case Kind::Map:
    case Kind::Any: return Language::anything();
    case Kind::String: break;
  }
  return free_text(type, transform, steps);
}

}  // namespace

bool is_number(const Type* type) {
  return type != nullptr && (type->kind == Kind::Integer || type->kind == Kind::Number);
}

bool has_fixed_digits(const Type* type) {
  return type != nullptr && type->kind == Kind::Integer && type->min && type->max && !type->min->is_negative() &&
         type->min->is_integer() && type->max->is_integer() &&
         type->min->to_string().size() == type->max->to_string().size();
}

bool is_free_text(const Type* type, Steps& steps) {
  if (type == nullptr) return true;
  if (type->kind == Kind::String) return !plain_text(type, Transform::Raw, steps);
  return type->kind == Kind::Email || type->kind == Kind::Url || type->kind == Kind::Any;
}

std::size_t moment_bytes(const Type* type, Transform transform) {
  switch (transform) {
    case Transform::Year: return 4;
    case Transform::Month: return 7;
    case Transform::Day: return 10;
    default: break;
  }
  if (type == nullptr) return 0;
  return type->kind == Kind::Timestamp ? 24 : type->kind == Kind::Date ? 10 : 0;
}

bool are_written_alike(const Type* type, Transform a, Transform b, Steps& steps) {
  if (a == b) return true;
  if (is_free_text(type, steps)) return false;
  const bool one_is_folded = folds(a) != folds(b);
  switch (type->kind) {
    case Kind::Enum:
      return std::all_of(type->values.begin(), type->values.end(),
                         [&](const auto& value) { return transformed(value, a) == transformed(value, b); });
    case Kind::String: return (!folds(a) && !folds(b)) || plain_text(type, Transform::Sortable, steps);
    case Kind::Ulid:
    case Kind::Timestamp:
    case Kind::Isbn: return !one_is_folded;  // they have capitals
    default: return true;
  }
}

Language hole_language(const Field& field, const Type* type, const Reading& reading, Steps& steps) {
  if (!steps.are_left()) return Language::nothing();
  if (field.transform != Transform::Raw) return typed(field, type, field.transform, steps);
  if (reading.forged == field.attribute) {
    return both(typed(field, type, Transform::Raw, steps), with_escapable(), steps);
  }
  const bool ordinary = reading.text == Reading::Text::Ordinary && is_free_text(type, steps);
  return typed(field, type, ordinary ? Transform::Escaped : Transform::Raw, steps);
}

}  // namespace stator::model
