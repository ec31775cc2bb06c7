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
    default: return "";
  }
}

void write_required(JsonWriter& json, const std::vector<std::string_view>& names) {
  if (names.empty()) return;
  json.key("required").begin_array();
  for (const auto name : names) json.string(name);
  json.end_array();
}

// "properties" and "required" of an object that is being written, and that has no other members.
void write_members(JsonWriter& json, const std::vector<model::BodyMember>& members) {
  std::vector<std::string_view> required;
  json.key("properties").begin_object();
  for (const auto& member : members) {
    const auto& attribute = *member.attribute;
    if (member.required) required.push_back(attribute.name);
    json.key(attribute.name);
    if (member.owner && attribute.description.empty()) {
      write_type(json, attribute.type, "The caller, if it is not given");
    } else if (member.nullable) {
      json.begin_object().key("anyOf").begin_array();
      write_type(json, attribute.type, attribute.description);
      json.begin_object().key("type").string("null").end_object().end_array().end_object();
    } else {
      write_type(json, attribute.type, attribute.description, attribute.default_value);
    }
  }
  json.end_object();
  write_required(json, required);
  json.key("additionalProperties").boolean(false);
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
    std::vector<model::BodyMember> members;
    for (const auto& member : type.shape) {
      members.push_back({.attribute = &member, .required = must_be_given(member), .nullable = false, .owner = false});
    }
    write_members(json, members);
  } else if (type.kind == Kind::Map) {
    json.key("additionalProperties").boolean(true);  // without it, some readers take the object for an empty one
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

std::string body_schema(const std::vector<model::BodyMember>& members) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("type").string("object");
  write_members(json, members);
  json.end_object();
  return out;
}

std::string served_schema(const model::Model& model, const model::Entity& entity, const ServedParts& parts) {
  const auto& [only, whole] = parts;
  const auto& table = model.table;
  std::string out;
  JsonWriter json(out);
  std::vector<std::string_view> required;
  json.begin_object().key("type").string("object");
  if (!entity.description.empty()) json.key("description").string(entity.description);
  json.key("properties").begin_object();
  for (const auto& attribute : entity.attributes) {
    const bool chosen = only.empty() || std::ranges::find(only, attribute.name) != only.end();
    if (!chosen || !model::is_served(attribute)) continue;
    write_type(json.key(attribute.name), attribute.type, attribute.description);
    if (whole && model::is_always_served(model, entity, attribute)) required.push_back(attribute.name);
  }
  if (entity.find_attribute(table.type_attribute) == nullptr) {
    json.key(table.type_attribute).begin_object().key("const").string(entity.name).end_object();
    required.push_back(table.type_attribute);
  }
  if (entity.versioned && entity.find_attribute(table.version_attribute) == nullptr) {
    json.key(table.version_attribute).begin_object().key("type").string("integer").end_object();
    if (whole) required.push_back(table.version_attribute);
  }
  json.end_object();
  write_required(json, required);
  json.end_object();
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
