#pragma once

#include <string>

#include "stator/model/model.h"

namespace stator::model::generate {

// The model as a design document in Markdown: the table, key patterns per index, attributes, relations and rules,
// access patterns, actions, and access rules.
std::string design_document(const Model& model);

}  // namespace stator::model::generate
