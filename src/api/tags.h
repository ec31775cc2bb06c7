#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stator/api/request.h"
#include "stator/base/result.h"

namespace stator::api {

using Tags = std::vector<std::pair<std::string, std::string>>;

// The request's Tags, held to the rules for tags; none when they are absent.  Errors: Validation, with DynamoDB's
// texts.
Result<Tags> read_tags(const Request& request);

}  // namespace stator::api
