#pragma once

#include "stator/systems/stories/story_access.h"

// Stories in and out.
namespace stator::systems::stories {

// GET /stories/{id}/export
Result<http::Response, runtime::Problem> export_story(const StoryAccess& stories, Random& random,
                                                      const app::NativeCall& call);

// POST /stories/import.  All or nothing, also if a file has several stories.  While their nodes are being written, the
// stories are unfinished, so that no request sees them, and have an expiry time; the last transaction ends both.  An
// import that fails removes the stories at once.  If the process dies, they expire, and their nodes are deleted with
// them.
Result<http::Response, runtime::Problem> import_story(const StoryAccess& stories, const Clock& clock, Random& random,
                                                      const app::NativeCall& call);

}  // namespace stator::systems::stories
