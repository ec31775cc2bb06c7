#pragma once

#include <optional>
#include <string>
#include <utility>

#include "stator/model/model.h"
#include "stator/runtime/dynamo/write_plan.h"

// The requirements that plans are made of, in words.  Null stands for an absent attribute.
namespace stator::runtime {

inline Requirement attribute_is(std::string attribute, const value::AttributeValue* content) {
  Requirement requirement{.kind = Requirement::Kind::Is, .attribute = std::move(attribute)};
  if (content != nullptr) requirement.value = *content;
  return requirement;
}
inline Requirement attribute_is(std::string attribute, value::AttributeValue content) {
  return {.kind = Requirement::Kind::Is, .attribute = std::move(attribute), .value = std::move(content)};
}
inline Requirement attribute_is_not(std::string attribute, value::AttributeValue content) {
  return {.kind = Requirement::Kind::IsNot, .attribute = std::move(attribute), .value = std::move(content)};
}
inline Requirement row_exists() { return {.kind = Requirement::Kind::Exists}; }
inline Requirement row_absent() { return {.kind = Requirement::Kind::Absent}; }
// The entity is still not there.  `found` lies at its key: nothing, or a row of another type.
inline Requirement entity_absent(const model::TableDesign& table, const model::Entity& entity,
                                 const std::optional<value::Item>& found) {
  if (!found) return row_absent();
  return attribute_is_not(table.type_attribute, value::AttributeValue::string(entity.main().type));
}
// The requirement with a problem to tell when it does not hold.
inline Requirement otherwise(Requirement requirement, Problem problem) {
  requirement.otherwise = std::move(problem);
  return requirement;
}

}  // namespace stator::runtime
