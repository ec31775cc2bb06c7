#include "stator/api/json/type_check.h"

#include <fmt/format.h>

#include <unordered_set>
#include <utility>

#include "stator/api/json/base64_text.h"
#include "stator/api/json/shape_constraints.h"

namespace stator::api {
namespace {

using value::JsonArray;
using value::JsonElement;
using value::JsonObject;
using value::JsonType;

constexpr std::int64_t kMaxAttributeName = 65535;

constexpr std::string_view kUnexpectedObject = "Start of structure or map found where not expected";
constexpr std::string_view kUnexpectedField = "Unexpected field type";
// The service's error if a list or map of lists or maps holds a scalar.
constexpr std::string_view kUnexpectedElement =
    "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class java.lang.Class "
    "(sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are in module java.base of "
    "loader "
    "'bootstrap')";
constexpr std::string_view kAttributeMapType =
    "java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>";

std::string_view token_name(JsonType type) {
  switch (type) {
    case JsonType::String: return "STRING_VALUE";
    case JsonType::Double: return "DECIMAL_VALUE";
    default: return "NUMBER_VALUE";
  }
}

std::string_view scalar_name(ShapeType type) {
  switch (type) {
    case ShapeType::Boolean: return "Boolean";
    case ShapeType::Integer: return "Integer";
    case ShapeType::Long: return "Long";
    case ShapeType::Double: return "Double";
    case ShapeType::Timestamp: return "Date";
    default: return "String";
  }
}

std::string type_name(const Shape& shape) {
  switch (shape.type) {
    case ShapeType::Structure:
    case ShapeType::AttributeValue: return fmt::format("com.amazonaws.dynamodb.v20120810.{}", shape.name);
    case ShapeType::List: return fmt::format("java.util.List<{}>", type_name(*shape.element));
    case ShapeType::Map: return fmt::format("java.util.Map<java.lang.String, {}>", type_name(*shape.element));
    case ShapeType::Blob: return "java.nio.ByteBuffer";
    case ShapeType::Timestamp: return "java.util.Date";
    default: return fmt::format("java.lang.{}", scalar_name(shape.type));
  }
}

std::string scalar_error(ShapeType type, JsonElement json) {
  const auto found = json.type();
  if (found == JsonType::Object) return std::string(kUnexpectedObject);
  if (found == JsonType::Array) {
    return fmt::format("Unrecognized collection type class {}", type_name(Shape{.type = type}));
  }
  if (type == ShapeType::Blob) return "only base-64-encoded strings are convertible to bytes";
  if (type == ShapeType::Boolean && found == JsonType::String) return "Unexpected token received from parser";
  const auto token = found == JsonType::Bool ? (json.boolean() ? "TRUE_VALUE" : "FALSE_VALUE") : token_name(found);
  return fmt::format("{} cannot be converted to {}", token, scalar_name(type));
}

std::string list_error(JsonElement json, RequestPlace place) {
  if (json.is_object()) return std::string(kUnexpectedObject);
  return std::string(place == RequestPlace::Field ? kUnexpectedField : kUnexpectedElement);
}

std::string map_error(std::string_view type, JsonElement json, RequestPlace place) {
  if (json.is_array()) return fmt::format("Unrecognized collection type {}", type);
  return std::string(place == RequestPlace::Field ? kUnexpectedField : kUnexpectedElement);
}

std::string structure_error(std::string_view name, JsonElement json, RequestPlace place) {
  if (json.is_array()) {
    return fmt::format("Unrecognized collection type class com.amazonaws.dynamodb.v20120810.{}", name);
  }
  return std::string(place == RequestPlace::Field ? kUnexpectedField : kUnexpectedValue);
}

}  // namespace

bool TypeCheck::structure(const Shape& shape, JsonObject object) {
  std::uint64_t given = 0, seen = 0;
  for (const auto [name, json] : object) {
    const auto index = shape.find(name);
    if (index == shape.members.size()) continue;
    // A reader of the request sees only one of two equal members, and it must be the one that was checked here.
    const auto bit = std::uint64_t{1} << index;
    if ((given & bit) != 0) return fail(fmt::format("Duplicate member: {}", name));
    given |= bit;
    if (json.is_null()) continue;
    seen |= bit;
    const auto& member = shape.members[index];
    if (!value(*member.shape, json, RequestPlace::Field)) return false;
    if (member.name_check != NameCheck::None && !is_table_name_or_arn(json.string())) violated_ = true;
    if (!member.empty_text.empty() && is_empty(json)) violated_ = true;
  }
  if ((shape.required & ~seen) != 0) violated_ = true;
  return true;
}

bool TypeCheck::value(const Shape& shape, JsonElement json, RequestPlace place) {
  switch (shape.type) {
    case ShapeType::String: {
      std::string_view found;
      if (!json.get(found)) return fail(scalar_error(shape.type, json));
      if (!holds(shape, found)) violated_ = true;
      return true;
    }
    case ShapeType::Blob: return blob(json);
    case ShapeType::Boolean: return boolean(json);
    case ShapeType::Integer:
    case ShapeType::Long:
    case ShapeType::Double:
    case ShapeType::Timestamp:
      if (!json.is_number()) return fail(scalar_error(shape.type, json));
      if (!holds(shape, json)) violated_ = true;
      return true;
    case ShapeType::List: return list(shape, json, place);
    case ShapeType::Map: return map(shape, json, place);
    case ShapeType::AttributeValue: return attribute_value(json, place);
    case ShapeType::Structure: {
      JsonObject object;
      if (!json.get(object)) return fail(structure_error(shape.name, json, place));
      return structure(shape, object);
    }
  }
  return true;
}

bool TypeCheck::list(const Shape& shape, JsonElement json, RequestPlace place) {
  JsonArray array;
  if (!json.get(array)) return fail(list_error(json, place));
  if (shape.constrained() && !holds(shape, json)) violated_ = true;
  for (const auto element : array) {
    if (element.is_null()) {
      violated_ = true;
      if (shape.element->type == ShapeType::AttributeValue) null_attribute_value_ = true;
    } else if (!value(*shape.element, element, RequestPlace::Element)) {
      return false;
    }
  }
  return true;
}

bool TypeCheck::map(const Shape& shape, JsonElement json, RequestPlace place) {
  if (shape.element->type == ShapeType::AttributeValue) return attribute_map(json, place, shape.key->max);
  JsonObject object;
  if (!json.get(object)) return fail(map_error(type_name(shape), json, place));
  if (shape.constrained() && !holds(shape, json)) violated_ = true;
  const bool table_names = takes_table_names(shape);
  std::unordered_set<std::string_view> tables;
  for (const auto [key, element] : object) {
    if (table_names ? !is_table_name_or_arn(key) : !holds(*shape.key, key)) violated_ = true;
    if (table_names && !tables.insert(key).second) return fail(fmt::format("Duplicate member: {}", key));
    if (element.is_null()) {
      violated_ = true;
    } else if (!value(*shape.element, element, RequestPlace::Element)) {
      return false;
    }
  }
  return true;
}

bool TypeCheck::attribute_map(JsonElement json, RequestPlace place, std::int64_t max_name) {
  JsonObject object;
  if (!json.get(object)) return fail(map_error(kAttributeMapType, json, place));
  for (const auto [name, element] : object) {
    if (static_cast<std::int64_t>(name.size()) > max_name && length_of(name) > max_name) violated_ = true;
    if (!attribute_value(element, RequestPlace::Element)) return false;
  }
  return true;
}

bool TypeCheck::attribute_list(JsonElement json) {
  JsonArray array;
  if (!json.get(array)) return fail(list_error(json, RequestPlace::Field));
  for (const auto element : array) {
    if (!attribute_value(element, RequestPlace::Element)) return false;
  }
  return true;
}

bool TypeCheck::attribute_value(JsonElement json, RequestPlace place) {
  JsonObject object;
  if (!json.get(object)) {
    if (!json.is_null()) return fail(structure_error("AttributeValue", json, place));
    violated_ = null_attribute_value_ = true;
    return true;
  }
  for (const auto [type, found] : object) {
    bool good = true;
    if (found.is_null()) continue;
    if (type.size() == 1) {
      switch (type.front()) {
        case 'S':
        case 'N': good = text(found); break;
        case 'B': good = blob(found); break;
        case 'M': good = attribute_map(found, RequestPlace::Field, kMaxAttributeName); break;
        case 'L': good = attribute_list(found); break;
        default: break;
      }
    } else if (type == "BOOL" || type == "NULL") {
      good = boolean(found);
    } else if (type == "SS" || type == "NS") {
      good = set(found, [this](JsonElement member) { return text(member); });
    } else if (type == "BS") {
      good = set(found, [this](JsonElement member) { return blob(member); });
    }
    if (!good) return false;
  }
  return true;
}

template <typename Check>
bool TypeCheck::set(JsonElement json, Check check) {
  JsonArray array;
  if (!json.get(array)) return fail(list_error(json, RequestPlace::Field));
  for (const auto member : array) {
    if (member.is_null()) {
      violated_ = true;
    } else if (!check(member)) {
      return false;
    }
  }
  return true;
}

bool TypeCheck::text(JsonElement json) { return json.is_string() || fail(scalar_error(ShapeType::String, json)); }

bool TypeCheck::blob(JsonElement json) {
  std::string_view found;
  if (!json.get(found)) return fail(scalar_error(ShapeType::Blob, json));
  return is_base64(found) || fail(base64_error(found));
}

bool TypeCheck::boolean(JsonElement json) { return json.is_bool() || fail(scalar_error(ShapeType::Boolean, json)); }

}  // namespace stator::api
