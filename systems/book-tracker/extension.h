#pragma once

#include "stator/app/rest/system.h"

namespace stator::systems::book_tracker {

// The native actions of the model, in C++.
app::Natives extension(const app::ExtensionParts& parts);

}  // namespace stator::systems::book_tracker
