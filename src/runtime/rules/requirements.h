#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stator/model/model.h"
#include "stator/runtime/dynamo/write_plan.h"
#include "stator/runtime/rules/effects.h"
#include "stator/runtime/rules/rules.h"

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

// The requirements below are those of a whole computation; none needs a table.

// Each of these attributes is as in `before`.
std::vector<Requirement> requirements_of(const std::set<std::string>& inputs, const value::Item& before);
// On the main row of an entity that was `before`, for the writes of `effects`: their inputs are unchanged, counters
// that must be zero are, and rows that are written whole have the drifting attributes that they were written with.
// `version_guarded`: another requirement is that the version is that of `before`.
std::vector<Requirement> requirements_of(const EntityRules& rules, const Effects& effects, const value::Item& before,
                                         bool version_guarded);
// On the row of a parent with these attributes, for the copies that a child has of it.
std::vector<Requirement> copy_requirements(const RelationRules& rules, const value::Item& parent);

// The problem of an entity that others need.
Problem in_use(const model::Entity& entity, model::ValueProblem detail);

}  // namespace stator::runtime
