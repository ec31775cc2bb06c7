#pragma once

#include <optional>
#include <string_view>

#include "stator/api/json/request.h"
#include "stator/expr/condition.h"
#include "stator/expr/key_condition.h"
#include "stator/expr/projection.h"
#include "stator/expr/update.h"

// The parameters that expressions replaced, turned into what expressions become: the engine knows no difference.
// Errors: Validation, with DynamoDB's texts.
namespace stator::api {

// Expected of PutItem, UpdateItem and DeleteItem, with ConditionalOperator; nullopt when there is none.
Result<std::optional<expr::Condition>> legacy_expected(const Request& request);
// QueryFilter or ScanFilter, with ConditionalOperator.
Result<std::optional<expr::Condition>> legacy_filter(const Request& request, std::string_view parameter);
// KeyConditions.
Result<std::optional<expr::KeyCondition>> legacy_key_conditions(const Request& request);
// AttributeUpdates.
Result<std::optional<expr::Update>> legacy_updates(const Request& request);
// AttributesToGet.
Result<std::optional<expr::Projection>> legacy_projection(const Request& request);

}  // namespace stator::api
