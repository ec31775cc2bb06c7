#pragma once

#include "stator/systems/stories/story_access.h"

// Actions on the nodes of a whole story.
namespace stator::systems::stories {

// POST /stories/{id}/reorder.  One transaction if the moved nodes fit into one.  Otherwise several transactions, each
// of which requires that no other reorder has begun since; if one has, this reorder ends with a conflict and the other
// order stays.  An interrupted reorder leaves each node at its old or its new position, and can be sent again.
Result<http::Response, runtime::Problem> reorder(const StoryAccess& stories, const app::NativeCall& call);

// DELETE /stories/{storyId}/nodes/{id}: with `clearLinks`, responses that point to the node lose their target.
Result<http::Response, runtime::Problem> delete_node(const StoryAccess& stories, const app::NativeCall& call);

}  // namespace stator::systems::stories
