#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "stator/base/result.h"
#include "stator/expr/cache.h"
#include "stator/expr/condition.h"
#include "stator/expr/key_condition.h"
#include "stator/expr/kind.h"
#include "stator/expr/placeholders.h"
#include "stator/expr/projection.h"
#include "stator/expr/update.h"

namespace stator::expr {

// A request's ExpressionAttributeNames and ExpressionAttributeValues, and the expressions that use them.
//
// Make one per request, call check_placeholders(), then bind each expression in the order DynamoDB looks at them
// (Update or KeyCondition, Condition, Filter, Projection), then check_all_used().  Every error is Validation with
// DynamoDB's text.  Confined to one request; its results are not.
class Binder {
 public:
  Binder(std::optional<Names> names, std::optional<Values> values, Cache& cache);  // the cache outlives the binder
  Binder(std::optional<Names> names, std::optional<Values> values);                // parses every text

  // Whether the maps themselves are well formed: not empty, keys like "#a" and ":a", no empty names.
  Result<void> check_placeholders() const;

  // kind is Condition, Filter or KeyCondition.
  Result<Condition> condition(Kind kind, std::string_view text);
  Result<Projection> projection(std::string_view text);
  Result<Update> update(std::string_view text);
  // condition() and to_key_condition() in one.  DynamoDB does the second only after check_all_used(), so a caller that
  // wants its order of errors takes the two steps itself.
  Result<KeyCondition> key_condition(std::string_view text);

  // Whether every name and value has been used by some expression bound so far.
  Result<void> check_all_used() const;

 private:
  Result<std::shared_ptr<const Bindings>> bind(Kind kind, std::string_view text);

  std::shared_ptr<const Placeholders> placeholders_;
  bool has_names_;
  bool has_values_;
  // The names and values that expressions use: of placeholders_, and names written out among them.
  std::vector<const std::string*> used_names_;
  std::vector<const value::AttributeValue*> used_values_;
  Cache* cache_ = nullptr;
};

}  // namespace stator::expr
