#include "stator/api/json/json_members.h"

#include "stator/api/json/request_check.h"

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
std::optional<value::JsonArray> JsonMembers::array(std::string_view name) const {
  return object_.get<value::JsonArray>(name);
}

std::vector<value::JsonElement> JsonMembers::elements(std::string_view name) const {
  std::vector<value::JsonElement> found;
  if (const auto list = array(name)) {
    for (const value::JsonElement element : *list) found.push_back(element);
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
