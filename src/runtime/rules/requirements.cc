#include "stator/runtime/rules/requirements.h"

namespace stator::runtime {

std::vector<Requirement> requirements_of(const std::set<std::string>& inputs, const value::Item& before) {
  std::vector<Requirement> requirements;
  requirements.reserve(inputs.size());
  for (const auto& name : inputs) requirements.push_back(attribute_is(name, before.find(name)));
  return requirements;
}

std::vector<Requirement> requirements_of(const EntityRules& rules, const Effects& effects, const value::Item& before,
                                         bool version_guarded) {
  const auto& entity = *rules.entity;
  // An equal version proves that the row is the one that was read, unless its name can be reused: within a millisecond
  // a new row may begin with the same version.
  const bool same_row = version_guarded && entity.never_recreated;
  auto unguarded = effects.inputs;
  std::erase_if(unguarded, [&](const std::string& name) {
    return (same_row && !rules.drifting.contains(name)) || entity.is_named_by(name);
  });
  auto requirements = requirements_of(unguarded, before);
  for (const auto& counter : effects.must_be_zero) {
    requirements.push_back({.kind = Requirement::Kind::AtMostZero,
                            .attribute = counter,
                            .value = {},
                            .otherwise = in_use(entity, {counter, "is not zero"})});
  }
  // A row that is new or moves is written whole, with counters and copies as they were read.
  for (const auto& row : effects.rows) {
    if (row.record == nullptr || row.action(row.from) != RowEffect::Action::Put) continue;
    for (const auto& name : rules.drifting) {
      if (row.record->holds(name)) requirements.push_back(attribute_is(name, before.find(name)));
    }
  }
  return requirements;
}

std::vector<Requirement> copy_requirements(const RelationRules& rules, const value::Item& parent) {
  std::vector<Requirement> requirements;
  for (const auto* copy : rules.copies) {
    const auto& source = copy->copy_of->attribute;
    requirements.push_back(attribute_is(source, parent.find(source)));
  }
  return requirements;
}

Problem in_use(const model::Entity& entity, model::ValueProblem detail) {
  return conflict("InUse", "this " + entity.name + " is in use", {std::move(detail)});
}

}  // namespace stator::runtime
