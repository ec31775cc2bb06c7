#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "stator/base/clock.h"
#include "stator/runtime/repository.h"

namespace stator::systems::worthwatch {

// The items of a list in their order: all of them, or those up to the page on which there are more than `most`.
Result<std::vector<runtime::Object>, runtime::Problem> items_of(
    runtime::Repository& repository, const value::AttributeValue& watchlist_id, const runtime::Caller& caller,
    std::size_t most = std::numeric_limits<std::size_t>::max());

// Sets `updatedAt` of the list to the time of the clock, in the transaction that changes an item of it.  The version of
// the list stays.
Result<void, runtime::Problem> touch_list(const model::Model& model, runtime::Transaction& transaction,
                                          const value::AttributeValue& watchlist_id, const Clock& clock);

}  // namespace stator::systems::worthwatch
