#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stator/api/tables/table_operations.h"
#include "stator/base/result.h"

namespace stator::api {

using Tags = std::vector<std::pair<std::string, std::string>>;

// Tags held to the rules for them.  Errors: Validation, with DynamoDB's texts.
Result<Tags> read_tags(const std::vector<Tag>& asked);

}  // namespace stator::api
