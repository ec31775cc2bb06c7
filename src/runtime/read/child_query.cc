#include "stator/runtime/read/child_query.h"

#include <fmt/format.h>

#include <vector>

namespace stator::runtime {

using value::AttributeValue;
using value::Item;

Result<ItemPage, Problem> query_children(Dynamo& dynamo, const model::TableDesign& table, const model::ChildPlan& plan,
                                         unsigned limit, const std::optional<Item>& start) {
  QueryRequest request;
  request.table = table.name;
  if (plan.index != nullptr) request.index = plan.index->name;
  request.consistent = plan.index == nullptr || plan.index->local;
  request.limit = limit;
  request.start = start;
  for (const auto& [name, content] : plan.partition) {
    const auto number = request.condition.names.size();
    if (number > 0) request.condition.text += " AND ";
    request.condition.text += fmt::format("#k{0} = :k{0}", number);
    request.condition.names.set(fmt::format("#k{}", number), AttributeValue::string(name));
    request.condition.values.set(fmt::format(":k{}", number), content);
  }
  if (!plan.sort_prefix.empty()) {
    const auto& sort = plan.index != nullptr ? plan.index->sort.front().name : table.sort->name;
    request.condition.text += " AND begins_with(#s, :s)";
    request.condition.names.set("#s", AttributeValue::string(sort));
    request.condition.values.set(":s", AttributeValue::string(plan.sort_prefix));
  }
  auto found = TRY(dynamo.query(request));
  if (plan.index != nullptr) {
    // An index may lack attributes, and on other databases lags behind.
    std::vector<Item> keys;
    for (const auto& row : found.items) keys.push_back(model::primary_key_of(table, row));
    found.items = TRY(dynamo.batch_get(table.name, keys));
  }
  return found;
}

}  // namespace stator::runtime
