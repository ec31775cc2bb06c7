#include "stator/systems/stories/extension.h"

namespace stator::systems::stories {

app::Natives extension(const app::ExtensionParts& /*parts*/) { return {}; }

}  // namespace stator::systems::stories
