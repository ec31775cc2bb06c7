#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/model/model.h"
#include "stator/value/attribute_value.h"
#include "stator/value/json.h"

// The types of a model in JSON Schema, as OpenAPI 3.1 has it.
namespace stator::app {

using Chosen = std::function<bool(const model::Attribute&)>;

void write_type(value::JsonWriter& json, const model::Type& type, std::string_view description = {},
                const std::optional<value::AttributeValue>& default_value = {});

// An object of the chosen attributes and nothing else.  A nullable one requires none of them: absent keeps, null
// clears.
std::string object_schema(const std::vector<model::Attribute>& attributes, const Chosen& chosen, bool nullable);

// Whether somebody has to give it: what has a default or a `next` is filled in.
bool must_be_given(const model::Attribute& attribute);

std::string type_schema(const model::Type& type);
// A text that is one of these.
std::string words_schema(const std::vector<std::string>& words);
// Of the component of that name.
std::string reference_to(std::string_view name);
// The one that is there, or any of several.
void write_any_of(value::JsonWriter& json, const std::vector<std::string>& schemas);

}  // namespace stator::app
