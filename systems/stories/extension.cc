#include "stator/systems/stories/extension.h"

#include "stator/runtime/problems.h"
#include "stator/systems/stories/node_actions.h"
#include "stator/systems/stories/play.h"
#include "stator/systems/stories/response_rules.h"
#include "stator/systems/stories/transfer.h"

namespace stator::systems::stories {
namespace {

using runtime::Done;
using runtime::Outcome;

// Conditions and assignments are checked when they are written, so that no reader meets one that makes no sense.
Outcome<Done> check_node(runtime::Transaction& /*transaction*/, runtime::Draft& node) {
  auto problems = check_responses(responses_of(*node.after), "responses");
  if (!problems.empty()) return runtime::invalid(std::move(problems));
  return Done{};
}

}  // namespace

app::Natives extension(const app::ExtensionParts& parts) {
  const StoryAccess stories(parts.repository);
  parts.repository.follow(stories.node(), check_node);
  using Action = Outcome<http::Response>(const StoryAccess&, const app::NativeCall&);
  const auto native = [stories](Action* action) -> app::Native {
    return [stories, action](const app::NativeCall& call) { return action(stories, call); };
  };
  return {{"reorder", native(reorder)},
          {"delete_node", native(delete_node)},
          {"check", native(check_story)},
          {"export", native(export_story)},
          {"import", [stories, &clock = parts.clock, &random = parts.random](
                         const app::NativeCall& call) { return import_story(stories, clock, random, call); }},
          {"start_session", native(start_session)},
          {"session", native(show_session)},
          {"choose", native(choose)}};
}

}  // namespace stator::systems::stories
