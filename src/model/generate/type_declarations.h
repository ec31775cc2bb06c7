#pragma once

#include <string>

#include "stator/model/model.h"

namespace stator::model::generate {

// The data that a REST client of the model sends and gets, as types.  Per entity: the served object, the input of a
// create, and the input of a patch; per pattern its parameters; per action its input.  Hidden attributes are in none of
// them.
std::string typescript_types(const Model& model);

// The same for C++20, as structs that depend on nothing but the standard library.
std::string cpp_types(const Model& model);

}  // namespace stator::model::generate
