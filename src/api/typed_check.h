#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "stator/api/items/item_operations.h"
#include "stator/base/result.h"

// Checks typed requests against the limits of the API's shapes, with the same texts as check_request(), which does this
// for JSON.  All errors are Validation.
namespace stator::api {

// The member Limit of an operation.
Result<void> check_limit(std::string_view operation, const std::optional<std::int64_t>& limit);
// The member ClientRequestToken of an operation.
Result<void> check_token(std::string_view operation, const std::optional<ClientRequestToken>& token);

}  // namespace stator::api
