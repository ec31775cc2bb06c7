#pragma once

#include "stator/systems/stories/story_access.h"

// Stories in and out.
namespace stator::systems::stories {

// GET /stories/{id}/export
Result<http::Response, runtime::Problem> export_story(const StoryAccess& stories, Random& random,
                                                      const app::NativeCall& call);

// POST /stories/import.  All or nothing: the story is in no list and has a time to expire while its nodes are being written, and both end
// with the last transaction.  An import that fails removes it at once; of one that is cut off, expiry removes it, and its nodes with it.
Result<http::Response, runtime::Problem> import_story(const StoryAccess& stories, const Clock& clock, Random& random,
                                                      const app::NativeCall& call);

}  // namespace stator::systems::stories
