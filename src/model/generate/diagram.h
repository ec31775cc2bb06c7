#pragma once

#include <string>

#include "stator/model/model.h"

namespace stator::model::generate {

// A picture of the model, as one SVG file without references to anything outside: a card per entity with its keys,
// children to the right of their parents; beside them a card for the table and for each index with the patterns that
// read it.
std::string diagram(const Model& model);

}  // namespace stator::model::generate
