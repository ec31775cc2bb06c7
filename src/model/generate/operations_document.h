#pragma once

#include <string>

#include "stator/model/model.h"

// The parts of the design document about patterns and actions.
namespace stator::model::generate {

void write_patterns(std::string& out, const Model& model);
void write_actions(std::string& out, const Model& model);
void write_grants(std::string& out, const Model& model);

}  // namespace stator::model::generate
