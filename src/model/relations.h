#pragma once

#include "stator/model/model.h"

// What follows from the relations of entities to their parents.
namespace stator::model {

// Whether no second entity ever has the same name: part of it is generated, or is a number of a parent of which that is
// true.
bool never_recreated(const TableDesign& table, const Entity& entity);

// Whether children can exist before their parent: it need not exist, or a former parent of the same name has left them.
bool can_precede(const Model& model, const Parent& relation);

// Whether a parent can be removed although children restrict it: it expires, or it is removed with its own parent,
// unless the children restrict that parent as well or are removed with it.
bool can_go_despite(const Model& model, const Entity& child, const Parent& relation);

// Whether children are removed when their parent is gone.
bool cascades(const Model& model, const Entity& child, const Parent& relation);

}  // namespace stator::model
