#pragma once

#include "stator/app/rest/extension.h"

namespace stator::systems::media_library {

// The native part of the model.
app::Additions extension(const app::ExtensionParts& parts);

}  // namespace stator::systems::media_library
