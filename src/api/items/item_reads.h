#pragma once

#include <optional>

#include "stator/api/answer_item.h"
#include "stator/api/json/json_members.h"
#include "stator/engine/write/item_write.h"
#include "stator/expr/cache.h"
#include "stator/expr/projection.h"

// Functions shared by the operations that read single items.
namespace stator::api {

// ProjectionExpression, or AttributesToGet in its place.  Errors: Validation.
Result<std::optional<expr::Projection>> decode_projection(const JsonMembers& json, expr::Cache& cache);

// An item that exists, or its projection, as bytes: attributes take many times as much memory, and an answer may hold a
// hundred items.  Errors: Corruption.
Result<value::StoredItem> projected(engine::ItemImage image, const std::optional<expr::Projection>& projection);

}  // namespace stator::api
