#pragma once

#include "stator/app/rest/system.h"

namespace stator::systems::stories {

// What the model leaves to C++: its native actions.
app::Natives extension(const app::ExtensionParts& parts);

}  // namespace stator::systems::stories
