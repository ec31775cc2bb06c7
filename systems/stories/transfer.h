#pragma once

#include "stator/systems/stories/story_access.h"

// Stories in and out.
namespace stator::systems::stories {

// GET /stories/{id}/export
Result<http::Response, runtime::Problem> export_story(const StoryAccess& stories, Random& random,
                                                      const app::NativeCall& call);

// POST /stories/import.  All or nothing.  While its nodes are being written, the story is in no list and has an expiry
// time; the last transaction ends both.  An import that fails removes the story at once.  If the process dies, the
// story expires, and its nodes are deleted with it.
Result<http::Response, runtime::Problem> import_story(const StoryAccess& stories, const Clock& clock, Random& random,
                                                      const app::NativeCall& call);

}  // namespace stator::systems::stories
