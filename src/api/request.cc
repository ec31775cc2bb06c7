#include "stator/api/request.h"

#include "stator/api/request_check.h"

namespace stator::api {
namespace {

template <typename T>
std::optional<T> member(const value::JsonObject& object, std::string_view name) {
  T found;
  if (!object[name].get(found)) return std::nullopt;
  return found;
}

}  // namespace

Result<std::shared_ptr<const KeptRequest>> KeptRequest::make(const Request& request) {
  std::shared_ptr<KeptRequest> kept(new KeptRequest);
  kept->request_ = Request(TRY(kept->parser_.parse(value::json_text(request.json().element()))).object());
  return kept;
}

Request Request::none() {
  static value::JsonParser parser;
  static const value::JsonObject empty = parser.parse("{}")->object();
  return Request(empty);
}

std::optional<value::JsonElement> Request::element(std::string_view name) const {
  auto found = member<value::JsonElement>(object_, name);
  if (found && found->is_null()) return std::nullopt;
  return found;
}

bool Request::has(std::string_view name) const { return element(name).has_value(); }
std::optional<std::string_view> Request::string(std::string_view name) const {
  return member<std::string_view>(object_, name);
}
std::optional<bool> Request::boolean(std::string_view name) const { return member<bool>(object_, name); }
std::optional<value::JsonArray> Request::array(std::string_view name) const {
  return member<value::JsonArray>(object_, name);
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
  if (const auto found = member<value::JsonObject>(object_, name)) return Request(*found);
  return std::nullopt;
}

}  // namespace stator::api
