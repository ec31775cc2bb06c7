#pragma once

#include "stator/model/model.h"

// What follows from how rows belong to others.
namespace stator::model {

// Whether part of its name is generated, so that there is never another of that name.
bool comes_once(const TableDesign& table, const Entity& entity);

// Whether there can be rows with this relation before their parent is there: it need not exist, or a former one of its name has left
// them behind.
bool can_precede(const Model& model, const Parent& relation);

// Whether the parent can go although rows restrict it, and is not asked: with what it belongs to, unless they hold on to that or go with
// it as well, or because its time has come.
bool can_go_despite(const Model& model, const Entity& child, const Parent& relation);

// Whether the rows go when their parent has gone.
bool goes_along(const Model& model, const Entity& child, const Parent& relation);

}  // namespace stator::model
