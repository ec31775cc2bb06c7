#pragma once

#include <string_view>

#include "stator/model/model.h"

namespace stator::model {

// Whether every stored row of the entity has the attribute: it names the entity, somebody must give it, or it is made
// from what is always there.
bool is_always_there(const Model& model, const Entity& entity, std::string_view attribute);

}  // namespace stator::model
