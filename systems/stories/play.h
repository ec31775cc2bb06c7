#pragma once

#include "stator/systems/stories/story_access.h"

// Playing a story: a session stands at a node, has variables, and moves along responses.  An answer is the session with
// its node and the choices there.
namespace stator::systems::stories {

// POST /stories/{id}/sessions
Result<http::Response, runtime::Problem> start_session(const StoryAccess& stories, const app::NativeCall& call);
// GET /stories/{storyId}/sessions/{sessionId}
Result<http::Response, runtime::Problem> show_session(const StoryAccess& stories, const app::NativeCall& call);
// POST /stories/{storyId}/sessions/{sessionId}/choose: one transaction, which depends on the node being as it was read.
Result<http::Response, runtime::Problem> choose(const StoryAccess& stories, const app::NativeCall& call);

}  // namespace stator::systems::stories
