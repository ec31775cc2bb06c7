#include "stator/systems/media-library/extension.h"

namespace stator::systems::media_library {

app::Natives extension(const app::ExtensionParts& /*parts*/) { return {}; }

}  // namespace stator::systems::media_library
