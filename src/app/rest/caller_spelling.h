#pragma once

#include <optional>

#include "stator/app/auth/jwt.h"
#include "stator/model/model.h"

// A UUID or ULID has several spellings, and a token may have another than the rows of its owner.
namespace stator::app {

// An attribute that holds owners and whose type has several spellings; null when the model has none.
const model::Attribute* find_owner_id(const model::Model& model);

// The user with the subject as `owner_id` spells it; nullopt when that changes nothing.  Both may be null.
std::optional<TokenUser> respelled(const model::Attribute* owner_id, const TokenUser* user);

}  // namespace stator::app
