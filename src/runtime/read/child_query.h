#pragma once

#include <optional>

#include "stator/model/rows.h"
#include "stator/runtime/dynamo/dynamo.h"
#include "stator/runtime/problem.h"

namespace stator::runtime {

// A page of the rows among which a parent's children are, whole ones.  Unless the plan is exact, others may be among
// them.
Result<ItemPage, Problem> query_children(Dynamo& dynamo, const model::TableDesign& table, const model::ChildPlan& plan,
                                         unsigned limit, const std::optional<value::Item>& start);

}  // namespace stator::runtime
