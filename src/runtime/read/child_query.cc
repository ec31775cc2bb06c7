#include "stator/runtime/read/child_query.h"

#include "stator/expr/build.h"

namespace stator::runtime {
namespace {

using value::AttributeValue;
using value::Item;

// Whole rows, also others than children.
Result<ItemPage, Problem> query(Dynamo& dynamo, const model::TableDesign& table, const model::ChildPlan& plan,
                                unsigned limit, const std::optional<Item>& start) {
  auto request = partition_query(table, plan.index, plan.partition, limit);
  request.page.start = start;
  if (!plan.sort_prefix.empty()) {
    const auto& sort = plan.index != nullptr ? plan.index->sort.front().name : table.sort->name;
    request.condition.terms.push_back(expr::key_begins_with(sort, AttributeValue::string(plan.sort_prefix)));
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

}  // namespace

Result<ChildRows, Problem> read_children(Dynamo& dynamo, const model::Model& model, const model::ChildPlan& plan,
                                         const Item& parent, unsigned limit, const std::optional<Item>& start,
                                         const std::function<bool(const Item& row)>& is_child) {
  auto found = TRY(query(dynamo, model.table, plan, limit, start));
  ChildRows page{.rows = {}, .next = std::move(found.last_key)};
  for (auto& row : found.items) {
    if (!is_child(row)) continue;
    auto attributes = model::attributes_of(model, *plan.child, plan.child->main(), row);
    const auto of = model::parent_key(model, *plan.child, *plan.relation, attributes);
    if (of && *of == parent) page.rows.push_back({.row = std::move(row), .attributes = std::move(attributes)});
  }
  return page;
}

}  // namespace stator::runtime
