#pragma once

#include "stator/runtime/access.h"
#include "stator/runtime/repository.h"
#include "stator/runtime/transaction.h"

namespace stator::runtime {

struct Repository::Parts {
  Context context;

  const model::Model& model() const { return *context.model; }
};

}  // namespace stator::runtime
