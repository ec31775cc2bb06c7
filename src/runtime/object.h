#pragma once

#include "stator/model/model.h"
#include "stator/runtime/repository.h"
#include "stator/value/attribute_value.h"

namespace stator::runtime {

// An entity's attributes, its version among them, as what is served: the version apart, and what is derived when read
// computed.
Object to_object(const model::Model& model, const model::Entity& entity, value::Item attributes);

}  // namespace stator::runtime
