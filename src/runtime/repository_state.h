#pragma once

#include <map>

#include "stator/runtime/access.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/repository.h"
#include "stator/runtime/write/transaction.h"

namespace stator::runtime {

struct Repository::State {
  Context context;
  std::map<const model::Entity*, Follow> follows = {};
  std::map<const model::Entity*, MakeRoom> room_makers = {};

  const model::Model& model() const { return *context.model; }
  Result<void, Problem> follow(Transaction& transaction, Draft& draft) const {
    const auto found = follows.find(draft.entity);
    return found != follows.end() ? found->second(transaction, draft) : Result<void, Problem>();
  }
  // The answer of `attempt`.  When it says that there is no room, room is made, and it is tried once more.
  template <typename Attempt>
  auto with_room(const model::Entity& entity, const value::Item& naming, Attempt attempt) -> decltype(attempt()) {
    auto answer = attempt();
    const auto maker = room_makers.find(&entity);
    if (answer.ok() || answer.error().code != kFull || maker == room_makers.end()) return answer;
    TRY(maker->second(naming));
    return attempt();
  }
};

}  // namespace stator::runtime
