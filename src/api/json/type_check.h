#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stator/api/json/shape.h"
#include "stator/value/json.h"

namespace stator::api {

inline constexpr std::string_view kUnexpectedValue = "Unexpected value type in payload";

// Where a value stands decides the words for a wrong type.
enum class RequestPlace { Field, Element };

// Walks the body once in its own order.  Stops at the first value of a wrong type; of broken constraints it only notes
// that there are some, so that a good request pays for no bookkeeping.
class TypeCheck {
 public:
  // Each returns false when it stopped at an error.
  bool structure(const Shape& shape, value::JsonObject object);

  bool violated() const { return violated_; }
  bool has_null_attribute_value() const { return null_attribute_value_; }
  std::string take_error() { return std::move(error_); }

 private:
  bool value(const Shape& shape, value::JsonElement json, RequestPlace place);
  bool list(const Shape& shape, value::JsonElement json, RequestPlace place);
  bool map(const Shape& shape, value::JsonElement json, RequestPlace place);
  bool attribute_value(value::JsonElement json, RequestPlace place);
  bool attribute_list(value::JsonElement json);
  bool attribute_map(value::JsonElement json, RequestPlace place, std::int64_t max_name);
  bool text(value::JsonElement json);
  bool blob(value::JsonElement json);
  bool boolean(value::JsonElement json);
  template <typename Check>
  bool set(value::JsonElement json, Check check);

  bool fail(std::string error) {
    error_ = std::move(error);
    return false;
  }

  bool violated_ = false;
  bool null_attribute_value_ = false;
  std::string error_;
};

}  // namespace stator::api
