#pragma once

#include "stator/model/model.h"
#include "stator/runtime/repository.h"
#include "stator/value/attribute_value.h"

namespace stator::runtime {

// The object with these attributes of an entity.  The version becomes a member of its own, and the attributes that are
// derived at a read are computed.
Object to_object(const model::Model& model, const model::Entity& entity, value::Item attributes);

}  // namespace stator::runtime
