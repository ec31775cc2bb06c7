#include <fmt/format.h>

#include <map>
#include <span>
#include <tuple>

#include "stator/runtime/problems.h"
#include "stator/systems/stories/arrangement.h"
#include "stator/systems/stories/node_actions.h"
#include "stator/value/json.h"

namespace stator::systems::stories {
namespace {

using runtime::Done;
using runtime::Draft;
using runtime::Object;
using runtime::Outcome;
using runtime::Source;
using runtime::Transaction;
using value::AttributeValue;

constexpr std::string_view kRearranged = "Rearranged";
constexpr unsigned kAttempts = 5;
constexpr std::size_t kMostDetails = 100;

struct Move {
  std::string node;
  std::int64_t position = 0;
};

// What a story's nodes are, and which reorder they were read after.
struct Standing {
  std::int64_t arrangement = 0;
  std::map<std::string, std::int64_t> positions;  // by node
};

Outcome<std::vector<std::string>> asked_order(const value::Item& inputs) {
  std::vector<std::string> ids;
  std::map<std::string, std::size_t> places;
  std::vector<model::Problem> problems;
  for (const auto& entry : *inputs.find("nodeIds")->as_list()) {
    const auto& id = *entry.as_string();
    if (!places.emplace(id, ids.size()).second && problems.size() < kMostDetails) {
      problems.push_back({fmt::format("nodeIds[{}]", ids.size()), "is given twice"});
    }
    ids.push_back(id);
  }
  if (!problems.empty()) return runtime::invalid(std::move(problems));
  return ids;
}

// That the list names every node of the story.
Outcome<Done> check_order(const std::vector<std::string>& ids, const Standing& standing) {
  std::vector<model::Problem> problems;
  for (std::size_t i = 0; i < ids.size() && problems.size() < kMostDetails; ++i) {
    if (!standing.positions.contains(ids[i])) {
      problems.push_back({fmt::format("nodeIds[{}]", i), "is no node of this story"});
    }
  }
  if (problems.empty() && ids.size() < standing.positions.size()) {
    problems.push_back({"nodeIds", fmt::format("must name all {} nodes of the story", standing.positions.size())});
  }
  if (!problems.empty()) return runtime::invalid(std::move(problems));
  return Done{};
}

std::vector<Move> moves_to(const std::vector<std::string>& ids, const Standing& standing) {
  std::vector<std::int64_t> current;
  for (const auto& id : ids) current.push_back(standing.positions.at(id));
  const auto wanted = arrange(current);
  std::vector<Move> moves;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (wanted[i] != current[i]) moves.push_back({.node = ids[i], .position = wanted[i]});
  }
  return moves;
}

class Reorder {
 public:
  Reorder(const StoryAccess& stories, const app::NativeCall& call)
      : stories_(stories), caller_(call.caller()), story_id_(text_at(call.within->attributes, "id")) {}

  Outcome<Standing> read() {
    Standing standing;
    const auto story =
        ATTEMPT(stories_.repository().get(stories_.story(), {{"id", AttributeValue(story_id_)}}, caller_));
    standing.arrangement = number_at(story.attributes, "arrangement");
    ATTEMPT(stories_.visit_nodes(story_id_, caller_, [&](Object& node) {
      standing.positions[text_at(node.attributes, "id")] = number_at(node.attributes, "nodeOrder");
    }));
    return standing;
  }

  Outcome<Done> carry_out(const std::vector<Move>& moves, const Standing& standing) {
    if (moves.size() <= kNodesPerTransaction) return write(moves, standing.arrangement, true);
    ATTEMPT(write({}, standing.arrangement, true));
    for (std::size_t begin = 0; begin < moves.size(); begin += kNodesPerTransaction) {
      const auto count = std::min(kNodesPerTransaction, moves.size() - begin);
      ATTEMPT(write(std::span(moves).subspan(begin, count), standing.arrangement + 1, false));
    }
    return Done{};
  }

 private:
  Outcome<Done> write(std::span<const Move> moves, std::int64_t arrangement, bool begins) {
    return stories_.repository().transact([&](Transaction& transaction) -> Outcome<Done> {
      auto* story = ATTEMPT(stories_.load_story(transaction, story_id_, caller_));
      if (number_at(*story->after, "arrangement") != arrangement) {
        return runtime::conflict(std::string(kRearranged), "somebody else is reordering this story");
      }
      if (begins) {
        model::PlainObject next;
        next.values.set("arrangement", AttributeValue::number(arrangement + 1));
        ATTEMPT(transaction.change(*story, next, Source::Model));
      } else {
        transaction.depend_on(*story, {"arrangement"});
      }
      for (const auto& move : moves) {
        auto* node = ATTEMPT(stories_.load_node(transaction, story_id_, move.node, caller_));
        if (node == nullptr) continue;  // deleted meanwhile
        model::PlainObject change;
        change.values.set("nodeOrder", AttributeValue::number(move.position));
        ATTEMPT(transaction.change(*node, change, Source::Request));
      }
      return Done{};
    });
  }

  const StoryAccess& stories_;
  const runtime::Caller& caller_;
  const std::string story_id_;
};

}  // namespace

Outcome<http::Response> reorder(const StoryAccess& stories, const app::NativeCall& call) {
  const auto ids = ATTEMPT(asked_order(call.inputs));
  Reorder work(stories, call);
  for (unsigned attempt = 1;; ++attempt) {
    const auto standing = ATTEMPT(work.read());
    ATTEMPT(check_order(ids, standing));
    const auto moves = moves_to(ids, standing);
    const auto done = moves.empty() ? Outcome<Done>(Done{}) : work.carry_out(moves, standing);
    if (done) return json_answer(200, fmt::format(R"({{"nodes":{},"moved":{}}})", ids.size(), moves.size()));
    const bool lost = done.problem().code == kRearranged && moves.size() <= kNodesPerTransaction;
    if (!lost || attempt == kAttempts) return done.problem();
  }
}

}  // namespace stator::systems::stories
