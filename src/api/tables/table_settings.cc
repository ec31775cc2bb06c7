#include "stator/api/tables/table_settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "stator/api/invalid.h"

namespace stator::api {
namespace {

constexpr std::int64_t kMaxCapacityUnits = 1'000'000'000'000;
constexpr std::int64_t kNoMaximum = -1;
// The warm throughput that an on-demand table or index has from the start.
constexpr engine::Throughput kOnDemandWarm{.read_units = 12'000, .write_units = 4'000};
// Stands for the key that the service makes for an account.
constexpr std::string_view kManagedKey = "key/00000000-0000-4000-8000-000000000000";

std::string name_of(SettingOwner owner) { return owner.index.empty() ? "table" : fmt::format("index {}", owner.index); }

// OnDemandThroughput with units of `least` or more, but not 0.
Result<std::optional<engine::OnDemandThroughput>> read_maxima(const std::optional<OnDemandThroughput>& asked,
                                                              SettingOwner owner, std::int64_t least) {
  if (!asked) return std::optional<engine::OnDemandThroughput>();
  const auto check = [&](const char* name, const std::optional<std::int64_t>& maximum) -> Result<void> {
    if (!maximum || (*maximum >= least && *maximum != 0)) return {};
    return invalid(fmt::format("Requested {} for OnDemandThroughput for {} is outside of valid range", name,
                               owner.index.empty() ? "table" : fmt::format("index : {}", owner.index)));
  };
  TRY(check("MaxReadRequestUnits", asked->max_read_units));
  TRY(check("MaxWriteRequestUnits", asked->max_write_units));
  if (!asked->max_read_units && !asked->max_write_units) return std::optional<engine::OnDemandThroughput>();
  return std::optional(engine::OnDemandThroughput{asked->max_read_units, asked->max_write_units});
}

}  // namespace

Result<std::optional<engine::Throughput>> read_throughput(const std::optional<Throughput>& asked) {
  if (!asked) return std::optional<engine::Throughput>();
  const engine::Throughput throughput{asked->read_units, asked->write_units};
  if (throughput.read_units > kMaxCapacityUnits) {
    return validation_error(
        fmt::format("Given value {} for ReadCapacityUnits is out of bounds", throughput.read_units));
  }
  if (throughput.write_units > kMaxCapacityUnits) {
    return validation_error(
        fmt::format("Given value {} for WriteCapacityUnits is out of bounds", throughput.write_units));
  }
  return std::optional<engine::Throughput>(throughput);
}

Result<std::optional<engine::OnDemandThroughput>> read_on_demand(const std::optional<OnDemandThroughput>& asked,
                                                                 SettingOwner owner) {
  return read_maxima(asked, owner, 1);
}

Result<std::optional<engine::OnDemandThroughput>> read_on_demand_change(const std::optional<OnDemandThroughput>& asked,
                                                                        SettingOwner owner) {
  return read_maxima(asked, owner, kNoMaximum);
}

std::optional<engine::OnDemandThroughput> change_on_demand(const std::optional<engine::OnDemandThroughput>& current,
                                                           const engine::OnDemandThroughput& change) {
  auto changed = current.value_or(engine::OnDemandThroughput{});
  const auto apply = [](std::optional<std::int64_t>& maximum, const std::optional<std::int64_t>& units) {
    if (units) maximum = *units == kNoMaximum ? std::nullopt : units;
  };
  apply(changed.max_read_units, change.max_read_units);
  apply(changed.max_write_units, change.max_write_units);
  if (!changed.max_read_units && !changed.max_write_units) return std::nullopt;
  return changed;
}

Result<void> check_on_demand(const std::optional<engine::OnDemandThroughput>& on_demand, engine::BillingMode mode) {
  if (!on_demand || mode == engine::BillingMode::PayPerRequest) return {};
  return invalid(fmt::format("{} for OnDemandThroughput cannot be specified when the table BillingMode is PROVISIONED",
                             on_demand->max_read_units ? "MaxReadRequestUnits" : "MaxWriteRequestUnits"));
}

Result<std::optional<engine::Throughput>> read_warm(const std::optional<WarmThroughput>& asked, SettingOwner owner,
                                                    engine::BillingMode mode, const engine::Throughput& provisioned) {
  if (!asked) return std::optional<engine::Throughput>();
  const bool on_demand = mode == engine::BillingMode::PayPerRequest;
  const auto least = on_demand ? kOnDemandWarm : provisioned;
  const engine::Throughput warm{asked->read_units.value_or(least.read_units),
                                asked->write_units.value_or(least.write_units)};
  const auto too_low = [&](const char* member, const char* capacity) {
    const auto than = on_demand ? std::string(
                                      "initial throughput for OnDemand. See: "
                                      "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/"
                                      "on-demand-capacity-mode.html#on-demand-capacity-mode-initial")
                                : fmt::format("{} of ProvisionedThroughput", capacity);
    return invalid(
        fmt::format("Requested {} for WarmThroughput for {} is lower than {}", member, name_of(owner), than));
  };
  if (warm.read_units < least.read_units) return too_low("ReadUnitsPerSecond", "ReadCapacityUnits");
  if (warm.write_units < least.write_units) return too_low("WriteUnitsPerSecond", "WriteCapacityUnits");
  return std::optional(warm);
}

Result<void> check_warm_change(const std::optional<WarmThroughput>& change, SettingOwner owner) {
  if (change && !change->read_units && !change->write_units) {
    return invalid(
        fmt::format("WarmThroughput must have at least one of ReadUnitsPerSecond or WriteUnitsPerSecond specified{}",
                    owner.index.empty() ? "" : fmt::format(" for index: {}", owner.index)));
  }
  return {};
}

Result<engine::Throughput> change_warm(const engine::Throughput& current, const WarmThroughput& change,
                                       SettingOwner owner) {
  const engine::Throughput warm{change.read_units.value_or(current.read_units),
                                change.write_units.value_or(current.write_units)};
  const bool less_reads = warm.read_units < current.read_units;
  if (less_reads || warm.write_units < current.write_units) {
    return invalid(fmt::format(
        "Requested {} for WarmThroughput for {} is lower than current WarmThroughput, decreasing WarmThroughput is not "
        "supported",
        less_reads ? "ReadUnitsPerSecond" : "WriteUnitsPerSecond", name_of(owner)));
  }
  return warm;
}

std::int64_t decreases_today(const engine::Table& table, WallTime now) {
  const auto day = [](WallTime time) { return std::chrono::floor<std::chrono::days>(time); };  // in UTC
  return table.last_decrease && day(*table.last_decrease) == day(now) ? table.decreases_today : 0;
}

engine::Throughput warm_throughput(const std::optional<engine::Throughput>& warm, engine::BillingMode mode,
                                   const engine::Throughput& provisioned) {
  const auto least = mode == engine::BillingMode::PayPerRequest ? kOnDemandWarm : provisioned;
  if (!warm) return least;
  return {std::max(warm->read_units, least.read_units), std::max(warm->write_units, least.write_units)};
}

Result<std::optional<engine::Encryption>> read_encryption(const EncryptionSpecification& asked,
                                                          const Environment& environment) {
  const auto& type = asked.type;
  const auto& key = asked.key;
  // SSEType without Enabled means that encryption is wanted.
  if (!asked.enabled.value_or(type.has_value())) {
    if (type) return invalid("SSEType can not be specified if Enabled is false");
    if (key) return invalid("KMSMasterKeyId can not be specified if Enabled is false");
    return std::optional<engine::Encryption>();
  }
  if (type == "AES256") return invalid("SSEType AES256 is not supported");
  if (key && !type) return invalid("SSEType KMS is required if KMSMasterKeyId is specified");
  if (key && key->starts_with("arn:")) return std::optional(engine::Encryption{*key});
  const auto resource = !key                         ? std::string(kManagedKey)
                        : key->starts_with("alias/") ? *key
                                                     : fmt::format("key/{}", *key);
  return std::optional(
      engine::Encryption{fmt::format("arn:aws:kms:{}:{}:{}", environment.region, environment.account_id, resource)});
}

Result<void> apply_stream(const std::optional<StreamSpecification>& asked, engine::Stream& stream) {
  if (!asked) return {};
  const auto& [enable, view] = *asked;
  if (enable && !view) {
    return validation_error(
        "One or more parameter values were invalid: StreamViewType is required when StreamEnabled is true");
  }
  if (!enable && view) {
    return validation_error(
        "One or more parameter values were invalid: StreamViewType cannot be specified when StreamEnabled is false");
  }
  if (enable && stream.enabled) return validation_error("Table already has an enabled stream");
  if (!enable) {
    stream.enabled = false;
    return {};
  }
  stream = {.enabled = true, .view = static_cast<engine::StreamView>(*view), .label = {}, .since = {}};
  return {};
}

Result<void> refuse_unsupported(const JsonMembers& request, std::initializer_list<std::string_view> names) {
  for (const auto name : names) {
    if (request.has(name)) {
      return Error{ErrorCode::Unsupported, fmt::format("{} is not supported", name)};
    }
  }
  return {};
}

}  // namespace stator::api
