#pragma once

#include "stator/app/rest/extension.h"

namespace stator::systems::worthwatch {

// What the model leaves to C++.
app::Additions extension(const app::ExtensionParts& parts);

}  // namespace stator::systems::worthwatch
