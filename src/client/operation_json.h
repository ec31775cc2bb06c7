#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stator/api/any_request.h"
#include "stator/value/json.h"

// The operations as an endpoint at the other end of a wire has them: requests to JSON, answers from JSON.
namespace stator::client {

std::string encode_request(const api::AnyRequest& request);

// The answer to a request.  Faults: kUnexpectedAnswer.
Result<api::AnyAnswer, api::Fault> decode_answer(const api::AnyRequest& request, std::string_view json);

// The request with `"ReturnConsumedCapacity": "INDEXES"`, if the operation has that member and the request does not.
std::string asking_for_capacity(std::string_view operation, std::string_view request);
// The units in the member ConsumedCapacity of an answer, of all tables together; none when it has no such member.
std::optional<double> consumed_units(std::string_view answer);

// The members of a fault that have types: Item and CancellationReasons.
void decode_members(const value::JsonObject& json, api::Fault& fault);

}  // namespace stator::client
