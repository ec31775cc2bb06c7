#pragma once

#include "stator/systems/stories/story_access.h"

// What is done with the nodes of a story as a whole.
namespace stator::systems::stories {

// POST /stories/{id}/reorder.  All or nothing as long as what moves fits into one transaction; beyond that in several, each of which
// requires that no other reorder has begun since: then this one ends with a conflict, and the other's order stands.  One that was cut
// off leaves every node in its place, some at the new one, and can be sent again.
Result<http::Response, runtime::Problem> reorder(const StoryAccess& stories, const app::NativeCall& call);

// DELETE /stories/{storyId}/nodes/{id}: with the responses that pointed at it, which `clearLinks` makes point nowhere.
Result<http::Response, runtime::Problem> delete_node(const StoryAccess& stories, const app::NativeCall& call);

// GET /stories/{id}/check.  Lists hold the first thousand; `counts` tells how many there are.
Result<http::Response, runtime::Problem> check_story(const StoryAccess& stories, const app::NativeCall& call);

}  // namespace stator::systems::stories
