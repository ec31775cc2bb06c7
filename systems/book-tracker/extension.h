#pragma once

#include "stator/app/rest/extension.h"

namespace stator::systems::book_tracker {

// What the model leaves to C++.
app::Additions extension(const app::ExtensionParts& parts);

}  // namespace stator::systems::book_tracker
