#include "stator/api/json/request.h"

#include "stator/api/json/request_check.h"

namespace stator::api {

std::optional<value::JsonElement> Request::element(std::string_view name) const {
  auto found = object_.get<value::JsonElement>(name);
  if (found && found->is_null()) return std::nullopt;
  return found;
}

bool Request::has(std::string_view name) const { return element(name).has_value(); }
std::optional<std::string_view> Request::string(std::string_view name) const {
  return object_.get<std::string_view>(name);
}
std::optional<bool> Request::boolean(std::string_view name) const { return object_.get<bool>(name); }
std::optional<value::JsonArray> Request::array(std::string_view name) const {
  return object_.get<value::JsonArray>(name);
}

std::vector<value::JsonElement> Request::elements(std::string_view name) const {
  std::vector<value::JsonElement> found;
  if (const auto list = array(name)) {
    for (const value::JsonElement element : *list) found.push_back(element);
  }
  return found;
}

std::vector<Request> Request::objects(std::string_view name) const {
  std::vector<Request> found;
  for (const auto& element : elements(name)) {
    value::JsonObject object;
    if (element.get(object)) found.emplace_back(object);
  }
  return found;
}

std::optional<std::int64_t> Request::integer(std::string_view name) const {
  const auto found = element(name);
  if (!found || !found->is_number()) return std::nullopt;
  return integer_of(*found);
}

std::optional<Request> Request::object(std::string_view name) const {
  if (const auto found = object_.get<value::JsonObject>(name)) return Request(*found);
  return std::nullopt;
}

}  // namespace stator::api
