#pragma once

#include <string_view>

#include "stator/api/operation.h"

namespace stator::api {

// The table a TableName parameter means: a name, or the ARN of a table in any region and account.
// Errors: Validation for a text that can be neither.
Result<std::string_view> table_name(std::string_view name_or_arn);

// The table of a request. Notes it as the table of this call.  Errors: Validation, ResourceNotFound.
Result<engine::TablePtr> find_table(CallContext& call, std::string_view name_or_arn);

// The table a ResourceArn parameter means, in any region and account.  Errors: Validation.
Result<std::string_view> table_of_resource_arn(std::string_view arn);

// "arn:aws:dynamodb:us-east-1:000000000000:table/Name"
std::string table_arn(const Environment& environment, std::string_view name);

}  // namespace stator::api
