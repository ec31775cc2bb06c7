#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/value/json.h"

namespace stator::api {

// Reads the members of a JSON object: of a request body that has passed check_request(), so that types are right, or
// of an endpoint's answer.  A member of another type reads as absent.  So does null, as in the service.
class JsonMembers {
 public:
  explicit JsonMembers(value::JsonObject object) : object_(object) {}

  bool has(std::string_view name) const;
  std::optional<std::string_view> string(std::string_view name) const;
  std::optional<std::int64_t> integer(std::string_view name) const;
  std::optional<bool> boolean(std::string_view name) const;
  std::optional<JsonMembers> object(std::string_view name) const;
  std::optional<value::JsonArray> array(std::string_view name) const;
  // The members of a list; none when it is absent.
  std::vector<value::JsonElement> elements(std::string_view name) const;
  std::vector<JsonMembers> objects(std::string_view name) const;
  std::optional<value::JsonElement> element(std::string_view name) const;
  value::JsonObject json() const { return object_; }

 private:
  value::JsonObject object_;
};

}  // namespace stator::api
