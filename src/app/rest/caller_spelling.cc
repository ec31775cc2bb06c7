#include "stator/app/rest/caller_spelling.h"

#include <vector>

#include "stator/model/validate.h"

namespace stator::app {

const model::Attribute* find_owner_id(const model::Model& model) {
  for (const auto& entity : model.entities) {
    const auto* owner = entity.owner_attribute;
    if (owner == nullptr) continue;
    if (owner->type.kind == model::Kind::Uuid || owner->type.kind == model::Kind::Ulid) return owner;
  }
  return nullptr;
}

std::optional<TokenUser> respelled(const model::Attribute* owner_id, const TokenUser* user) {
  if (owner_id == nullptr || user == nullptr || !user->caller.subject) return std::nullopt;
  auto subject = value::AttributeValue::string(*user->caller.subject);
  std::vector<model::ValueProblem> problems;
  model::check_value(owner_id->type, owner_id->name, subject, problems);
  if (!problems.empty() || *subject.as_string() == *user->caller.subject) return std::nullopt;
  auto other = *user;
  other.caller.subject = *subject.as_string();
  return other;
}

}  // namespace stator::app
