#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "stator/api/items/item_operations.h"
#include "stator/base/result.h"

// What the shapes of the API demand, of requests that were made in this process: check_request() has seen those that
// came as JSON.  All errors are Validation.
namespace stator::api {

// 1 to `most`, where there is one.
Result<void> check_limit(const std::optional<std::int64_t>& limit, std::int64_t most);
Result<void> check_attribute_name(std::string_view name);
Result<void> check_token(const std::optional<ClientRequestToken>& token);
// A list of 1 to `most`; `member` is the name of the list in the API.
Result<void> check_count(std::string_view member, std::size_t count, std::size_t most);

}  // namespace stator::api
