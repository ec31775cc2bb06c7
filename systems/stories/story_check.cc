#include "stator/systems/stories/story_check.h"

#include <algorithm>
#include <compare>
#include <map>
#include <set>
#include <unordered_map>

#include "stator/app/rest/answer.h"
#include "stator/app/rest/routes/list_name.h"
#include "stator/runtime/problem.h"
#include "stator/systems/stories/response_rules.h"
#include "stator/systems/stories/story_graph.h"
#include "stator/systems/stories/variable_use.h"
#include "stator/value/json.h"

namespace stator::systems::stories {
namespace {

using runtime::Object;
using runtime::Problem;
using value::AttributeValue;
using value::Item;
using value::JsonWriter;

enum class Kind : std::uint8_t { BrokenLink, Unreachable, DeadEnd, UnsetVariable };
constexpr std::size_t kKinds = 4;
constexpr std::array<std::string_view, kKinds> kNames = {"brokenLinks", "unreachable", "deadEnds", "unsetVariables"};

// One mistake.  Its place among all: those before do not depend on those behind, so that a page can begin anywhere.
struct Finding {
  Kind kind = Kind::BrokenLink;
  std::int64_t position = 0;  // of the node
  std::string node;
  std::size_t response = 0;
  std::string where;
  std::string variable;
  std::string label = {};   // of the node
  std::string target = {};  // of a broken link

  auto place() const { return std::tie(kind, position, node, response, where, variable); }
  friend bool operator<(const Finding& a, const Finding& b) { return a.place() < b.place(); }
};

runtime::PageEnd to_page_end(const Finding& last) {
  Item key = {{"kind", AttributeValue::number(static_cast<std::int64_t>(last.kind))},
              {"position", AttributeValue::number(last.position)},
              {"node", AttributeValue(last.node)},
              {"response", AttributeValue::number(static_cast<std::int64_t>(last.response))},
              {"where", AttributeValue(last.where)},
              {"variable", AttributeValue(last.variable)}};
  return {.keys = {std::move(key)}, .done = {false}};
}

std::optional<Finding> to_finding(const std::optional<runtime::PageEnd>& end) {
  if (!end || end->keys.empty()) return std::nullopt;
  const auto& key = end->keys.front();
  return Finding{.kind = static_cast<Kind>(key.integer("kind")),
                 .position = key.integer("position"),
                 .node = key.text("node"),
                 .response = static_cast<std::size_t>(key.integer("response")),
                 .where = key.text("where"),
                 .variable = key.text("variable")};
}

// The first findings behind a place, and how many there are of each kind.
class Page {
 public:
  Page(std::size_t limit, std::optional<Finding> after) : limit_(limit), after_(std::move(after)) {}

  void add(Finding finding) {
    ++counts_[static_cast<std::size_t>(finding.kind)];
    if (after_ && !(*after_ < finding)) return;
    if (found_.size() > limit_ && !(finding < *found_.rbegin())) return;
    found_.insert(std::move(finding));
    if (found_.size() > limit_ + 1) found_.erase(std::prev(found_.end()));
  }

  // The page's own last, when there are more.
  const Finding* last() const { return found_.size() > limit_ ? &*std::prev(found_.end(), 2) : nullptr; }

  void append(JsonWriter& json, std::size_t nodes) const {
    const auto end = found_.size() > limit_ ? std::prev(found_.end()) : found_.end();
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      json.key(kNames[kind]).begin_array();
      for (auto one = found_.begin(); one != end; ++one) {
        if (static_cast<std::size_t>(one->kind) == kind) append(json, *one);
      }
      json.end_array();
    }
    json.key("counts").begin_object().key("nodes").integer(static_cast<std::int64_t>(nodes));
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      json.key(kNames[kind]).integer(static_cast<std::int64_t>(counts_[kind]));
    }
    json.end_object();
  }

 private:
  static void append(JsonWriter& json, const Finding& one) {
    json.begin_object().key("nodeId").string(one.node);
    if (!one.label.empty()) json.key("nodeLabel").string(one.label);
    if (one.kind == Kind::BrokenLink || one.kind == Kind::UnsetVariable) {
      json.key("response").integer(static_cast<std::int64_t>(one.response));
    }
    if (!one.target.empty()) json.key("targetNodeId").string(one.target);
    if (!one.variable.empty()) json.key("variable").string(one.variable).key("where").string(one.where);
    json.end_object();
  }

  const std::size_t limit_;
  const std::optional<Finding> after_;
  std::set<Finding> found_;  // one more than the page has
  std::array<std::size_t, kKinds> counts_{};
};

// A node as far as its links need it.
struct Place {
  std::int64_t position = 0;
  std::string label;
};

class Check {
 public:
  Check(const StoryAccess& stories, const app::NativeCall& call, Page& page)
      : stories_(stories), story_(call.within->attributes), caller_(call.caller()), page_(page) {}

  // Nodes are read twice where variables are unset: a story may read more of them than memory should hold.
  Result<void, Problem> run() {
    VariableUse use(map_of(story_, "variables"));
    std::vector<GraphNode> nodes;
    TRY(stories_.visit_nodes(story_.text("id"), caller_, [&](Object& node) -> Result<void, Problem> {
      const auto id = node.attributes.text("id");
      places_[id] = {.position = node.attributes.integer("nodeOrder"), .label = node.attributes.text("label")};
      nodes.push_back({.id = id, .targets = {}});
      for (const auto& response : responses_of(node.attributes)) {
        const auto* map = response.as_map();
        nodes.back().targets.push_back(map != nullptr ? map->text("targetNodeId") : std::string());
      }
      use.add(responses_of(node.attributes));
      return {};
    }));
    report_ = check_graph(nodes, story_.text("startNodeId"));
    for (const auto& link : report_.broken_links) {
      auto finding = finding_of(Kind::BrokenLink, link.node, link.response);
      finding.target = link.target;
      page_.add(std::move(finding));
    }
    for (const auto& node : report_.unreachable) page_.add(finding_of(Kind::Unreachable, node));
    for (const auto& node : report_.dead_ends) page_.add(finding_of(Kind::DeadEnd, node));
    const auto unset = use.unset();
    return unset.empty() ? Result<void, Problem>() : find_reads(unset);
  }

  std::string answer(const app::ListName& list) const {
    std::string body;
    JsonWriter json(body);
    json.begin_object().key("sound").boolean(report_.sound()).key("missingStart").boolean(report_.missing_start);
    page_.append(json, places_.size());
    if (const auto* last = page_.last()) json.key("nextToken").string(list.token(to_page_end(*last)));
    json.end_object();
    return body;
  }

 private:
  Finding finding_of(Kind kind, const std::string& node, std::size_t response = 0) const {
    const auto found = places_.find(node);
    const auto place = found != places_.end() ? found->second : Place();
    return {.kind = kind,
            .position = place.position,
            .node = node,
            .response = response,
            .where = {},
            .variable = {},
            .label = place.label};
  }

  Result<void, Problem> find_reads(const std::set<std::string>& unset) {
    return stories_.visit_nodes(story_.text("id"), caller_, [&](Object& node) -> Result<void, Problem> {
      for (auto& read : reads_of(responses_of(node.attributes))) {
        if (!unset.contains(read.variable)) continue;
        auto finding = finding_of(Kind::UnsetVariable, node.attributes.text("id"), read.response);
        finding.where = std::move(read.where);
        finding.variable = std::move(read.variable);
        page_.add(std::move(finding));
      }
      return {};
    });
  }

  const StoryAccess& stories_;
  const Item& story_;
  const runtime::Caller& caller_;
  Page& page_;
  std::unordered_map<std::string, Place> places_;
  GraphReport report_;
};

}  // namespace

Result<http::Response, Problem> check_story(const StoryAccess& stories, const app::ExtensionParts& parts,
                                            const app::NativeCall& call) {
  const app::ListName list{.parts = parts,
                           .action = "check",
                           .parameters = {{"id", *call.within->attributes.find("id")}},
                           .caller = call.caller()};
  Page page(static_cast<std::size_t>(call.inputs.integer("limit")), to_finding(TRY(list.start(call.inputs))));
  Check check(stories, call, page);
  TRY(check.run());
  return app::json_answer(200, check.answer(list));
}

}  // namespace stator::systems::stories
