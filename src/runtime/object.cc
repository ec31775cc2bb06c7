#include "stator/runtime/object.h"

#include "stator/model/rows.h"
#include "stator/runtime/write/transaction.h"

namespace stator::runtime {

Object to_object(const model::Model& model, const model::Entity& entity, value::Item attributes) {
  Object object;
  object.entity = &entity;
  if (entity.versioned) object.version = version_of(model.table, attributes);
  const auto hide = [&](const std::string& name) {
    if (entity.find_attribute(name) == nullptr) attributes.erase(name);
  };
  hide(model.table.version_attribute);
  if (model.table.ttl_attribute) hide(*model.table.ttl_attribute);
  ignore_error(model::derive_when_read(entity, attributes), "a value that cannot be computed is left out");
  object.attributes = std::move(attributes);
  return object;
}

}  // namespace stator::runtime
