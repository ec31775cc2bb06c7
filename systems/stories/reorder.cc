#include <fmt/format.h>

#include <map>
#include <span>
#include <tuple>

#include "stator/app/rest/answer.h"
#include "stator/runtime/problem.h"
#include "stator/systems/stories/arrangement.h"
#include "stator/systems/stories/node_actions.h"
#include "stator/value/json.h"

namespace stator::systems::stories {
namespace {

using runtime::Draft;
using runtime::Object;
using runtime::Problem;
using runtime::Transaction;
using runtime::ValueSource;
using value::AttributeValue;

constexpr std::string_view kRearranged = "Rearranged";
constexpr unsigned kAttempts = 5;
constexpr std::size_t kMostDetails = 100;

struct Move {
  std::string node;
  std::int64_t position = 0;
};

// The positions of a story's nodes, and the number of its reorders before the nodes were read.  Each reorder counts
// twice; the number is odd while a reorder of several transactions is running.
struct Standing {
  std::int64_t arrangement = 0;
  std::map<std::string, std::int64_t> positions;  // by node
};

Result<std::vector<std::string>, Problem> asked_order(const value::Item& inputs) {
  std::vector<std::string> ids;
  std::map<std::string, std::size_t> places;
  std::vector<model::ValueProblem> problems;
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

// Checks that the list names every node of the story.
Result<void, Problem> check_order(const std::vector<std::string>& ids, const Standing& standing) {
  std::vector<model::ValueProblem> problems;
  for (std::size_t i = 0; i < ids.size() && problems.size() < kMostDetails; ++i) {
    if (!standing.positions.contains(ids[i])) {
      problems.push_back({fmt::format("nodeIds[{}]", i), "is no node of this story"});
    }
  }
  if (problems.empty() && ids.size() < standing.positions.size()) {
    problems.push_back({"nodeIds", fmt::format("must name all {} nodes of the story", standing.positions.size())});
  }
  if (!problems.empty()) return runtime::invalid(std::move(problems));
  return {};
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
      : stories_(stories), caller_(call.caller()), story_id_(call.within->attributes.text("id")) {}

  Result<Standing, Problem> read() {
    Standing standing;
    const auto story = TRY(stories_.repository().get(stories_.story(), {{"id", AttributeValue(story_id_)}}, caller_));
    standing.arrangement = story.attributes.integer("arrangement");
    TRY(stories_.visit_nodes(story_id_, caller_, [&](Object& node) -> Result<void, Problem> {
      standing.positions[node.attributes.text("id")] = node.attributes.integer("nodeOrder");
      return {};
    }));
    return standing;
  }

  // How many nodes moved.
  Result<std::size_t, Problem> put_into(const std::vector<std::string>& ids) {
    auto standing = TRY(read());
    TRY(check_order(ids, standing));
    auto moves = moves_to(ids, standing);
    const auto seen = standing.arrangement;
    if (is_at_rest(seen) && moves.size() <= kNodesPerTransaction) {
      if (!moves.empty()) TRY(write(moves, seen, seen + 2));
      return moves.size();
    }
    const auto ours = is_at_rest(seen) ? seen + 1 : seen + 2;
    TRY(write({}, seen, ours));
    begun_ = true;
    // From here on no other reorder writes.  Positions that an earlier reorder wrote in the meantime must be read
    // again.
    standing = TRY(read());
    TRY(check_order(ids, standing));
    moves = moves_to(ids, standing);
    for (std::span<const Move> rest(moves); !rest.empty();) {
      const auto some = rest.first(std::min(kNodesPerTransaction, rest.size()));
      rest = rest.subspan(some.size());
      TRY(write(some, ours, ours));
    }
    TRY(write({}, ours, ours + 1));
    return moves.size();
  }

  // Whether it has begun to write.  After that, it cannot start again by itself.
  bool begun() const { return begun_; }

 private:
  // An odd number: a reorder of several transactions is under way.
  static bool is_at_rest(std::int64_t arrangement) { return arrangement % 2 == 0; }

  Result<void, Problem> write(std::span<const Move> moves, std::int64_t arrangement, std::int64_t next) {
    return stories_.repository().transact([&](Transaction& transaction) -> Result<void, Problem> {
      auto* story = TRY(stories_.load_story(transaction, story_id_, caller_));
      if (story->after->integer("arrangement") != arrangement) {
        return runtime::conflict(std::string(kRearranged), "somebody else is reordering this story");
      }
      if (next != arrangement) {
        model::PlainObject counted;
        counted.values.set("arrangement", AttributeValue::number(next));
        TRY(transaction.change(*story, counted, ValueSource::Model));
      } else {
        transaction.depend_on(*story, {"arrangement"});
      }
      for (const auto& move : moves) {
        auto* node = TRY(stories_.load_node(transaction, story_id_, move.node, caller_));
        if (node == nullptr) continue;  // deleted meanwhile
        model::PlainObject change;
        change.values.set("nodeOrder", AttributeValue::number(move.position));
        TRY(transaction.change(*node, change, ValueSource::Request));
      }
      return {};
    });
  }

  const StoryAccess& stories_;
  const runtime::Caller& caller_;
  const std::string story_id_;
  bool begun_ = false;
};

}  // namespace

Result<http::Response, Problem> reorder(const StoryAccess& stories, const app::NativeCall& call) {
  const auto ids = TRY(asked_order(call.inputs));
  for (unsigned attempt = 1;; ++attempt) {
    Reorder work(stories, call);
    const auto moved = work.put_into(ids);
    if (moved) return app::json_answer(200, fmt::format(R"({{"nodes":{},"moved":{}}})", ids.size(), *moved));
    const bool again = moved.error().code == kRearranged && !work.begun();
    if (!again || attempt == kAttempts) return moved.error();
  }
}

}  // namespace stator::systems::stories
