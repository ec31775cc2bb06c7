#include "stator/systems/book-tracker/extension.h"

namespace stator::systems::book_tracker {

app::Natives extension(const app::ExtensionParts& /*parts*/) { return {}; }

}  // namespace stator::systems::book_tracker
