#pragma once

#include <optional>
#include <string_view>

#include "stator/api/json/json_members.h"
#include "stator/expr/condition.h"
#include "stator/expr/key_condition.h"
#include "stator/expr/projection.h"
#include "stator/expr/update.h"

// The parameters that are older than expressions, converted to the same types as expressions: the engine sees no
// difference. Errors: Validation, with DynamoDB's texts.
namespace stator::api {

// Expected of PutItem, UpdateItem and DeleteItem, with ConditionalOperator; nullopt when there is none.
Result<std::optional<expr::Condition>> legacy_expected(const JsonMembers& request);
// QueryFilter or ScanFilter, with ConditionalOperator.
Result<std::optional<expr::Condition>> legacy_filter(const JsonMembers& request, std::string_view parameter);
// KeyConditions.
Result<std::optional<expr::KeyCondition>> legacy_key_conditions(const JsonMembers& request);
// AttributeUpdates.
Result<std::optional<expr::Update>> legacy_updates(const JsonMembers& request);
// AttributesToGet.
Result<std::optional<expr::Projection>> legacy_projection(const JsonMembers& request);

}  // namespace stator::api
