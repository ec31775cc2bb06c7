#include "stator/systems/worthwatch/extension.h"

namespace stator::systems::worthwatch {

app::Natives extension(const app::ExtensionParts& /*parts*/) { return {}; }

}  // namespace stator::systems::worthwatch
