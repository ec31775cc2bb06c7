#include "stator/app/openapi/openapi_schema.h"

#include <fmt/format.h>

#include <algorithm>

#include "stator/model/validate.h"

namespace stator::app {
namespace {

using model::Kind;
using value::JsonWriter;

constexpr std::string_view kPatternOfUlid = "^[0-7][0-9A-HJKMNP-TV-Z]{25}$";

// The keyword in which JSON Schema says a bound, by what is bounded.
struct BoundWords {
  std::string_view min, max;
};
BoundWords bound_words(Kind kind) {
  switch (kind) {
    case Kind::Number:
    case Kind::Integer: return {"minimum", "maximum"};
    case Kind::List:
    case Kind::Set: return {"minItems", "maxItems"};
    case Kind::String:
    case Kind::Email:
    case Kind::Url: return {"minLength", "maxLength"};
    default: return {};  // binary is bounded before it is encoded, which JSON Schema cannot say
  }
}

std::string_view json_type(Kind kind) {
  switch (kind) {
    case Kind::Number: return "number";
    case Kind::Integer: return "integer";
    case Kind::Boolean: return "boolean";
    case Kind::List:
    case Kind::Set: return "array";
    case Kind::Map: return "object";
    case Kind::Any: return "";
    default: return "string";
  }
}

std::string_view json_format(Kind kind) {
  switch (kind) {
    case Kind::Uuid: return "uuid";
    case Kind::Date: return "date";
    case Kind::Timestamp: return "date-time";
    case Kind::Email: return "email";
    case Kind::Url: return "uri";
    case Kind::Domain: return "hostname";
    default: return "";
  }
}

// "properties" and "required" of an object that is being written.
void write_properties(JsonWriter& json, const std::vector<model::Attribute>& attributes, const Chosen& chosen,
                      bool nullable) {
  json.key("properties").begin_object();
  for (const auto& attribute : attributes) {
    if (!chosen(attribute)) continue;
    json.key(attribute.name);
    if (nullable) {
      json.begin_object().key("anyOf").begin_array();
      write_type(json, attribute.type, attribute.description);
      json.begin_object().key("type").string("null").end_object().end_array().end_object();
    } else {
      write_type(json, attribute.type, attribute.description, attribute.default_value);
    }
  }
  json.end_object();
  const auto is_required = [&](const model::Attribute& attribute) {
    return chosen(attribute) && must_be_given(attribute);
  };
  if (nullable || std::ranges::none_of(attributes, is_required)) return;
  json.key("required").begin_array();
  for (const auto& attribute : attributes) {
    if (is_required(attribute)) json.string(attribute.name);
  }
  json.end_array();
}

}  // namespace

void write_type(JsonWriter& json, const model::Type& type, std::string_view description,
                const std::optional<value::AttributeValue>& default_value) {
  json.begin_object();
  if (const auto name = json_type(type.kind); !name.empty()) json.key("type").string(name);
  if (!description.empty()) json.key("description").string(description);
  if (const auto format = json_format(type.kind); !format.empty()) json.key("format").string(format);
  if (type.kind == Kind::Ulid) json.key("pattern").string(kPatternOfUlid);
  if (type.kind == Kind::Binary) json.key("contentEncoding").string("base64");
  if (type.kind == Kind::Set) json.key("uniqueItems").boolean(true);
  if (type.kind == Kind::Enum) {
    json.key("enum").begin_array();
    for (const auto& value : type.values) json.string(value);
    json.end_array();
  }
  const auto [min, max] = bound_words(type.kind);
  if (type.min && !min.empty()) json.key(min).raw(type.min->to_string());
  if (type.max && !max.empty()) json.key(max).raw(type.max->to_string());
  if (type.step) json.key("multipleOf").raw(type.step->to_string());
  if (type.pattern) json.key("pattern").string(fmt::format("^(?:{})$", *type.pattern));
  if (json_type(type.kind) == "array") {
    json.key("items");
    if (type.element != nullptr) {
      write_type(json, *type.element);
    } else {
      json.begin_object().end_object();
    }
  }
  if (!type.shape.empty()) {
    write_properties(json, type.shape, [](const model::Attribute&) { return true; }, /*nullable=*/false);
    json.key("additionalProperties").boolean(false);
  }
  if (default_value) {
    std::string text;
    model::append_plain_json(text, *default_value);
    json.key("default").raw(text);
  }
  json.end_object();
}

bool must_be_given(const model::Attribute& attribute) {
  return attribute.required && !attribute.default_value && !attribute.next;
}

std::string object_schema(const std::vector<model::Attribute>& attributes, const Chosen& chosen, bool nullable) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("type").string("object");
  write_properties(json, attributes, chosen, nullable);
  json.key("additionalProperties").boolean(false).end_object();
  return out;
}

std::string type_schema(const model::Type& type) {
  std::string out;
  JsonWriter json(out);
  write_type(json, type);
  return out;
}

std::string words_schema(const std::vector<std::string>& words) {
  model::Type type;
  type.kind = Kind::Enum;
  type.values = words;
  return type_schema(type);
}

std::string reference_to(std::string_view name) {
  std::string out;
  JsonWriter(out).begin_object().key("$ref").string(fmt::format("#/components/schemas/{}", name)).end_object();
  return out;
}

void write_any_of(JsonWriter& json, const std::vector<std::string>& schemas) {
  if (schemas.size() == 1) {
    json.raw(schemas.front());
    return;
  }
  json.begin_object().key("anyOf").begin_array();
  for (const auto& schema : schemas) json.raw(schema);
  json.end_array().end_object();
}

}  // namespace stator::app
