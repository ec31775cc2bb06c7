#include "stator/systems/shops/extension.h"

namespace stator::systems::shops {

app::Natives extension(const app::ExtensionParts& /*parts*/) { return {}; }

}  // namespace stator::systems::shops
