#pragma once

#include <string>
#include <string_view>

#include "stator/api/any_request.h"
#include "stator/value/json.h"

// The operations as an endpoint at the other end of a wire has them: requests to JSON, answers from JSON.
namespace stator::client {

std::string encode_request(const api::AnyRequest& request);

// The answer to a request.  Faults: kUnexpectedAnswer.
Result<api::AnyAnswer, api::Fault> decode_answer(const api::AnyRequest& request, std::string_view json);

// The members of a fault that have types: Item and CancellationReasons.
void decode_members(const value::JsonObject& json, api::Fault& fault);

}  // namespace stator::client
