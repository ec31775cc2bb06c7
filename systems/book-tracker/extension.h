#pragma once

#include "stator/app/rest/extension.h"

namespace stator::systems::book_tracker {

// The native part of the model.
app::Additions extension(const app::ExtensionParts& parts);

}  // namespace stator::systems::book_tracker
