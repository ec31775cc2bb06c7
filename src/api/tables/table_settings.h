#pragma once

#include <optional>
#include <string>

#include "stator/api/operation.h"
#include "stator/api/tables/table_operations.h"
#include "stator/base/clock.h"
#include "stator/engine/schema.h"

// The settings that CreateTable and UpdateTable share.
namespace stator::api {

// Each kind of setting has the same values in requests and in the engine.
inline engine::BillingMode to_engine(BillingMode mode) { return static_cast<engine::BillingMode>(mode); }
inline BillingMode from_engine(engine::BillingMode mode) { return static_cast<BillingMode>(mode); }
inline StreamView from_engine(engine::StreamView view) { return static_cast<StreamView>(view); }
inline ProjectionKind from_engine(engine::ProjectionKind kind) { return static_cast<ProjectionKind>(kind); }

// ProvisionedThroughput; nullopt when absent.  Errors: Validation.
Result<std::optional<engine::Throughput>> read_throughput(const std::optional<Throughput>& throughput);

// The table or index of a setting, as error texts name it.
struct SettingOwner {
  std::string_view index;  // empty for the table itself
};

// OnDemandThroughput of a new table or index, or as a change, where -1 takes a maximum away; nullopt when it says
// nothing. Errors: Validation.
Result<std::optional<engine::OnDemandThroughput>> read_on_demand(const std::optional<OnDemandThroughput>& asked,
                                                                 SettingOwner owner);
Result<std::optional<engine::OnDemandThroughput>> read_on_demand_change(const std::optional<OnDemandThroughput>& asked,
                                                                        SettingOwner owner);
std::optional<engine::OnDemandThroughput> change_on_demand(const std::optional<engine::OnDemandThroughput>& current,
                                                           const engine::OnDemandThroughput& change);
// Only a table that is paid per request has maxima.  Errors: Validation.
Result<void> check_on_demand(const std::optional<engine::OnDemandThroughput>& on_demand, engine::BillingMode mode);

// WarmThroughput of a new table or index, whose throughput is `provisioned`.  Errors: Validation.
Result<std::optional<engine::Throughput>> read_warm(const std::optional<WarmThroughput>& asked, SettingOwner owner,
                                                    engine::BillingMode mode, const engine::Throughput& provisioned);
// A change says something.  Errors: Validation.
Result<void> check_warm_change(const std::optional<WarmThroughput>& change, SettingOwner owner);
// It is raised and never lowered.  Errors: Validation.
Result<engine::Throughput> change_warm(const engine::Throughput& current, const WarmThroughput& change,
                                       SettingOwner owner);
// How often the table's throughput was decreased on the day of `now`, in UTC.
std::int64_t decreases_today(const engine::Table& table, WallTime now);

// The warm throughput of a table or index: the larger of `warm` and the default of its billing mode.
engine::Throughput warm_throughput(const std::optional<engine::Throughput>& warm, engine::BillingMode mode,
                                   const engine::Throughput& provisioned);

// SSESpecification: the encryption it turns on, or nullopt when it turns it off.  Errors: Validation.
Result<std::optional<engine::Encryption>> read_encryption(const EncryptionSpecification& asked,
                                                          const Environment& environment);

// StreamSpecification applied to `stream`.  Errors: Validation, with DynamoDB's texts.
Result<void> apply_stream(const std::optional<StreamSpecification>& asked, engine::Stream& stream);

// Refuses parameters of a table that Stator does not support.  Errors: Unsupported.
Result<void> refuse_unsupported(const JsonMembers& request, std::initializer_list<std::string_view> names);

}  // namespace stator::api
