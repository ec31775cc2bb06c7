#include "stator/runtime/object.h"

#include "stator/runtime/transaction.h"

namespace stator::runtime {

Object to_object(const model::Model& model, const model::Entity& entity, value::Item attributes) {
  Object object;
  object.entity = &entity;
  if (entity.versioned) object.version = version_of(model.table, attributes);
  if (entity.find_attribute(model.table.version_attribute) == nullptr) attributes.erase(model.table.version_attribute);
  for (const auto& attribute : entity.attributes) {
    if (!attribute.when_read) continue;
    const model::Expression::Scope scope{
        .attribute = [&](std::string_view name) -> const value::AttributeValue* { return attributes.find(name); },
        .input = {},
        .generate = {}};
    auto computed = attribute.derived->evaluate(scope);
    // An average of nothing is nothing.
    if (computed.ok() && *computed) attributes.set(attribute.name, std::move(**computed));
  }
  object.attributes = std::move(attributes);
  return object;
}

}  // namespace stator::runtime
