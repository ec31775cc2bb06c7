#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stator/model/model.h"
#include "stator/runtime/consistency/reconciler.h"
#include "stator/runtime/dynamo/dynamo.h"
#include "stator/runtime/problem.h"

namespace stator::runtime {

// The unique rules that both models have and that compare values in different ways: "COLLECTION.Name".
std::vector<std::string> rules_that_compare_otherwise(const model::Model& from, const model::Model& to);

// The rows with unique values that differ by the model `from` and are taken by another row by the model `to`, each with
// the page.
Result<std::vector<RowFinding>, Problem> find_clashes(const model::Model& from, const model::Model& to, Dynamo& dynamo,
                                                      const std::function<void(std::uint64_t)>& looked_at);

}  // namespace stator::runtime
