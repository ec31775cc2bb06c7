#include "stator/systems/stories/node_actions.h"

#include <algorithm>
#include <span>

#include "stator/app/rest/answer.h"
#include "stator/app/rest/precondition.h"
#include "stator/runtime/problem.h"
#include "stator/systems/stories/story_graph.h"
#include "stator/value/json.h"

namespace stator::systems::stories {
namespace {

using runtime::Draft;
using runtime::Object;
using runtime::Problem;
using runtime::Source;
using runtime::Transaction;
using value::AttributeValue;
using value::Item;
using value::JsonWriter;

constexpr std::size_t kMostListed = 1000;

// ----------------------------------------------------------------------------------------------------- deleting a node

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
        TRY(transaction.change(*story, {.values = {}, .nulls = {"startNodeId"}}, Source::Request));
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
      TRY(transaction.change(*node, change, Source::Request));
    }
    return {};
  }

  const StoryAccess& stories_;
  const runtime::Caller& caller_;
  const std::string story_id_;
  const std::string node_id_;
  const runtime::Precondition precondition_;
};

// ------------------------------------------------------------------------------------------------------------ checking

GraphNode graph_node(const Object& node) {
  GraphNode made{.id = node.attributes.text("id"), .targets = {}};
  for (const auto& response : responses_of(node.attributes)) {
    const auto* map = response.as_map();
    made.targets.push_back(map != nullptr ? map->text("targetNodeId") : std::string());
  }
  return made;
}

template <typename List, typename Append>
void append_first(JsonWriter& json, std::string_view name, const List& list, const Append& append) {
  json.key(name).begin_array();
  for (std::size_t i = 0; i < std::min(list.size(), kMostListed); ++i) append(list[i]);
  json.end_array();
}

std::string report_body(const GraphReport& report, std::size_t nodes) {
  std::string body;
  JsonWriter json(body);
  json.begin_object().key("sound").boolean(report.sound()).key("missingStart").boolean(report.missing_start);
  append_first(json, "brokenLinks", report.broken_links, [&](const BrokenLink& link) {
    json.begin_object().key("nodeId").string(link.node);
    json.key("response").integer(static_cast<std::int64_t>(link.response));
    if (!link.target.empty()) json.key("targetNodeId").string(link.target);
    json.end_object();
  });
  const auto append_id = [&](const std::string& id) { json.string(id); };
  append_first(json, "unreachable", report.unreachable, append_id);
  append_first(json, "deadEnds", report.dead_ends, append_id);
  json.key("counts").begin_object().key("nodes").integer(static_cast<std::int64_t>(nodes));
  json.key("brokenLinks").integer(static_cast<std::int64_t>(report.broken_links.size()));
  json.key("unreachable").integer(static_cast<std::int64_t>(report.unreachable.size()));
  json.key("deadEnds").integer(static_cast<std::int64_t>(report.dead_ends.size())).end_object();
  json.end_object();
  return body;
}

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

Result<http::Response, Problem> check_story(const StoryAccess& stories, const app::NativeCall& call) {
  struct Placed {
    std::int64_t position = 0;
    GraphNode node;
  };
  std::vector<Placed> placed;
  const auto& story = call.within->attributes;
  TRY(stories.visit_nodes(story.text("id"), call.caller(), [&](Object& node) -> Result<void, Problem> {
    placed.push_back({.position = node.attributes.integer("nodeOrder"), .node = graph_node(node)});
    return {};
  }));
  std::ranges::stable_sort(placed, {}, &Placed::position);  // they came by id
  std::vector<GraphNode> nodes;
  for (auto& one : placed) nodes.push_back(std::move(one.node));
  return app::json_answer(200, report_body(check_graph(nodes, story.text("startNodeId")), nodes.size()));
}

}  // namespace stator::systems::stories
