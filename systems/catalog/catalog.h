#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/app/rest/extension.h"
#include "stator/model/model.h"

namespace stator::systems {

// The names of the systems that come with Stator.
std::vector<std::string> names();
bool is_built_in(std::string_view name);

// The text of its model; nullopt when no system has that name.
std::optional<std::string_view> model_text(std::string_view name);

// The native actions of a model, from the system with the same name, if the model has everything that `built_in`, the
// model of that system, has.  Null when there is none.
app::Extension extension_of(const model::Model& model, const model::Model& built_in);

}  // namespace stator::systems
