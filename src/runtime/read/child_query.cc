#include "stator/runtime/read/child_query.h"

#include <vector>

#include "stator/expr/build.h"

namespace stator::runtime {

using value::AttributeValue;
using value::Item;

Result<ItemPage, Problem> query_children(Dynamo& dynamo, const model::TableDesign& table, const model::ChildPlan& plan,
                                         unsigned limit, const std::optional<Item>& start) {
  QueryRequest request;
  request.page.table = table.name;
  if (plan.index != nullptr) request.page.index = plan.index->name;
  request.page.consistent = plan.index == nullptr || plan.index->local;
  request.page.limit = limit;
  request.page.start = start;
  auto& terms = request.condition.terms;
  for (const auto& [name, content] : plan.partition) terms.push_back(expr::key_equals(name, content));
  if (!plan.sort_prefix.empty()) {
    const auto& sort = plan.index != nullptr ? plan.index->sort.front().name : table.sort->name;
    terms.push_back(expr::key_begins_with(sort, AttributeValue::string(plan.sort_prefix)));
  }
  auto found = TRY(dynamo.query(std::move(request)));
  if (plan.index != nullptr) {
    // An index may lack attributes, and on other databases lags behind.
    std::vector<Item> keys;
    for (const auto& row : found.items) keys.push_back(model::primary_key_of(table, row));
    found.items = TRY(dynamo.batch_get(table.name, keys));
  }
  return found;
}

}  // namespace stator::runtime
