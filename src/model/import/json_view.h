#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/value/json.h"

// Reads files of other tools without knowing their members.
namespace stator::model::import {

using value::JsonElement;

inline std::optional<std::string> text_at(JsonElement json, std::string_view key) {
  std::string_view text;
  if (!json[key].get(text)) return std::nullopt;
  return std::string(text);
}

inline bool flag_at(JsonElement json, std::string_view key) {
  bool flag = false;
  return json[key].get(flag) && flag;
}

inline bool has(JsonElement json, std::string_view key) {
  JsonElement found;
  return json[key].get(found);
}

inline std::optional<JsonElement> object_at(JsonElement json, std::string_view key) {
  JsonElement found;
  if (!json[key].get(found) || !found.is_object()) return std::nullopt;
  return found;
}

inline std::vector<JsonElement> array_at(JsonElement json, std::string_view key) {
  value::JsonArray array;
  if (!json[key].get(array)) return {};
  return {array.begin(), array.end()};
}

inline std::vector<std::string> texts_at(JsonElement json, std::string_view key) {
  std::vector<std::string> texts;
  for (const auto& element : array_at(json, key)) {
    std::string_view text;
    if (element.get(text)) texts.emplace_back(text);
  }
  return texts;
}

// The members of an object in the order of the file.
inline std::vector<std::pair<std::string, JsonElement>> members(JsonElement json) {
  std::vector<std::pair<std::string, JsonElement>> out;
  value::JsonObject object;
  if (!json.get(object)) return out;
  for (const auto field : object) out.emplace_back(std::string(field.key), field.value);
  return out;
}

}  // namespace stator::model::import
