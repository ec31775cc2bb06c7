#pragma once

#include <cstddef>
#include <string>

#include "stator/runtime/repository.h"

namespace stator::systems::worthwatch {

inline constexpr std::size_t kMostClonedItems = 1000;

struct CloneRequest {
  std::string title;  // of the copy
  bool is_public = false;
};

// A copy of `list` and its items that belongs to the caller, who can see it.
//
// Up to 45 items are copied in one transaction.  The copy of a longer list takes several, is private until the last one, and is
// removed when one of them fails; when the process dies in between, its owner finds a private list that is incomplete.
// Problems: TooLarge (more than kMostClonedItems), NoSuchParent (the caller is not registered).
runtime::Outcome<runtime::Object> clone_list(runtime::Repository& repository, const runtime::Object& list,
                                             const CloneRequest& request, const runtime::Caller& caller);

}  // namespace stator::systems::worthwatch
