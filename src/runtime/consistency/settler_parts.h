#pragma once

#include <string>
#include <utility>

#include "stator/runtime/dynamo/write_plan.h"
#include "stator/runtime/problem.h"

// What the parts of the settler share, and nobody else needs.
namespace stator::runtime {

inline constexpr unsigned kSettleAttempts = 12;  // to settle something that others keep changing

inline void assign(value::Item& item, const std::string& name, const value::AttributeValue* content) {
  if (content != nullptr) {
    item.set(name, *content);
  } else {
    item.erase(name);
  }
}

inline bool same(const value::AttributeValue* a, const value::AttributeValue* b) {
  return a == nullptr || b == nullptr ? a == b : *a == *b;
}

inline Requirement is(std::string attribute, const value::AttributeValue* content) {
  Requirement requirement{.kind = Requirement::Kind::Is, .attribute = std::move(attribute)};
  if (content != nullptr) requirement.value = *content;
  return requirement;
}
inline Requirement exists() { return {.kind = Requirement::Kind::Exists}; }
inline Requirement absent() { return {.kind = Requirement::Kind::Absent}; }

inline value::Number number_at(const value::Item& attributes, const std::string& name) {
  const auto* content = attributes.find(name);
  const auto* number = content != nullptr ? content->as_number() : nullptr;
  return number != nullptr ? *number : value::Number();
}

// Computes derived attributes anew.  What was derived from something that is not stored stays as it was made.
Result<void, Problem> derive_again(const model::Entity& entity, value::Item& attributes);

}  // namespace stator::runtime
