#pragma once

#include "stator/model/model.h"
#include "stator/value/attribute_value.h"
#include "stator/value/json.h"

namespace stator::console {

// Which entity of the model an item is, by its type attribute:
//   {"entity", "record", "path", "parents": [{"entity", "relation", "key"}], "indexRows": [{"index", "partition",
//   "sort"}]}
// entity and path are null when there is none.
void write_identity(value::JsonWriter& json, const model::Model& model, const value::Item& item);

}  // namespace stator::console
