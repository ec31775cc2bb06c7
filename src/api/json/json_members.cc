#include "stator/api/json/json_members.h"

#include "stator/api/json/request_check.h"
#include "stator/base/assert.h"

namespace stator::api {

std::optional<value::JsonElement> JsonMembers::element(std::string_view name) const {
  auto found = object_.get<value::JsonElement>(name);
  if (found && found->is_null()) return std::nullopt;
  return found;
}

bool JsonMembers::has(std::string_view name) const { return element(name).has_value(); }
std::optional<std::string_view> JsonMembers::string(std::string_view name) const {
  return object_.get<std::string_view>(name);
}
std::optional<bool> JsonMembers::boolean(std::string_view name) const { return object_.get<bool>(name); }
std::optional<double> JsonMembers::number(std::string_view name) const { return object_.get<double>(name); }

std::vector<value::JsonElement> JsonMembers::elements(std::string_view name) const {
  std::vector<value::JsonElement> found;
  if (const auto list = object_.get<value::JsonArray>(name)) {
    for (const value::JsonElement element : *list) found.push_back(element);
  }
  return found;
}

std::vector<std::string_view> JsonMembers::strings(std::string_view name) const {
  std::vector<std::string_view> found;
  for (const auto& element : elements(name)) {
    std::string_view string;
    if (element.get(string)) found.push_back(string);
  }
  return found;
}

std::vector<JsonMembers> JsonMembers::objects(std::string_view name) const {
  std::vector<JsonMembers> found;
  for (const auto& element : elements(name)) {
    value::JsonObject object;
    if (element.get(object)) found.emplace_back(object);
  }
  return found;
}

Result<value::AttributeValue> JsonMembers::attribute(std::string_view name) const {
  const auto found = element(name);
  STATOR_ASSERT(found, "the member has to be there");
  return value::decode_value(*found);
}

Result<value::Item> JsonMembers::item(std::string_view name) const {
  const auto found = element(name);
  STATOR_ASSERT(found, "the member has to be there");
  return value::decode_item(*found);
}

Result<std::vector<value::AttributeValue>> JsonMembers::attributes(std::string_view name) const {
  std::vector<value::AttributeValue> found;
  for (const auto& element : elements(name)) found.push_back(TRY(value::decode_value(element)));
  return found;
}

Result<std::vector<value::Item>> JsonMembers::items(std::string_view name) const {
  std::vector<value::Item> found;
  for (const auto& element : elements(name)) found.push_back(TRY(value::decode_item(element)));
  return found;
}

std::optional<std::string> JsonMembers::text(std::string_view name) const {
  const auto found = element(name);
  if (!found) return std::nullopt;
  return value::json_text(*found);
}

std::optional<std::int64_t> JsonMembers::integer(std::string_view name) const {
  const auto found = element(name);
  if (!found || !found->is_number()) return std::nullopt;
  return integer_of(*found);
}

std::optional<JsonMembers> JsonMembers::object(std::string_view name) const {
  if (const auto found = object_.get<value::JsonObject>(name)) return JsonMembers(*found);
  return std::nullopt;
}

}  // namespace stator::api
