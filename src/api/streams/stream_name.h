#pragma once

#include <string>
#include <string_view>

#include "stator/api/operation.h"
#include "stator/engine/stream/stream.h"

namespace stator::api {

// A stream as its ARN names it.  Borrows from the ARN.
struct StreamName {
  std::string_view table;
  std::string_view label;
};

// "arn:aws:dynamodb:us-east-1:000000000000:table/Name/stream/2026-01-15T10:00:00.000"
std::string stream_arn(const Environment& environment, const engine::Table& table);
// Any region and account.  Errors: Validation.
Result<StreamName> parse_stream_arn(std::string_view arn);

// The stream of an ARN as the snapshot has it. Notes its table as the table of this call.
// Errors: Validation, ResourceNotFound, Storage, Corruption.
Result<engine::StreamState> find_stream(CallContext& call, const storage::Snapshot& snapshot, std::string_view arn);

}  // namespace stator::api
