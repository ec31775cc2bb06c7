#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "stator/model/rows.h"
#include "stator/runtime/dynamo/dynamo.h"
#include "stator/runtime/problem.h"

namespace stator::runtime {

// The main row of a child.
struct ChildRow {
  value::Item row;
  value::Item attributes;
};
struct ChildRows {
  std::vector<ChildRow> rows;
  std::optional<value::Item> next;  // where the next page begins; nullopt: this is the last
};

// A page of the children that `plan` leads to from the parent with that key.  `is_child`: whether a row is the main row
// of such an entity.
Result<ChildRows, Problem> read_children(Dynamo& dynamo, const model::Model& model, const model::ChildPlan& plan,
                                         const value::Item& parent, unsigned limit,
                                         const std::optional<value::Item>& start,
                                         const std::function<bool(const value::Item& row)>& is_child);

}  // namespace stator::runtime
