#include "stator/systems/worthwatch/list_items.h"

#include <iterator>

namespace stator::systems::worthwatch {

using runtime::Object;
using runtime::Problem;

Result<std::vector<Object>, Problem> items_of(runtime::Repository& repository,
                                              const value::AttributeValue& watchlist_id, const runtime::Caller& caller,
                                              std::size_t most) {
  const auto& pattern = *repository.model().find_pattern("items");
  const value::Item parameters{{"watchlistId", watchlist_id}};
  std::vector<Object> items;
  runtime::PageRequest request{.limit = pattern.max_limit, .start = std::nullopt};
  do {
    auto page = TRY(repository.run(pattern, parameters, caller, request));
    std::move(page.objects.begin(), page.objects.end(), std::back_inserter(items));
    request.start = std::move(page.next);
  } while (request.start && items.size() <= most);
  return items;
}

}  // namespace stator::systems::worthwatch
