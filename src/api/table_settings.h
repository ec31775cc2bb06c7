#pragma once

#include <optional>
#include <string>

#include "stator/api/operation.h"
#include "stator/api/request.h"
#include "stator/base/clock.h"
#include "stator/engine/schema.h"

// The settings that CreateTable and UpdateTable share.
namespace stator::api {

// ProvisionedThroughput; nullopt when absent.  Errors: Validation.
Result<std::optional<engine::Throughput>> read_throughput(const Request& request);

// What a setting is for, as error texts name it.
struct SettingOwner {
  std::string_view index;  // empty for the table itself
};

// OnDemandThroughput of a new table or index, or as a change, where -1 takes a maximum away; nullopt when it says
// nothing. Errors: Validation.
Result<std::optional<engine::OnDemandThroughput>> read_on_demand(const Request& request, SettingOwner owner);
Result<std::optional<engine::OnDemandThroughput>> read_on_demand_change(const Request& request, SettingOwner owner);
std::optional<engine::OnDemandThroughput> change_on_demand(const std::optional<engine::OnDemandThroughput>& current,
                                                           const engine::OnDemandThroughput& change);
// Only a table that is paid per request has maxima.  Errors: Validation.
Result<void> check_on_demand(const std::optional<engine::OnDemandThroughput>& on_demand, engine::BillingMode mode);

// WarmThroughput of a new table or index, whose throughput is `provisioned`.  Errors: Validation.
Result<std::optional<engine::Throughput>> read_warm(const Request& request, SettingOwner owner,
                                                    engine::BillingMode mode, const engine::Throughput& provisioned);
struct WarmChange {
  std::optional<std::int64_t> read_units;
  std::optional<std::int64_t> write_units;
};
Result<std::optional<WarmChange>> read_warm_change(const Request& request, SettingOwner owner);
// It is raised and never lowered.  Errors: Validation.
Result<engine::Throughput> change_warm(const engine::Throughput& current, const WarmChange& change, SettingOwner owner);
// What the table or index is warm for: what was asked for, or else what it has anyway.
engine::Throughput warm_throughput(const std::optional<engine::Throughput>& warm, engine::BillingMode mode,
                                   const engine::Throughput& provisioned);

// SSESpecification: the encryption it turns on, or nullopt when it turns it off.  Errors: Validation.
Result<std::optional<engine::Encryption>> read_encryption(const Request& specification, const Environment& environment);

// StreamSpecification applied to `stream`.  Errors: Validation, with DynamoDB's texts.
Result<void> apply_stream(const Request& request, engine::Stream& stream);

// Refuses what a table could be asked for and Stator does not have.  Errors: Unsupported.
Result<void> refuse_unsupported(const Request& request, std::initializer_list<std::string_view> names);

}  // namespace stator::api
