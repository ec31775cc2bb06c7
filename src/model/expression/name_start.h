#pragma once

#include "stator/base/ascii.h"

namespace stator::model {

// Whether a name in a model, a template or an expression can begin with this character.
constexpr bool is_name_start(char c) { return is_letter(c) || c == '_'; }

}  // namespace stator::model
