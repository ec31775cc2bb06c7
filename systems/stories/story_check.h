#pragma once

#include "stator/systems/stories/story_access.h"

namespace stator::systems::stories {

// GET /stories/{id}/check: the problems that readers of the story would meet, page by page.
Result<http::Response, runtime::Problem> check_story(const StoryAccess& stories, const app::ExtensionParts& parts,
                                                     const app::NativeCall& call);

}  // namespace stator::systems::stories
