#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/model/body_shape.h"
#include "stator/model/model.h"
#include "stator/value/attribute_value.h"
#include "stator/value/json.h"

// The types of a model in JSON Schema, as OpenAPI 3.1 has it.
namespace stator::app {

void write_type(value::JsonWriter& json, const model::Type& type, std::string_view description = {},
                const std::optional<value::AttributeValue>& default_value = {});

// An object of these members and nothing else.
std::string body_schema(const std::vector<model::BodyMember>& members);

// The served attributes of an entity.  `only`: these attributes; empty: all.  `whole`: the answer is made from a row
// with all attributes, so attributes that every row has are required.
struct ServedParts {
  std::vector<std::string> only = {};
  bool whole = true;
};
std::string served_schema(const model::Model& model, const model::Entity& entity, const ServedParts& parts = {});

// Whether a request must give the attribute.  An attribute with a default or a `next` is filled in.
bool must_be_given(const model::Attribute& attribute);

std::string type_schema(const model::Type& type);
// A text that is one of these.
std::string words_schema(const std::vector<std::string>& words);
// Of the component of that name.
std::string reference_to(std::string_view name);
// The one that is there, or any of several.
void write_any_of(value::JsonWriter& json, const std::vector<std::string>& schemas);

}  // namespace stator::app
