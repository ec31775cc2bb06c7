#include "stator/app/rest/caller_spelling.h"

#include <vector>

#include "stator/model/validate.h"

namespace stator::app {

const model::Attribute* find_owner_id(const model::Model& model) {
  for (const auto& entity : model.entities) {
    const auto* owner = entity.owner ? entity.find_attribute(*entity.owner) : nullptr;
    if (owner == nullptr) continue;
    if (owner->type.kind == model::Kind::Uuid || owner->type.kind == model::Kind::Ulid) return owner;
  }
  return nullptr;
}

std::optional<Identity> respelled(const model::Attribute* owner_id, const Identity* identity) {
  if (owner_id == nullptr || identity == nullptr || !identity->caller.subject) return std::nullopt;
  auto subject = value::AttributeValue::string(*identity->caller.subject);
  std::vector<model::ValueProblem> problems;
  model::check_value(owner_id->type, owner_id->name, subject, problems);
  if (!problems.empty() || *subject.as_string() == *identity->caller.subject) return std::nullopt;
  auto other = *identity;
  other.caller.subject = *subject.as_string();
  return other;
}

}  // namespace stator::app
