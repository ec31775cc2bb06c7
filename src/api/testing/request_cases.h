#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "stator/api/json/request_check.h"

// For tests of the errors that requests get.
namespace stator::api {

// "ok", or the error as "Validation: text" and "Serialization: text".
inline std::string outcome(std::string_view operation, std::string_view body) {
  const auto* shape = input_shape(operation);
  if (shape == nullptr) return fmt::format("no operation {}", operation);
  value::JsonParser parser;
  const auto parsed = parser.parse(body);
  if (!parsed) return "not JSON";
  const auto checked = check_request(*shape, *parsed);
  if (checked) return "ok";
  return fmt::format("{}: {}", checked.error().code == ErrorCode::Serialization ? "Serialization" : "Validation",
                     checked.error().message);
}

struct RequestCase {
  std::string_view operation, body, expected;
};

inline void expect_all(std::initializer_list<RequestCase> cases) {
  for (const auto& [operation, body, expected] : cases) {
    EXPECT_EQ(outcome(operation, body), expected) << operation << " " << body.substr(0, 300);
  }
}

inline std::string violations(std::initializer_list<std::string_view> lines) {
  return fmt::format("Validation: {} validation error{} detected: {}", lines.size(), lines.size() == 1 ? "" : "s",
                     fmt::join(lines, "; "));
}

inline std::string no_value(std::string_view path) {
  return fmt::format("Value null at '{}' failed to satisfy constraint: Member must not be null", path);
}

inline std::string bad(std::string_view value, std::string_view path, std::string_view constraint) {
  return fmt::format("Value '{}' at '{}' failed to satisfy constraint: Member must {}", value, path, constraint);
}

inline std::string unquoted(std::string_view path, std::string_view constraint) {
  return fmt::format("Value at '{}' failed to satisfy constraint: Member must {}", path, constraint);
}

inline constexpr std::string_view kNamePattern = "satisfy regular expression pattern: [a-zA-Z0-9_.-]+";
inline constexpr std::string_view kReturnValues =
    "satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]";
inline constexpr std::string_view kCapacity = "satisfy enum value set: [INDEXES, TOTAL, NONE]";
inline constexpr std::string_view kMetrics = "satisfy enum value set: [SIZE, NONE]";
inline constexpr std::string_view kOperators =
    "satisfy enum value set: [IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, BEGINS_WITH, GE, "
    "CONTAINS]";

// A request with `value` in the place of '@'.
inline std::string with(std::string_view body, std::string_view value) {
  std::string filled(body);
  filled.replace(filled.find('@'), 1, value);
  return filled;
}

}  // namespace stator::api
