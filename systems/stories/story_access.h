#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "stator/app/rest/extension.h"
#include "stator/base/memory_budget.h"
#include "stator/base/turns.h"
#include "stator/runtime/dynamo/dynamo.h"
#include "stator/runtime/write/transaction.h"

// Helpers of the native actions: entities of the model, reading all nodes of a story, and answers.
namespace stator::systems::stories {

// The most nodes that a story can have, because some operations take all of them at once.
inline constexpr std::size_t kMostNodes = 10'000;
// How many nodes one transaction changes, of DynamoDB's hundred rows: the rest is for the story and its index record.
inline constexpr std::size_t kNodesPerTransaction = 90;

// Thread-safe.
class StoryAccess {
 public:
  explicit StoryAccess(const app::ExtensionParts& parts);  // all of them outlive it

  runtime::Repository& repository() const { return *repository_; }
  const model::Model& model() const { return repository_->model(); }
  const model::Entity& story() const { return *story_; }
  const model::Entity& node() const { return *node_; }
  const model::Entity& session() const { return *session_; }

  // All nodes, in no particular order, read consistently and page by page, for as long as `visit` answers Done.
  // Problems: its own; TooLarge, beyond kMostNodes.
  using Visit = std::function<Result<void, runtime::Problem>(runtime::Object& node)>;
  Result<void, runtime::Problem> visit_nodes(const std::string& story_id, const runtime::Caller& caller,
                                             const Visit& visit) const;
  // All nodes at once, sorted by (nodeOrder, id).  `memory` has a claim for the nodes and for a copy as text.  Only one
  // story is read at a time: its size is known only at its end, and several stories together could use up all memory
  // before one of them is complete. Problems: TooLarge, also beyond 64 MB of text; Unavailable, when there is no
  // memory, or others take too long.
  Result<std::vector<runtime::Object>, runtime::Problem> nodes_in_order(const std::string& story_id,
                                                                        const runtime::Caller& caller,
                                                                        MemoryClaim& memory) const;

  // The ids among these that have a node.
  Result<std::set<std::string>, runtime::Problem> existing_nodes(const std::string& owner, const std::string& story_id,
                                                                 const std::set<std::string>& ids) const;

  // The story inside a transaction, which then depends on its being live.  Problems: NotFound.
  Result<runtime::Draft*, runtime::Problem> load_story(runtime::Transaction& transaction, const std::string& story_id,
                                                       const runtime::Caller& caller) const;
  // A node of it; null when there is none.
  Result<runtime::Draft*, runtime::Problem> load_node(runtime::Transaction& transaction, const std::string& story_id,
                                                      const std::string& node_id, const runtime::Caller& caller) const;

 private:
  runtime::Repository* repository_;
  const model::Entity* story_;
  const model::Entity* node_;
  const model::Entity* session_;
  const model::Pattern* nodes_;
  std::shared_ptr<runtime::Dynamo> dynamo_;
  std::shared_ptr<Turns> reading_;  // of copies, too
};

// Of a node; empty when it has none.
const value::List& responses_of(const value::Item& node);

}  // namespace stator::systems::stories
