#include "stator/systems/stories/node_actions.h"

#include <span>

#include "stator/app/rest/answer.h"
#include "stator/app/rest/request/precondition.h"
#include "stator/runtime/problem.h"
#include "stator/value/json.h"

namespace stator::systems::stories {
namespace {

using runtime::Draft;
using runtime::Object;
using runtime::Problem;
using runtime::Transaction;
using runtime::ValueSource;
using value::AttributeValue;
using value::Item;
using value::JsonWriter;

// A response that leads to the node.
struct Link {
  std::string node;
  std::string node_label;
  std::size_t response = 0;
  std::string response_label;
};

bool leads_to(const AttributeValue& response, const std::string& target) {
  const auto* map = response.as_map();
  return map != nullptr && map->text("targetNodeId") == target;
}

void append_links(JsonWriter& json, const std::vector<Link>& links) {
  json.begin_array();
  for (const auto& link : links) {
    json.begin_object().key("nodeId").string(link.node);
    if (!link.node_label.empty()) json.key("nodeLabel").string(link.node_label);
    json.key("response").integer(static_cast<std::int64_t>(link.response));
    if (!link.response_label.empty()) json.key("label").string(link.response_label);
    json.end_object();
  }
  json.end_array();
}

class NodeDeletion {
 public:
  NodeDeletion(const StoryAccess& stories, const app::NativeCall& call)
      : stories_(stories),
        caller_(call.caller()),
        story_id_(call.within->attributes.text("storyId")),
        node_id_(call.within->attributes.text("id")),
        precondition_(app::precondition_of(call.call.request)) {}

  Result<std::vector<Link>, Problem> links() const {
    std::vector<Link> links;
    TRY(stories_.visit_nodes(story_id_, caller_, [&](Object& node) -> Result<void, Problem> {
      const auto id = node.attributes.text("id");
      const auto& responses = responses_of(node.attributes);
      for (std::size_t i = 0; id != node_id_ && i < responses.size(); ++i) {
        if (!leads_to(responses[i], node_id_)) continue;
        links.push_back({.node = id,
                         .node_label = node.attributes.text("label"),
                         .response = i,
                         .response_label = responses[i].as_map()->text("label")});
      }
      return {};
    }));
    return links;
  }

  // If the links do not fit into the transaction of the deletion, they are cleared first.  If this is interrupted, the
  // node still exists, and the same request finishes it.
  Result<bool, Problem> carry_out(const std::vector<Link>& links, bool clear) const {
    std::vector<std::string> pointing;
    for (const auto& link : links) {
      if (clear && (pointing.empty() || pointing.back() != link.node)) pointing.push_back(link.node);
    }
    std::span<const std::string> rest(pointing);
    while (rest.size() > kNodesPerTransaction) {
      const auto some = rest.first(kNodesPerTransaction);
      TRY(stories_.repository().transact([&](Transaction& transaction) -> Result<void, Problem> {
        TRY(load(transaction));
        return clear_links(transaction, some);
      }));
      rest = rest.subspan(kNodesPerTransaction);
    }
    bool was_start = false;
    TRY(stories_.repository().transact([&](Transaction& transaction) -> Result<void, Problem> {
      auto* node = TRY(load(transaction));
      auto* story = TRY(stories_.load_story(transaction, story_id_, caller_));
      was_start = story->after->text("startNodeId") == node_id_;
      if (was_start && clear) {
        TRY(transaction.change(*story, {.values = {}, .nulls = {"startNodeId"}}, ValueSource::Request));
      }
      TRY(clear_links(transaction, rest));
      return transaction.remove(*node);
    }));
    return was_start;
  }

 private:
  Result<Draft*, Problem> load(Transaction& transaction) const {
    auto* node = TRY(stories_.load_node(transaction, story_id_, node_id_, caller_));
    if (node == nullptr) return runtime::not_found(stories_.node().name);
    if (!precondition_.holds(runtime::version_of(stories_.model().table, *node->after))) {
      return runtime::Problem{
          runtime::ProblemKind::PreconditionFailed, "VersionMismatch", "it has been changed since", {}};
    }
    return node;
  }

  Result<void, Problem> clear_links(Transaction& transaction, std::span<const std::string> nodes) const {
    for (const auto& id : nodes) {
      auto* node = TRY(stories_.load_node(transaction, story_id_, id, caller_));
      if (node == nullptr) continue;
      auto responses = responses_of(*node->after);
      for (auto& response : responses) {
        if (leads_to(response, node_id_)) response.as_map()->erase("targetNodeId");
      }
      model::PlainObject change;
      change.values.set("responses", AttributeValue(std::move(responses)));
      TRY(transaction.change(*node, change, ValueSource::Request));
    }
    return {};
  }

  const StoryAccess& stories_;
  const runtime::Caller& caller_;
  const std::string story_id_;
  const std::string node_id_;
  const runtime::Precondition precondition_;
};

}  // namespace

Result<http::Response, Problem> delete_node(const StoryAccess& stories, const app::NativeCall& call) {
  const NodeDeletion deletion(stories, call);
  const bool clear = *call.inputs.find("clearLinks")->as_bool();
  const auto links = TRY(deletion.links());
  const bool was_start = TRY(deletion.carry_out(links, clear));
  std::string body;
  JsonWriter json(body);
  json.begin_object().key(clear ? "clearedLinks" : "brokenLinks");
  append_links(json, links);
  json.key("wasStart").boolean(was_start).end_object();
  return app::json_answer(200, std::move(body));
}

}  // namespace stator::systems::stories
