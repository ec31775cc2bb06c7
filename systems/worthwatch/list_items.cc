#include "stator/systems/worthwatch/list_items.h"

#include <chrono>
#include <iterator>

#include "stator/model/types/calendar.h"
#include "stator/runtime/write/transaction.h"

namespace stator::systems::worthwatch {

using runtime::Object;
using runtime::Problem;

Result<std::vector<Object>, Problem> items_of(runtime::Repository& repository,
                                              const value::AttributeValue& watchlist_id, const runtime::Caller& caller,
                                              std::size_t most) {
  const auto& pattern = *repository.model().find_pattern("items");
  const value::Item parameters{{"watchlistId", watchlist_id}};
  std::vector<Object> items;
  runtime::PageOptions request{.limit = pattern.max_limit, .start = std::nullopt};
  do {
    auto page = TRY(repository.run(pattern, parameters, caller, request));
    std::move(page.objects.begin(), page.objects.end(), std::back_inserter(items));
    request.start = std::move(page.next);
  } while (request.start && items.size() <= most);
  return items;
}

Result<void, Problem> touch_list(const model::Model& model, runtime::Transaction& transaction,
                                 const value::AttributeValue& watchlist_id, const Clock& clock) {
  auto* list = TRY(transaction.load(*model.find_entity("WATCHLIST"), {{"watchlistId", watchlist_id}}));
  if (list == nullptr) return {};  // the item goes with it
  const auto now = std::chrono::floor<std::chrono::milliseconds>(clock.now());
  model::PlainObject changes;
  changes.values.set("updatedAt", value::AttributeValue(model::format_timestamp(now)));
  return transaction.change(*list, changes, runtime::ValueSource::Model);
}

}  // namespace stator::systems::worthwatch
