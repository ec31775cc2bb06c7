#include "stator/model/relations.h"

#include <algorithm>

namespace stator::model {

bool comes_once(const Table& table, const Entity& entity) {
  const auto identity = entity.identity(table);
  return std::any_of(identity.begin(), identity.end(), [&](const std::string& name) {
    const auto* attribute = entity.find_attribute(name);
    return attribute != nullptr && attribute->generated != Generated::No;
  });
}

bool can_precede(const Model& model, const Parent& relation) {
  if (!relation.must_exist) return true;
  // What goes with a parent is gone before there is another of that name.  What is cleared may not have been.
  const bool stays = relation.on_delete == OnDelete::Nothing || relation.on_delete == OnDelete::Clear;
  return stays && !comes_once(model.table, *model.find_entity(relation.entity));
}

}  // namespace stator::model
