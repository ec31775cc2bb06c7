#pragma once

#include "stator/model/model.h"

// What follows from how rows belong to others.
namespace stator::model {

// Whether part of its name is generated, so that there is never another of that name.
bool comes_once(const Table& table, const Entity& entity);

// Whether there can be rows with this relation before their parent is there: it need not exist, or a former one of its name has left
// them behind.
bool can_precede(const Model& model, const Parent& relation);

}  // namespace stator::model
