#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/result.h"
#include "stator/model/model.h"

namespace stator::model {

// Where an attribute of an order is counted: Next::place.
// Errors: Validation: the key of the entity in the pattern's order does not have the number first of all that varies,
// or is spread over shards.  The pattern is there.
Result<NextPlace> next_place(const Model& model, const Entity& entity, const Attribute& attribute);

// One range of such a place.
struct NextRange {
  value::Item partition;  // the values of the partition key attributes
  std::string front;      // of the sort key, up to the number

  // The number in a row of the table or index; nullopt when the row is not in this range, or has none there.
  std::optional<value::Number> number_in(const NextPlace& place, const value::Item& row) const;
};
// nullopt: an attribute of the scope is absent.  Errors: Validation, when one does not fit into its key.
Result<std::optional<NextRange>> next_range(const NextPlace& place, const Attribute& attribute,
                                            const value::Item& attributes);

}  // namespace stator::model
