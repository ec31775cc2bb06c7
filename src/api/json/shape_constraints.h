#pragma once

#include <cstdint>
#include <string_view>

#include "stator/api/json/request_check.h"
#include "stator/api/json/shape.h"
#include "stator/value/json.h"

// Single constraints of the model.  In the header, because every value of every request is held against them.
namespace stator::api {

inline constexpr std::int64_t kMinTableName = 3;
inline constexpr std::int64_t kMaxTableName = 255;
inline constexpr std::int64_t kMaxTableArn = 1024;

// The number of UTF-16 units, which is what the service counts.
inline std::int64_t length_of(std::string_view text) {
  std::int64_t units = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) != 0x80) units += byte >= 0xF0 ? 2 : 1;
  }
  return units;
}

inline bool is_arn(std::string_view text) { return text.starts_with("arn:"); }

inline bool is_table_name(std::string_view text) {
  return text.size() >= kMinTableName && text.size() <= kMaxTableName && matches(TextPattern::Name, text);
}

inline bool is_table_name_or_arn(std::string_view text) {
  return is_arn(text) ? text.size() <= kMaxTableArn : is_table_name(text);
}

inline bool takes_table_names(const Shape& map) { return map.key->name == "TableArn"; }

inline bool within(const Shape& shape, std::int64_t measure) { return measure >= shape.min && measure <= shape.max; }

inline bool has_length(const Shape& shape, std::string_view text) {
  if (shape.min == Shape::kNoMin && shape.max == Shape::kNoMax) return true;
  // Each unit takes one to three bytes, so most texts need no counting.
  const auto bytes = static_cast<std::int64_t>(text.size());
  if (bytes <= shape.max && bytes / 3 >= shape.min) return true;
  return within(shape, length_of(text));
}

inline bool in_enum(const Shape& shape, std::string_view text) {
  if (shape.enum_values.empty()) return true;
  for (const auto value : shape.enum_values) {
    if (value == text) return true;
  }
  return false;
}

inline bool holds(const Shape& shape, std::string_view text) {
  return !shape.constrained() || (has_length(shape, text) && matches(shape.pattern, text) && in_enum(shape, text));
}

// Whether a value of the right type keeps the constraints of its own shape. Its members and elements are not checked.
inline bool holds(const Shape& shape, value::JsonElement json) {
  switch (shape.type) {
    case ShapeType::String: return holds(shape, json.string());
    case ShapeType::Integer:
    case ShapeType::Long: return within(shape, integer_of(json));
    case ShapeType::List: return within(shape, static_cast<std::int64_t>(json.array().size()));
    case ShapeType::Map: return within(shape, static_cast<std::int64_t>(json.object().size()));
    default: return true;
  }
}

inline bool is_empty(value::JsonElement json) {
  value::JsonObject object;
  return json.get(object) && object.begin() == object.end();
}

}  // namespace stator::api
