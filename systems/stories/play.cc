#include "stator/systems/stories/play.h"

#include <fmt/format.h>

#include <set>

#include "stator/app/rest/answer.h"
#include "stator/runtime/object.h"
#include "stator/runtime/problem.h"
#include "stator/systems/stories/response_rules.h"
#include "stator/value/json.h"

namespace stator::systems::stories {
namespace {

using runtime::conflict;
using runtime::Draft;
using runtime::Object;
using runtime::Problem;
using runtime::Transaction;
using runtime::ValueSource;
using value::AttributeValue;
using value::Item;

// The nodes that the responses of a node lead to and that are there.
Result<std::set<std::string>, Problem> targets_of(const StoryAccess& stories, const Item& node) {
  std::set<std::string> targets;
  for (const auto& response : responses_of(node)) {
    const auto* map = response.as_map();
    if (map != nullptr && !map->text("targetNodeId").empty()) targets.insert(map->text("targetNodeId"));
  }
  return stories.existing_nodes(node.text("userId"), node.text("storyId"), targets);
}

// [{"response": 0, "label": "Climb", "open": true}]: what can be chosen, and what cannot yet.
void append_choices(std::string& out, const Item& node, const Item& variables, const std::set<std::string>& targets) {
  value::JsonWriter json(out);
  json.begin_array();
  const auto& responses = responses_of(node);
  for (std::size_t i = 0; i < responses.size(); ++i) {
    const auto* response = responses[i].as_map();
    if (response == nullptr) continue;
    const auto open = is_open(*response, variables);
    json.begin_object().key("response").integer(static_cast<std::int64_t>(i));
    json.key("label").string(response->text("label"));
    json.key("open").boolean(open && *open && targets.contains(response->text("targetNodeId"))).end_object();
  }
  json.end_array();
}

// `node` is absent when somebody has deleted it under the reader.
Result<http::Response, Problem> session_answer(int status, const StoryAccess& stories, Object session,
                                               std::optional<Object> node) {
  std::string choices = "[]";
  if (node) {
    choices.clear();
    const auto targets = TRY(targets_of(stories, node->attributes));
    append_choices(choices, node->attributes, map_of(session.attributes, "variables"), targets);
    session.joined.emplace_back("node", std::move(*node));
  }
  std::string body;
  app::append_object(body, stories.model().table, session);
  body.pop_back();
  body += fmt::format(",\"choices\":{}}}", choices);
  auto answer = app::json_answer(status, std::move(body));
  answer.headers += fmt::format("ETag: {}\r\n", app::etag_of(session));
  if (status == 201) {
    answer.headers += fmt::format("Location: /systems/{}/v1{}\r\n", stories.model().name, app::path_of(session));
  }
  return answer;
}

// One move, put together inside a transaction.
class Choice {
 public:
  Choice(const StoryAccess& stories, const app::NativeCall& call)
      : stories_(stories), caller_(call.caller()), inputs_(call.inputs), session_key_(call.within->attributes) {}

  Result<void, Problem> build(Transaction& transaction) {
    const auto story_id = session_key_.text("storyId");
    TRY(stories_.load_story(transaction, story_id, caller_));
    session_ = TRY(transaction.load(stories_.session(), session_key_));
    if (session_ == nullptr) return runtime::not_found(stories_.session().name);
    const auto here = session_->after->text("currentNodeId");
    if (const auto expected = inputs_.text("nodeId"); !expected.empty() && expected != here) {
      return conflict("MovedOn", "the session stands at another node by now");
    }
    const auto* node = TRY(stories_.load_node(transaction, story_id, here, caller_));
    if (node == nullptr) return conflict("NodeGone", "the node where the session stands has been deleted");
    transaction.depend_on(*node, {"responses"});
    const auto& response = *TRY(chosen(*node->after));
    target_ = TRY(target_of(transaction, story_id, response));
    model::PlainObject change;
    change.values.set("currentNodeId", AttributeValue(response.text("targetNodeId")));
    change.values.set("variables", AttributeValue(TRY(new_variables(response))));
    change.values.set("moves", AttributeValue::number(session_->after->integer("moves") + 1));
    return transaction.change(*session_, change, ValueSource::Model);
  }

  Result<http::Response, Problem> answer() const {
    const auto& model = stories_.model();
    return session_answer(200, stories_, runtime::to_object(model, stories_.session(), session_after_),
                          runtime::to_object(model, stories_.node(), target_after_));
  }

  // Drafts live as long as the transaction.
  void keep() {
    session_after_ = *session_->after;
    target_after_ = *target_->after;
  }

 private:
  Result<const Item*, Problem> chosen(const Item& node) const {
    const auto& responses = responses_of(node);
    const auto index = static_cast<std::size_t>(inputs_.integer("response"));
    const auto* response = index < responses.size() ? responses[index].as_map() : nullptr;
    if (response == nullptr) {
      return runtime::invalid({{"response", fmt::format("this node has {} responses", responses.size())}});
    }
    const auto open = is_open(*response, map_of(*session_->after, "variables"));
    if (!open) return conflict("BrokenRule", "its condition cannot be computed: " + open.error().message);
    if (!*open) return conflict("ConditionNotMet", "the condition of this response does not hold");
    return response;
  }

  Result<Draft*, Problem> target_of(Transaction& transaction, const std::string& story_id, const Item& response) const {
    const auto id = response.text("targetNodeId");
    if (id.empty()) return conflict("LeadsNowhere", "this response leads nowhere yet");
    auto* target = TRY(stories_.load_node(transaction, story_id, id, caller_));
    if (target == nullptr) return conflict("BrokenLink", "this response leads to a node that is not there");
    transaction.depend_on(*target, {});
    return target;
  }

  Result<Item, Problem> new_variables(const Item& response) const {
    auto after = variables_after(response, map_of(*session_->after, "variables"));
    if (!after) return conflict("BrokenRule", "a variable cannot be computed: " + after.error().message);
    if (!check_variables(*after, "variables").empty()) {
      return conflict("TooManyVariables", "the session's variables have become too many or too large");
    }
    return std::move(*after);
  }

  const StoryAccess& stories_;
  const runtime::Caller& caller_;
  const Item& inputs_;
  const Item& session_key_;
  Draft* session_ = nullptr;
  Draft* target_ = nullptr;
  Item session_after_;
  Item target_after_;
};

}  // namespace

Result<http::Response, Problem> start_session(const StoryAccess& stories, const app::NativeCall& call) {
  auto variables = map_of(call.within->attributes, "variables");
  for (const auto& [name, content] : map_of(call.inputs, "variables")) variables.set(name, content);
  if (auto problems = check_variables(variables, "variables"); !problems.empty()) {
    return runtime::invalid(std::move(problems));
  }
  const auto story_id = call.within->attributes.text("id");
  Item session;
  Item node;
  TRY(stories.repository().transact([&](Transaction& transaction) -> Result<void, Problem> {
    const auto* story = TRY(stories.load_story(transaction, story_id, call.caller()));
    const auto start = story->after->text("startNodeId");
    const auto* first = start.empty() ? nullptr : TRY(stories.load_node(transaction, story_id, start, call.caller()));
    if (first == nullptr) return conflict("NoStart", "the story has no start node");
    transaction.depend_on(*first, {});
    const auto* draft = TRY(transaction.create(stories.session(),
                                               {{"userId", AttributeValue::string(*call.caller().subject)},
                                                {"storyId", AttributeValue(story_id)},
                                                {"currentNodeId", AttributeValue(start)},
                                                {"variables", AttributeValue(variables)}},
                                               ValueSource::Model));
    session = *draft->after;
    node = *first->after;
    return {};
  }));
  return session_answer(201, stories, runtime::to_object(stories.model(), stories.session(), std::move(session)),
                        runtime::to_object(stories.model(), stories.node(), std::move(node)));
}

Result<http::Response, Problem> show_session(const StoryAccess& stories, const app::NativeCall& call) {
  const auto& session = *call.within;
  const auto node = stories.repository().get(stories.node(),
                                             {{"storyId", AttributeValue(session.attributes.text("storyId"))},
                                              {"id", AttributeValue(session.attributes.text("currentNodeId"))}},
                                             call.caller(), {.include_deleted = true});  // as the session was asked for
  if (!node && node.error().kind != runtime::ProblemKind::NotFound) return node.error();
  return session_answer(200, stories, session, node ? std::optional(*node) : std::nullopt);
}

Result<http::Response, Problem> choose(const StoryAccess& stories, const app::NativeCall& call) {
  Choice choice(stories, call);
  TRY(stories.repository().transact([&](Transaction& transaction) -> Result<void, Problem> {
    TRY(choice.build(transaction));
    choice.keep();
    return {};
  }));
  return choice.answer();
}

}  // namespace stator::systems::stories
