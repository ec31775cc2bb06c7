#pragma once

#include <string_view>

#include "stator/base/result.h"
#include "stator/expr/condition.h"
#include "stator/expr/key_condition.h"
#include "stator/expr/placeholders.h"
#include "stator/expr/projection.h"
#include "stator/expr/update.h"

// Expressions in DynamoDB's own language, for requests that are made in C++.
//
//   bind_update("ADD Runs :one", {.values = {{":one", AttributeValue::number(1)}}})
//
// An expression has placeholders of its own, and must use all of them.  Errors: Validation, with DynamoDB's texts.
namespace stator::expr {

Result<Condition> bind_condition(std::string_view text, Placeholders placeholders = {});
Result<Condition> bind_filter(std::string_view text, Placeholders placeholders = {});
Result<KeyCondition> bind_key_condition(std::string_view text, Placeholders placeholders = {});
Result<Projection> bind_projection(std::string_view text, Placeholders placeholders = {});
Result<Update> bind_update(std::string_view text, Placeholders placeholders = {});

}  // namespace stator::expr
