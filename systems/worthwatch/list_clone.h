#pragma once

#include <cstddef>
#include <string>

#include "stator/base/clock.h"
#include "stator/runtime/repository.h"

namespace stator::systems::worthwatch {

inline constexpr std::size_t kMostClonedItems = 1000;

struct CloneRequest {
  std::string title;  // of the copy
  bool is_public = false;
};

// A copy of `list` and its items that belongs to the caller. The caller can see the list.
//
// Up to 45 items are copied in one transaction.  The copy of a longer list takes several and is in no list until the
// last one.  It is removed when one of them fails, and expires within the hour when the process dies in between.
// Problems: TooLarge (more than kMostClonedItems), NoSuchParent (the caller is not registered).
Result<runtime::Object, runtime::Problem> clone_list(runtime::Repository& repository, const runtime::Object& list,
                                                     const CloneRequest& request, const runtime::Caller& caller,
                                                     const Clock& clock);

}  // namespace stator::systems::worthwatch
