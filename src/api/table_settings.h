#pragma once

#include <optional>
#include <string>

#include "stator/api/request.h"
#include "stator/base/clock.h"
#include "stator/engine/schema.h"

// The settings that CreateTable and UpdateTable share.
namespace stator::api {

// ProvisionedThroughput; nullopt when absent.  Errors: Validation.
Result<std::optional<engine::Throughput>> read_throughput(const Request& request);
std::optional<engine::OnDemandThroughput> read_on_demand(const Request& request);
std::optional<engine::Throughput> read_warm(const Request& request);

// StreamSpecification applied to `stream`.  Errors: Validation, with DynamoDB's texts.
Result<void> apply_stream(const Request& request, engine::Stream& stream);

// Refuses what a table could be asked for and Stator does not have.  Errors: Unsupported.
Result<void> refuse_unsupported(const Request& request, std::initializer_list<std::string_view> names);

}  // namespace stator::api
