#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "stator/expr/binder.h"
#include "stator/value/json.h"

// Shorthand for tests: items and placeholders as DynamoDB's JSON, results as text.
namespace stator::expr::testing {

inline value::Item item(std::string_view json) {
  value::JsonParser parser;
  const auto element = parser.parse(json);
  if (!element) {
    ADD_FAILURE() << element.error().message << ": " << json;
    return {};
  }
  auto decoded = value::decode_item(*element);
  if (!decoded) {
    ADD_FAILURE() << decoded.error().message << ": " << json;
    return {};
  }
  return *std::move(decoded);
}

inline Values values(std::string_view json) {
  Values result;
  for (const auto& entry : item(json)) result.emplace(entry.name, entry.value);
  return result;
}

inline std::string json(const value::Item& item) {
  std::string text;
  value::append_json(text, item);
  return text;
}

// "ok", or the message.
template <typename T>
std::string outcome(const Result<T>& result) {
  return result ? "ok" : result.error().message;
}

}  // namespace stator::expr::testing
