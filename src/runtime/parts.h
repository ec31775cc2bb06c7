#pragma once

#include <map>

#include "stator/runtime/access.h"
#include "stator/runtime/repository.h"
#include "stator/runtime/transaction.h"

namespace stator::runtime {

struct Repository::Parts {
  Context context;
  std::map<const model::Entity*, Follow> follows = {};

  const model::Model& model() const { return *context.model; }
  Outcome<Done> follow(Transaction& transaction, Draft& draft) const {
    const auto found = follows.find(draft.entity);
    return found != follows.end() ? found->second(transaction, draft) : Outcome<Done>(Done{});
  }
};

}  // namespace stator::runtime
