#include "stator/systems/stories/story_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <tuple>

#include "stator/app/rest/answer.h"
#include "stator/app/rest/extension.h"
#include "stator/model/rows.h"
#include "stator/runtime/problem.h"

namespace stator::systems::stories {
namespace {

using runtime::Draft;
using runtime::Object;
using runtime::Problem;
using runtime::Transaction;
using value::AttributeValue;
using value::Item;

constexpr std::size_t kMostTextBytes = std::size_t{64} << 20;
constexpr std::chrono::seconds kPatience{5};  // with others that read a story

runtime::Problem too_large(std::string message) {
  return {runtime::ProblemKind::TooLarge, "TooLarge", std::move(message), {}};
}

runtime::Problem overloaded(std::string message) {
  return {runtime::ProblemKind::Unavailable, std::string(app::kOverloaded), std::move(message), {}};
}

Item naming(const runtime::Caller& caller, std::string_view id_name, const std::string& id) {
  return {{std::string("userId"), AttributeValue::string(caller.subject.value_or(""))},
          {std::string(id_name), AttributeValue(id)}};
}

}  // namespace

StoryAccess::StoryAccess(const app::ExtensionParts& parts)
    : repository_(&parts.repository),
      story_(model().find_entity("STORY")),
      node_(model().find_entity("NODE")),
      session_(model().find_entity("SESSION")),
      nodes_(model().find_pattern("nodes_of_story")),
      dynamo_(std::make_shared<runtime::Dynamo>(parts.client, parts.random, parts.clock)),
      reading_(std::make_shared<Turns>(parts.clock)) {}

Result<void, Problem> StoryAccess::visit_nodes(const std::string& story_id, const runtime::Caller& caller,
                                               const Visit& visit) const {
  const Item parameters = {{"storyId", AttributeValue(story_id)}};
  runtime::PageOptions request;
  request.limit = nodes_->max_limit;
  std::size_t seen = 0;
  do {
    auto page = TRY(repository_->run(*nodes_, parameters, caller, request));
    seen += page.objects.size();
    if (seen > kMostNodes) return too_large(fmt::format("the story has more than {} nodes", kMostNodes));
    for (auto& node : page.objects) TRY(visit(node));
    request.start = std::move(page.next);
  } while (request.start);
  return {};
}

Result<std::vector<Object>, Problem> StoryAccess::nodes_in_order(const std::string& story_id,
                                                                 const runtime::Caller& caller,
                                                                 MemoryClaim& memory) const {
  constexpr std::size_t kBytesPerByte = 4;  // as measured: rows on their way here, values, and the text made of them
  const Turns::Turn turn(*reading_, kPatience);
  if (!turn) return overloaded("other stories are being read: try again in a moment");
  std::vector<Object> nodes;
  std::size_t bytes = 0;
  TRY(visit_nodes(story_id, caller, [&](Object& node) -> Result<void, Problem> {
    std::string json;
    app::append_object(json, model().table, node);
    bytes += json.size();
    if (bytes > kMostTextBytes) return too_large(fmt::format("the story takes more than {} bytes", kMostTextBytes));
    if (!memory.resize(kBytesPerByte * bytes)) {
      return overloaded("there is no memory left for this story: try again in a moment");
    }
    nodes.push_back(std::move(node));
    return {};
  }));
  std::ranges::sort(nodes, {}, [](const Object& node) {
    return std::tuple(node.attributes.integer("nodeOrder"), node.attributes.text("id"));
  });
  return nodes;
}

Result<std::set<std::string>, Problem> StoryAccess::existing_nodes(const std::string& owner,
                                                                   const std::string& story_id,
                                                                   const std::set<std::string>& ids) const {
  const auto& table = model().table;
  std::map<std::string, std::string> names;  // of nodes, by their sort keys
  std::vector<Item> keys;
  for (const auto& id : ids) {
    const auto key = model::key_of(
        model(), *node_,
        {{"userId", AttributeValue(owner)}, {"storyId", AttributeValue(story_id)}, {"id", AttributeValue(id)}});
    if (!key || !*key) continue;  // no node has such a key
    names[(*key)->text(table.sort->name)] = id;
    keys.push_back(**key);
  }
  std::set<std::string> found;
  const std::vector<std::string> key_names = {table.partition.name, table.sort->name};
  for (const auto& row : TRY(dynamo_->batch_get(table.name, keys, true, key_names))) {
    found.insert(names[row.text(table.sort->name)]);
  }
  return found;
}

Result<Draft*, Problem> StoryAccess::load_story(Transaction& transaction, const std::string& story_id,
                                                const runtime::Caller& caller) const {
  auto* draft = TRY(transaction.load(*story_, naming(caller, "id", story_id)));
  if (draft == nullptr || !runtime::is_live(*story_, *draft->after)) return runtime::not_found(story_->name);
  transaction.depend_on(*draft, {"deleted"});
  return draft;
}

Result<Draft*, Problem> StoryAccess::load_node(Transaction& transaction, const std::string& story_id,
                                               const std::string& node_id, const runtime::Caller& caller) const {
  auto names = naming(caller, "id", node_id);
  names.set("storyId", AttributeValue(story_id));
  return transaction.load(*node_, names);
}

const value::List& responses_of(const Item& node) {
  static const value::List kNone;
  const auto* found = node.find("responses");
  const auto* list = found != nullptr ? found->as_list() : nullptr;
  return list != nullptr ? *list : kNone;
}

}  // namespace stator::systems::stories
