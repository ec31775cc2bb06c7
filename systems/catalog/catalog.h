#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stator/app/rest/system.h"
#include "stator/model/check/load.h"

namespace stator::systems {

// The names of the systems that come with Stator.
std::vector<std::string> names();
bool is_built_in(std::string_view name);

// The model of a system of that name, or else of the file of that name.
model::Loaded load_model(const std::string& name_or_file);

// The C++ behind a model's native actions: that of the system of its name, if the model has all that the system's own has (it may
// have more).  Null when there is none.
app::Extension extension_of(const model::Model& model);

}  // namespace stator::systems
