#include "stator/systems/stories/extension.h"

#include <fmt/format.h>

#include <algorithm>

#include "stator/runtime/problem.h"
#include "stator/systems/stories/node_actions.h"
#include "stator/systems/stories/play.h"
#include "stator/systems/stories/response_rules.h"
#include "stator/systems/stories/story_check.h"
#include "stator/systems/stories/story_document.h"
#include "stator/systems/stories/transfer.h"

namespace stator::systems::stories {
namespace {

using runtime::Problem;

std::size_t nesting_of(const value::AttributeValue& value) {
  std::size_t deepest = 0;
  if (const auto* list = value.as_list()) {
    for (const auto& member : *list) deepest = std::max(deepest, nesting_of(member));
    return deepest + 1;
  }
  if (const auto* map = value.as_map()) {
    for (const auto& [name, member] : *map) deepest = std::max(deepest, nesting_of(member));
    return deepest + 1;
  }
  return 0;
}

// A story never has more nodes than the operations on all of them take.
Result<void, Problem> check_room(const StoryAccess& stories, runtime::Transaction& transaction,
                                 const value::Item& node) {
  constexpr std::size_t kAlmost = kMostNodes - 100;  // from here on, creates of nodes at the same time conflict
  const value::Item naming{{"userId", *node.find("userId")}, {"id", *node.find("storyId")}};
  const auto* story = TRY(transaction.load(stories.story(), naming));
  const auto counted = story == nullptr || !story->before ? 0 : story->before->integer("nodeCount");
  const auto count = static_cast<std::size_t>(counted);
  if (count >= kMostNodes) return runtime::conflict("Full", fmt::format("a story has at most {} nodes", kMostNodes));
  if (count >= kAlmost) transaction.depend_on(*story, {"nodeCount"});
  return {};
}

std::vector<model::ValueProblem> check_nesting(const value::Item& attributes) {
  std::vector<model::ValueProblem> problems;
  for (const auto& [name, value] : attributes) {
    if (nesting_of(value) <= kDeepestValue) continue;
    problems.push_back({.attribute = name, .problem = fmt::format("nests deeper than {} levels", kDeepestValue)});
  }
  return problems;
}

// Conditions and assignments are checked when they are written, so that no reader meets a wrong one.  Values that are
// nested too deeply for a document are refused, so that every story can be exported.
Result<void, Problem> check_node(const StoryAccess& stories, runtime::Transaction& transaction, runtime::Draft& node) {
  if (!node.before) TRY(check_room(stories, transaction, *node.after));
  auto problems = check_responses(responses_of(*node.after), "responses");
  for (auto& problem : check_nesting(*node.after)) problems.push_back(std::move(problem));
  if (!problems.empty()) return runtime::invalid(std::move(problems));
  return {};
}

Result<void, Problem> check_start(runtime::Transaction&, runtime::Draft& story) {
  auto problems = check_variables(map_of(*story.after, "variables"), "variables");
  for (auto& problem : check_nesting(*story.after)) problems.push_back(std::move(problem));
  if (!problems.empty()) return runtime::invalid(std::move(problems));
  return {};
}

}  // namespace

app::Additions extension(const app::ExtensionParts& parts) {
  const StoryAccess stories(parts);
  const auto follow_node = [stories](runtime::Transaction& transaction, runtime::Draft& node) {
    return check_node(stories, transaction, node);
  };
  using Action = Result<http::Response, Problem>(const StoryAccess&, const app::NativeCall&);
  const auto native = [stories](Action* action) -> app::Native {
    return [stories, action](const app::NativeCall& call) { return action(stories, call); };
  };
  return {
      .natives = {{"reorder", native(reorder)},
                  {"delete_node", native(delete_node)},
                  {"check",
                   [stories, parts](const app::NativeCall& call) { return check_story(stories, parts, call); }},
                  {"export", [stories, &random = parts.random](
                                 const app::NativeCall& call) { return export_story(stories, random, call); }},
                  {"import", [stories, &clock = parts.clock, &random = parts.random](
                                 const app::NativeCall& call) { return import_story(stories, clock, random, call); }},
                  {"start_session", native(start_session)},
                  {"session", native(show_session)},
                  {"choose", native(choose)}},
      .follow = {{&stories.node(), follow_node}, {&stories.story(), check_start}}};
}

}  // namespace stator::systems::stories
