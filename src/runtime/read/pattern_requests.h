#pragma once

#include <vector>

#include "stator/model/model.h"
#include "stator/runtime/dynamo/dynamo.h"
#include "stator/runtime/problem.h"
#include "stator/value/attribute_value.h"

namespace stator::runtime {

// The queries of a pattern, one per shard: key conditions from its templates, its direction, and its filter as far as
// DynamoDB can say it.  `values` fills the templates: parameters, `me`, and the attributes of the entity that the
// pattern is within.
//
// A bound without a value is left out, and a prefix ends before the first hole without a value.
struct PatternRequests {
  std::vector<QueryRequest> requests;
  // With a half-open range: rows with this sort key are left out.
  std::optional<value::AttributeValue> excluded;
  bool filtered = false;  // the requests hold the pattern's filter
};
Result<PatternRequests, Problem> query_of(const model::Model& model, const model::Pattern& pattern,
                                          const value::Item& values, bool ascending);

}  // namespace stator::runtime
