#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/result.h"
#include "stator/value/attribute_value.h"
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
  std::optional<double> number(std::string_view name) const;
  std::vector<std::string_view> strings(std::string_view name) const;  // those of a list; none when it is absent
  std::vector<JsonMembers> objects(std::string_view name) const;
  // The value, the item, or the list of them, that a member holds; the member is there.  Errors: Validation.
  Result<value::AttributeValue> attribute(std::string_view name) const;
  Result<value::Item> item(std::string_view name) const;
  Result<std::vector<value::AttributeValue>> attributes(std::string_view name) const;
  Result<std::vector<value::Item>> items(std::string_view name) const;
  // The JSON of the member, without white space.
  std::optional<std::string> text(std::string_view name) const;
  value::JsonObject json() const { return object_; }

 private:
  friend class FieldReader;  // reads each member by the type that is wanted

  std::optional<value::JsonElement> element(std::string_view name) const;
  std::vector<value::JsonElement> elements(std::string_view name) const;

  value::JsonObject object_;
};

}  // namespace stator::api
